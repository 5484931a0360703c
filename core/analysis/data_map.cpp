#include "core/analysis/data_map.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "core/analysis/mask.h"
#include "core/base/error.h"

namespace cuset {
namespace {

using Index = std::unordered_map<std::string_view, std::int64_t>;

constexpr std::int64_t occurs_twice = -1;

Index index_by_id(const ScoreSet& scores) {
    Index index;
    for (std::int64_t n = 0; n < scores.sample_count(); ++n)
        if (const auto [place, is_new] = index.emplace(scores.id(n), n); !is_new)
            place->second = occurs_twice;
    return index;
}

// Where sample n of the first set is in each of the sets; what is wrong if it is not in all.
std::string locate(std::span<const std::shared_ptr<const ScoreSet>> sets,
                   const std::vector<Index>& indices, std::int64_t n,
                   std::vector<std::int64_t>& places) {
    const std::string& id = sets.front()->id(n);
    for (std::size_t e = 0; e < sets.size(); ++e) {
        const auto found = indices[e].find(id);
        if (found == indices[e].end())
            return "it is not in score file " + std::to_string(e + 1) + ", it is left out";
        if (found->second == occurs_twice)
            return "its id occurs more than once, it is left out";
        const std::string_view difference =
            token_difference(*sets.front(), n, *sets[e], found->second);
        if (!difference.empty())
            return std::string(difference);
        places[e] = found->second;
    }
    return {};
}

DataMapPoint measure(std::span<const std::shared_ptr<const ScoreSet>> sets,
                     const std::vector<std::int64_t>& places) {
    DataMapPoint point;
    for (std::size_t e = 0; e < sets.size(); ++e) {
        const ScoreSet& set = *sets[e];
        const auto begin = static_cast<std::size_t>(set.token_begin(places[e]));
        const auto end = static_cast<std::size_t>(set.token_end(places[e]));
        double sum = 0;
        std::int64_t first = 0;
        for (std::size_t t = begin; t < end; ++t) {
            sum += static_cast<double>(confidence_of(set.columns().log_prob[t]));
            first += set.columns().rank[t] == 0;
        }
        point.tokens = static_cast<std::int64_t>(end - begin);
        point.by_checkpoint.push_back(sum / static_cast<double>(point.tokens));
        point.correctness += static_cast<double>(first) / static_cast<double>(point.tokens);
    }
    const auto count = static_cast<double>(sets.size());
    for (const double c : point.by_checkpoint)
        point.confidence += c / count;
    double squares = 0;
    for (const double c : point.by_checkpoint)
        squares += (c - point.confidence) * (c - point.confidence);
    point.variability = std::sqrt(squares / count);
    point.correctness /= count;
    return point;
}

void find_lost(std::span<const std::shared_ptr<const ScoreSet>> sets,
               const std::vector<Index>& indices, DataMap& map) {
    std::unordered_map<std::string_view, bool> told;
    for (std::size_t e = 1; e < sets.size(); ++e)
        for (std::int64_t n = 0; n < sets[e]->sample_count(); ++n)
            if (!indices.front().contains(sets[e]->id(n))
                && told.emplace(sets[e]->id(n), true).second)
                map.left_out.push_back(
                    {sets[e]->id(n), "it is not in score file 1, it is left out"});
}

} // namespace

DataMap data_map(std::span<const std::shared_ptr<const ScoreSet>> sets) {
    if (sets.size() < 2)
        throw Error(ErrorCode::usage,
                    "needs the scores of two checkpoints or more, got "
                        + std::to_string(sets.size()),
                    "data map");
    DataMap map;
    map.checkpoints = static_cast<std::int64_t>(sets.size());
    std::vector<Index> indices;
    for (std::size_t e = 0; e < sets.size(); ++e) {
        indices.push_back(index_by_id(*sets[e]));
        for (const std::string& difference :
             provenance_differences(sets.front()->provenance(), sets[e]->provenance()))
            map.warnings.push_back("score files 1 and " + std::to_string(e + 1) + ": "
                                   + difference);
    }
    std::vector<std::int64_t> places(sets.size());
    for (std::int64_t n = 0; n < sets.front()->sample_count(); ++n) {
        const std::string problem = locate(sets, indices, n, places);
        if (!problem.empty()) {
            map.left_out.push_back({sets.front()->id(n), problem});
            continue;
        }
        DataMapPoint point = measure(sets, places);
        point.id = sets.front()->id(n);
        point.index = n;
        map.samples.push_back(std::move(point));
    }
    find_lost(sets, indices, map);
    if (map.samples.empty())
        throw Error(ErrorCode::bad_value,
                    "no sample is in all " + std::to_string(sets.size())
                        + " with the same id and the same tokens; score the same data with each "
                          "checkpoint",
                    "score files");
    return map;
}

} // namespace cuset
