#include "ui/charts/axis_ticks.h"

#include <algorithm>
#include <cmath>

#include <QLocale>

namespace cuset {
namespace {

double roundStep(double raw, bool whole) {
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    double step = 10 * power;
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= raw * (1 - 1e-9)) {
            step = factor * power;
            break;
        }
    return whole ? std::max(1.0, std::round(step)) : step;
}

QString withMinusSign(QString text) {
    return text.replace(u'-', QChar(0x2212));
}

} // namespace

QString numberText(double value, int digits) {
    if (!std::isfinite(value))
        return QString(QChar(0x2013));
    return withMinusSign(QString::number(value, 'g', digits));
}

std::vector<AxisTick> linearTicks(double low, double high, int most, bool whole) {
    std::vector<AxisTick> ticks;
    if (!std::isfinite(low) || !std::isfinite(high) || !(low < high) || !std::isfinite(high - low))
        return ticks;
    most = std::clamp(most, 2, 50);
    const double step = roundStep((high - low) / most, whole);
    const int decimals = std::clamp(-static_cast<int>(std::floor(std::log10(step) + 1e-9)), 0, 12);
    const bool scientific = std::max(std::abs(low), std::abs(high)) >= 1e6 || step < 1e-4;
    const double slack = 1e-9 * step;
    const double first = std::ceil((low - slack) / step);
    for (int k = 0; k <= most + 1; ++k) {
        const double value = (first + k) * step;
        if (value > high + slack)
            break;
        const double shown = std::abs(value) < slack ? 0.0 : value;
        const QString text = scientific ? QString::number(shown, 'g', 4)
                                        : QLocale::c().toString(shown, 'f', decimals);
        ticks.push_back({shown, withMinusSign(text)});
    }
    return ticks;
}

std::vector<AxisTick> logTicks(double low, double high, int most) {
    std::vector<AxisTick> ticks;
    if (!std::isfinite(low) || !std::isfinite(high) || !(low < high))
        return ticks;
    most = std::max(most, 2);
    const double decades = high - low;
    const int stride = std::max(1, static_cast<int>(std::ceil(decades / most)));
    const bool between = decades * 3 <= most;
    const double first = std::floor(low / stride) * stride;
    for (double decade = first; decade <= high && ticks.size() < 100; decade += stride) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double at = decade + std::log10(factor);
            if (at >= low - 1e-9 && at <= high + 1e-9)
                ticks.push_back({at, numberText(factor * std::pow(10.0, decade), 3)});
            if (!between)
                break;
        }
    }
    // Less than a decade may hold no round power: then round values, at uneven distances.
    if (ticks.size() < 3 && decades < 2) {
        std::vector<AxisTick> values = linearTicks(std::pow(10.0, low), std::pow(10.0, high), most);
        std::erase_if(values, [](const AxisTick& tick) { return !(tick.value > 0); });
        for (AxisTick& tick : values)
            tick.value = std::log10(tick.value);
        if (values.size() > ticks.size())
            return values;
    }
    return ticks;
}

} // namespace cuset
