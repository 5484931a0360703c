// cuset verify: a model's log-probabilities against its reference.
#include <cstdio>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/data_options.h"
#include "app/cli/format.h"
#include "app/cli/progress.h"
#include "core/base/message.h"
#include "core/model/verification.h"

namespace cuset::cli {
namespace {

struct VerifyOptions {
    std::string model;
    std::string reference;
    SessionOptions session;
    bool json = false;
};

Json to_json(const Verification& v) {
    Json dtypes = Json::array();
    for (const DtypeDifference& d : v.dtypes)
        dtypes.push_back({{"dtype", d.dtype},
                          {"verdict", verdict_name(d.verdict)},
                          {"tokens", d.tokens},
                          {"largest", d.largest},
                          {"mean", d.mean},
                          {"largest_probability", d.largest_probability},
                          {"mean_probability", d.mean_probability},
                          {"sample", d.sample},
                          {"token", d.token}});
    return {{"verdict", verdict_name(v.verdict)}, {"reason", v.reason},
            {"reference", v.reference},           {"made_with", v.made_with},
            {"stored_dtype", v.stored_dtype},     {"texts", v.texts},
            {"equal_texts", v.equal_texts},       {"dtypes", std::move(dtypes)}};
}

std::string scientific(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2e", value);
    return text;
}

void print(const Verification& v) {
    if (!v.dtypes.empty()) {
        std::vector<std::vector<std::string>> rows;
        for (const DtypeDifference& d : v.dtypes)
            rows.push_back({d.dtype, format_count(d.tokens), scientific(d.largest),
                            scientific(d.mean), scientific(d.largest_probability),
                            scientific(d.mean_probability), std::string(verdict_name(d.verdict))});
        print_table(
            {"dtype", "tokens", "largest |d ln p|", "mean", "largest |d p|", "mean", "verdict"},
            rows);
        std::printf("reference: %s\n", printable(v.reference, 400).c_str());
        if (v.texts > 0)
            std::printf("token ids: %s of %s texts as the reference has them\n",
                        format_count(v.equal_texts).c_str(), format_count(v.texts).c_str());
    }
    std::printf("%s: %s\n", std::string(verdict_name(v.verdict)).c_str(), v.reason.c_str());
}

void run(const VerifyOptions& options) {
    // Without a choice: the reference type, and the one that scoring takes on a processor that has
    // it.
    std::vector<std::string> dtypes{options.session.dtype};
    if (options.session.dtype == "auto")
        dtypes = {"float32", "bfloat16"};
    CommandRun command;
    const Verification v =
        verify_model(options.model, options.session, dtypes, options.reference, command.control());
    command.finish();
    if (options.json)
        print_json(to_json(v));
    else
        print(v);
    if (v.verdict != Verdict::proven)
        throw CLI::RuntimeError(1);
}

} // namespace

void add_verify_command(CLI::App& program) {
    auto options = std::make_shared<VerifyOptions>();
    CLI::App* command = program.add_subcommand(
        "verify", "how far a model's log-probabilities lie from a reference by transformers");
    command
        ->add_option("MODEL", options->model,
                     "Hugging Face folder, .gguf file, or org/name in the hub cache")
        ->required();
    command->add_option("--reference", options->reference,
                        "reference file (default: cuset-reference.json beside the weights); "
                        "packaging/make_reference.py makes one");
    add_session_options(*command, options->session);
    command->add_flag("--json", options->json, "print JSON");
    command->footer(
        "Without --dtype float32 and bfloat16 are compared. Proven: float32 within 1e-3 "
        "nats on every token;\nbfloat16 and float16 within 0.15 of every probability "
        "and 0.02 in the mean. Exit code 0 only\nif proven; 1 if failed, or unproven: "
        "no reference, or quantised weights.");
    command->callback([options] { run(*options); });
}

} // namespace cuset::cli
