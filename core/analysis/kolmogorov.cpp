#include "core/analysis/kolmogorov.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace cuset {
namespace {

constexpr double pi = std::numbers::pi;

// ln n! minus Stirling's formula.
double stirling_error(double n) {
    if (n < 16)
        return std::lgamma(n + 1) - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2 * pi);
    const double square = n * n;
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / (1680 * square)) / square) / square) / n;
}

// x ln(x / m) + m - x, without cancellation where x is near m.
double deviance(double x, double m) {
    const double ratio = (x - m) / (x + m);
    if (std::abs(ratio) >= 0.1)
        return x * std::log(x / m) + m - x;
    // x ln(x/m) = 2x (r + r^3/3 + ...), and 2xr + m - x = (x - m) r.
    double sum = (x - m) * ratio, power = 2 * x * ratio;
    for (int k = 3; k < 40; k += 2) {
        power *= ratio * ratio;
        const double next = sum + power / k;
        if (next == sum)
            break;
        sum = next;
    }
    return sum;
}

// ln of term j of Smirnov's sum: C(n,j) (x + j/n)^(j-1) (1 - x - j/n)^(n-j) x, as a binomial
// probability in Loader's form.
double log_smirnov_term(double n, double x, double j) {
    if (j == 0)
        return n * std::log1p(-x);
    const double p = x + j / n;
    if (p >= 1)
        return -std::numeric_limits<double>::infinity();
    const double rest = n - j;
    return stirling_error(n) - stirling_error(j) - stirling_error(rest) - deviance(j, n * p)
        - deviance(rest, n * (1 - p)) + 0.5 * std::log(n / (2 * pi * j * rest)) + std::log(x / p);
}

using Matrix = std::vector<double>;

Matrix product(const Matrix& a, const Matrix& b, std::size_t m) {
    Matrix result(m * m, 0.0);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t k = 0; k < m; ++k)
            for (std::size_t j = 0; j < m; ++j)
                result[i * m + j] += a[i * m + k] * b[k * m + j];
    return result;
}

// A matrix as entries times 2^exponent.
struct Scaled {
    Matrix entries;
    int exponent = 0;

    void multiply(const Scaled& other, std::size_t m) {
        entries = product(entries, other.entries, m);
        exponent += other.exponent;
        const double largest = *std::max_element(entries.begin(), entries.end());
        const int shift = std::ilogb(largest);
        for (double& entry : entries)
            entry = std::ldexp(entry, -shift);
        exponent += shift;
    }
};

// Durbin's matrix of Marsaglia, Tsang and Wang: m = 2k - 1, h = k - n x.
Matrix durbin_matrix(std::size_t m, double h) {
    Matrix matrix(m * m, 0.0);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < std::min(i + 2, m); ++j)
            matrix[i * m + j] = 1;
    for (std::size_t i = 0; i < m; ++i) {
        matrix[i * m] -= std::pow(h, static_cast<double>(i + 1));
        matrix[(m - 1) * m + i] -= std::pow(h, static_cast<double>(m - i));
    }
    if (2 * h > 1)
        matrix[(m - 1) * m] += std::pow(2 * h - 1, static_cast<double>(m));
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            matrix[i * m + j] *= std::exp(-std::lgamma(static_cast<double>(i + 2 - j)));
    return matrix;
}

// P(D_n < x), exact.
double durbin_cdf(std::int64_t n, double x) {
    const double t = static_cast<double>(n) * x;
    const auto k = static_cast<std::size_t>(t) + 1;
    const std::size_t m = 2 * k - 1;
    Scaled base{durbin_matrix(m, static_cast<double>(k) - t)};
    Scaled power;
    power.entries.assign(m * m, 0.0);
    for (std::size_t i = 0; i < m; ++i)
        power.entries[i * m + i] = 1;
    for (std::int64_t left = n; left > 0; left >>= 1) {
        if ((left & 1) != 0)
            power.multiply(base, m);
        if (left > 1)
            base.multiply(Scaled(base), m);
    }
    const auto size = static_cast<double>(n);
    const double log_factor =
        std::lgamma(size + 1) - size * std::log(size) + power.exponent * std::numbers::ln2;
    return power.entries[(k - 1) * m + k - 1] * std::exp(log_factor);
}

