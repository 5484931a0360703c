#include "core/train/train_state.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace cuset {
namespace {

using nlohmann::json;

template <class S, class V> void fields(S& s, V&& visit) {
    visit("step", s.step);
    visit("updates", s.updates);
    visit("skipped", s.skipped);
    visit("bad_in_row", s.bad_in_row);
    visit("tokens", s.tokens);
    visit("best_step", s.best_step);
    visit("best_loss", s.best_loss);
    visit("without_improvement", s.without_improvement);
    visit("evaluation_due", s.evaluation_due);
    visit("last_loss", s.last_loss);
    visit("seconds", s.seconds);
    visit("model_sha256", s.model_sha256);
    visit("data_sha256", s.data_sha256);
    visit("trainable_parameters", s.trainable_parameters);
}

} // namespace

std::string train_state_json(const TrainState& state) {
    nlohmann::ordered_json object{{"format", 1}};
    fields(state, [&](const char* name, const auto& value) { object[name] = value; });
    return object.dump(1) + "\n";
}

TrainState parse_train_state(const std::string& text, const std::string& subject) {
    TrainState state;
    try {
        const json object = json::parse(text);
        fields(state, [&](const char* name, auto& value) {
            const json& found = object.at(name);
            if (!found.is_null())
                found.get_to(value);
        });
    } catch (const json::exception& error) {
        throw Error(ErrorCode::bad_format, std::string("cannot be understood: ") + error.what(),
                    subject);
    }
    return state;
}

void require_same_run(const TrainState& kept, const TrainState& found, const std::string& subject) {
    const auto refuse = [&](const std::string& what, const std::string& was,
                            const std::string& is) {
        throw Error(ErrorCode::bad_value,
                    what + " is another than the run was started with (" + is.substr(0, 16)
                        + ", not " + was.substr(0, 16) + "); start a new run",
                    subject);
    };
    if (kept.model_sha256 != found.model_sha256)
        refuse("the model", kept.model_sha256, found.model_sha256);
    if (kept.data_sha256 != found.data_sha256)
        refuse("the data", kept.data_sha256, found.data_sha256);
    if (kept.trainable_parameters != found.trainable_parameters)
        refuse("the number of trained parameters", std::to_string(kept.trainable_parameters),
               std::to_string(found.trainable_parameters));
}

} // namespace cuset
