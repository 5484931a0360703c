#include "app/cli/objective_tables.h"

#include <algorithm>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset::cli {
namespace {

Json to_json(const PushTotals& push) {
    Json by_kind = Json::object();
    for (std::size_t k = 0; k < sensitive_kind_names.size(); ++k)
        by_kind[std::string(sensitive_kind_names[k])] = push.by_kind[k];
    return {{"push", push.total},
            {"push_sensitive", push.sensitive},
            {"sensitive_share", push.sensitive_share()},
            {"push_by_kind", std::move(by_kind)}};
}

std::int64_t find_sample(const ScoreSet& scores, const std::string& id) {
    for (std::int64_t n = 0; n < scores.sample_count(); ++n)
        if (scores.id(n) == id)
            return n;
    throw Error(ErrorCode::not_found, "no sample has this id; --per-sample lists them",
                "--token-weights " + printable(id, 80));
}

void print_weights_csv(const ScoreSet& scores, std::int64_t begin,
                       std::span<const float> confidence, const SampleObjectives& objectives) {
    std::string header = "token,begin,end,confidence";
    for (const std::string_view name : token_objective_names)
        header += ',' + std::string(name);
    std::printf("%s\r\n", header.c_str());
    for (std::size_t t = 0; t < confidence.size(); ++t) {
        const ByteSpan span = scores.span(begin + static_cast<std::int64_t>(t));
        std::printf("%zu,%d,%d,%.6g", t, span.begin, span.end, static_cast<double>(confidence[t]));
        for (const std::vector<float>& weights : objectives.weights)
            std::printf(",%.6g", static_cast<double>(weights[t]));
        std::printf("\r\n");
    }
}

void print_weights_json(const std::string& id, std::span<const float> confidence,
                        const SampleObjectives& objectives) {
    Json json{{"id", id}, {"confidence", confidence}};
    for (std::size_t i = 0; i < objectives.weights.size(); ++i) {
        Json& own = json["objectives"][std::string(token_objective_names[i])];
        own = to_json(objectives.push[i]);
        own["weights"] = objectives.weights[i];
    }
    print_json(json);
}

} // namespace

std::string name_of(TokenObjective objective) {
    return std::string(token_objective_names[static_cast<std::size_t>(objective)]);
}

ObjectivePushes objective_pushes(const CorpusAnalyzer& analyzer, RunControl& control) {
    ObjectivePushes pushes;
    for (int i = 0; i < token_objective_count; ++i)
        pushes.push_back(objective_push(analyzer, static_cast<TokenObjective>(i), {}, control));
    return pushes;
}

Json to_json(const ObjectivePushes& pushes) {
    Json objectives = Json::object();
    for (const ObjectivePush& push : pushes)
        objectives[name_of(push.objective)] = to_json(push.corpus);
    return objectives;
}

void print_objectives(const ObjectivePushes& pushes) {
    std::vector<std::vector<std::string>> totals;
    std::vector<std::string> header{"share of push by kind"};
    for (const ObjectivePush& push : pushes) {
        totals.push_back({name_of(push.objective), fixed(push.corpus.total, 1),
                          fixed(push.corpus.sensitive, 1), percent(push.corpus.sensitive_share())});
        header.push_back(name_of(push.objective));
    }
    std::printf("\n");
    print_table({"push of one step", "total", "on sensitive", "share"}, totals);
    std::vector<std::vector<std::string>> kinds;
    for (std::size_t kind = 0; kind < sensitive_kind_names.size(); ++kind) {
        kinds.push_back({std::string(sensitive_kind_names[kind])});
        for (const ObjectivePush& push : pushes)
            kinds.back().push_back(
                percent(push.corpus.total > 0 ? push.corpus.by_kind[kind] / push.corpus.total : 0));
    }
    std::printf("\n");
    print_table(header, kinds);
}

void print_token_weights(const CorpusAnalyzer& analyzer, const std::string& id, bool json) {
    const ScoreSet& scores = *analyzer.scores();
    const std::int64_t n = find_sample(scores, id);
    const auto begin = static_cast<std::size_t>(scores.token_begin(n));
    const std::size_t count = static_cast<std::size_t>(scores.token_end(n)) - begin;
    const auto confidence = analyzer.confidence().subspan(begin, count);
    const SampleObjectives objectives = sample_objectives(
        confidence, scores.columns().entropy_top20.subspan(begin, count),
        scores.columns().labels.subspan(begin, count), analyzer.summary().settings,
        analyzer.samples()[static_cast<std::size_t>(n)].weight);
    if (json)
        print_weights_json(id, confidence, objectives);
    else
        print_weights_csv(scores, scores.token_begin(n), confidence, objectives);
}

} // namespace cuset::cli
