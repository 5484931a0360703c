#include "ui/dataset/sample_filter_proxy.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <QRegularExpression>

#include "core/base/error.h"
#include "ui/dataset/sample_table_model.h"

namespace cuset {
namespace {

using Model = SampleTableModel;

// The table's own short names beside those of the file formats.
struct Alias {
    std::string_view name;
    std::string_view field;
};
constexpr std::array<Alias, 8> aliases{{{"c", "mean_confidence"},
                                        {"C", "difficulty"},
                                        {"w", "weight"},
                                        {"kept", "supervised_share"},
                                        {"cuda", "cuda_share"},
                                        {"confident", "confident_share"},
                                        {"M", "mean_mask"},
                                        {"low", "min_window_begin"}}};

struct Names {
    std::vector<std::string_view> all; // the fields, then the aliases
    std::vector<std::size_t> fieldOfAlias;
};

const Names& names() {
    static const Names made = [] {
        Names list;
        const auto fields = SampleFields::names();
        list.all.assign(fields.begin(), fields.end());
        for (const Alias& alias : aliases) {
            const auto at = std::find(fields.begin(), fields.end(), alias.field);
            list.all.push_back(alias.name);
            list.fieldOfAlias.push_back(static_cast<std::size_t>(at - fields.begin()));
        }
        return list;
    }();
    return made;
}

} // namespace

SampleFilterProxy::SampleFilterProxy(Workspace* workspace, AnalysisState* analysis,
                                     NoteState* notes, QObject* parent)
    : QSortFilterProxyModel(parent)
    , workspace_(workspace)
    , analysis_(analysis)
    , notes_(notes) {
    setSortRole(Model::sortRole);
    setDynamicSortFilter(false); // rows stay where they are while thresholds move
}

QStringList SampleFilterProxy::fieldNames() {
    QStringList list;
    std::vector<std::string_view> all = names().all;
    all.insert(all.end(), SampleFilter::mark_names.begin(), SampleFilter::mark_names.end());
    for (const std::string_view name : all)
        list += QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
    return list;
}

QString SampleFilterProxy::setFilterText(const QString& text) {
    static const QRegularExpression comparison(
        QStringLiteral("[<>=]|^\\s*(not\\s+|!|\\()*\\s*(quarantined|noted)\\b"));
    static const QRegularExpression blanks(QStringLiteral("\\s+"));
    QStringList words;
    std::vector<SampleFilter> expressions;
    for (const QString& part : text.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
        if (!part.contains(comparison)) {
            words += part.split(blanks, Qt::SkipEmptyParts);
            continue;
        }
        try {
            expressions.push_back(SampleFilter::parse(part.toStdString(), names().all));
        } catch (const Error& error) {
            return QString::fromUtf8(error.what());
        }
    }
    words_ = words;
    expressions_ = std::move(expressions);
    invalidateFilter();
    return {};
}

bool SampleFilterProxy::holds(int row) const {
    std::vector<double> values;
    if (const int index = analysis_->corpusIndex(row); index >= 0) {
        const auto fields = analysis_->corpus()->fields.values(index);
        values.assign(fields.begin(), fields.end());
        for (const std::size_t field : names().fieldOfAlias)
            values.push_back(fields[field]);
    }
    SampleMarks marks;
    if (const SampleNote* note = notes_->find(workspace_->sampleId(row)))
        marks = {note->tags, note->quarantined, !note->text.empty()};
    return std::all_of(expressions_.begin(), expressions_.end(),
                       [&](const SampleFilter& expression) {
                           if (values.empty() && expression.uses_values())
                               return false; // its figures are not known
                           return expression.matches(values, marks);
                       });
}

bool SampleFilterProxy::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (parent.isValid())
        return true;
    if (!expressions_.empty() && !holds(row))
        return false;
    if (words_.isEmpty())
        return true;
    const QString text = sourceModel()->index(row, Model::Id).data(Model::textRole).toString();
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        return text.contains(word, Qt::CaseInsensitive);
    });
}

bool SampleFilterProxy::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    if (left.column() == Model::Id || left.column() == Model::Tags || left.column() == Model::Note)
        return QString::localeAwareCompare(left.data(Model::sortRole).toString(),
                                           right.data(Model::sortRole).toString())
            < 0;
    const auto* model = static_cast<const Model*>(sourceModel());
    // Unscored samples come first: nothing is less than a number.
    return model->number(left.row(), left.column()) < model->number(right.row(), right.column());
}

} // namespace cuset
