// What `cuset analyze --objectives` and `--token-weights` print: push of the six objectives.
#pragma once

#include <string>
#include <vector>

#include "app/cli/format.h"
#include "core/analysis/objective_weights.h"

namespace cuset::cli {

using ObjectivePushes = std::vector<ObjectivePush>; // in the order of TokenObjective

std::string name_of(TokenObjective objective);

// At the analyzer's settings. Throws Cancelled.
ObjectivePushes objective_pushes(const CorpusAnalyzer& analyzer, RunControl& control);
// {"sft": {"push", "push_sensitive", "sensitive_share", "push_by_kind": {..}}, ..}
Json to_json(const ObjectivePushes& pushes);
void print_objectives(const ObjectivePushes& pushes);

// One line a token of the sample named `id`, with its weight under each objective: CSV, or one
// JSON object with arrays. Throws Error(not_found).
void print_token_weights(const CorpusAnalyzer& analyzer, const std::string& id, bool json);

} // namespace cuset::cli