// Pelz and Good's four terms of P(D_n < x) in powers of n^-1/2; 5 digits and more from n = 141 on.
double pelz_good_cdf(double n, double x) {
    const double z = std::sqrt(n) * x, z2 = z * z, z4 = z2 * z2, z6 = z4 * z2, z8 = z4 * z4;
    const double pi2 = pi * pi, pi4 = pi2 * pi2, pi6 = pi4 * pi2;
    const int terms = static_cast<int>(std::ceil(16 * z / pi)) + 1;
    double k0 = 0, k1 = 0, k2 = 0, k3 = 0, k2_whole = 0, k3_whole = 0;
    for (int k = 1; k <= terms; ++k) {
        const double odd = 2.0 * k - 1, o2 = odd * odd, o4 = o2 * o2, o6 = o4 * o2;
        const double e = std::exp(-pi2 * o2 / (8 * z2));
        k0 += e;
        k1 += (pi2 * o2 / 4 - z2) * e;
        k2 +=
            (6 * z6 + 2 * z4 + pi2 * (2 * z4 - 5 * z2) * o2 / 4 + pi4 * (1 - 2 * z2) * o4 / 16) * e;
        k3 += (-30 * z6 - 90 * z8 + pi2 * (135 * z4 - 96 * z6) * o2 / 4
               + pi4 * (212 * z4 - 60 * z2) * o4 / 16 + pi6 * (5 - 30 * z2) * o6 / 64)
            * e;
        const double square = static_cast<double>(k) * k, w = std::exp(-pi2 * square / (2 * z2));
        k2_whole += square * w;
        k3_whole += (3 * z2 - pi2 * square) * square * w;
    }
    const double root = std::sqrt(2 * pi);
    k0 *= root / z;
    k1 *= root / (6 * z4);
    k2 = root * (k2 / (72 * z6 * z) - pi2 * k2_whole / (36 * z2 * z));
    k3 = root * (k3 / (6480 * z8 * z2) + pi2 * k3_whole / (216 * z6));
    return k0 + k1 / std::sqrt(n) + k2 / n + k3 / (n * std::sqrt(n));
}

// ln P(D_n < x) for 1/(2n) < x <= 1/n: n! ((2t - 1)/n)^n.
double log_smallest_cdf(double n, double t) {
    return std::lgamma(n + 1) + n * (std::log(2 * t - 1) - std::log(n));
}

} // namespace

double log_smirnov_sf(std::int64_t n, double x) {
    const auto size = static_cast<double>(n);
    const auto last = static_cast<std::int64_t>(std::floor(size * (1 - x)));
    // The terms are smooth in j and fade at both ends: where there are very many, every s-th one
    // times s gives the same sum to far more digits than a p-value needs.
    constexpr std::int64_t most_terms = 1 << 14;
    const std::int64_t step = std::max<std::int64_t>(1, last / most_terms);
    std::vector<double> terms;
    for (std::int64_t j = step == 1 ? 0 : step / 2; j <= last; j += step)
        terms.push_back(log_smirnov_term(size, x, static_cast<double>(j)));
    const double largest = *std::max_element(terms.begin(), terms.end());
    double sum = 0;
    for (const double term : terms)
        sum += std::exp(term - largest);
    return largest + std::log(sum * static_cast<double>(step));
}

double log_kolmogorov_sf(std::int64_t n, double x) {
    const auto size = static_cast<double>(n);
    const double t = size * x, nxx = t * x;
    if (x >= 1)
        return -std::numeric_limits<double>::infinity();
    if (t <= 0.5)
        return 0;
    if (t <= 1)
        return std::log1p(-std::exp(log_smallest_cdf(size, t)));
    if (t >= size - 1)
        return std::min(0.0, std::numbers::ln2 + size * std::log1p(-x));
    // Both sides at once become impossible long before the one-sided sum loses digits.
    if (x >= 0.5 || nxx > (n <= 140 ? 4.0 : 2.2))
        return std::min(0.0, std::numbers::ln2 + log_smirnov_sf(n, x));
    const bool exact = n <= 140 || (n <= 100000 && t * std::sqrt(x) <= 1.4);
    const double cdf = exact ? durbin_cdf(n, x) : pelz_good_cdf(size, x);
    return std::log1p(-std::clamp(cdf, 0.0, 1.0));
}

} // namespace cuset
