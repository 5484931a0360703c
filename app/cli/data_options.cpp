#include "app/cli/data_options.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <iterator>

#include "app/cli/files.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/model/label_file.h"

namespace cuset::cli {
namespace {

// CLI::PositiveNumber names the whole range of a double.
CLI::Validator above_zero() {
    return {[](std::string& text) {
                double value = 0;
                return CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value)
                    ? std::string()
                    : "is " + text + ", needs a number above 0";
            },
            "above 0"};
}

} // namespace

void add_session_options(CLI::App& command, SessionOptions& options) {
    command.add_option("--device", options.device, "auto, cpu, cuda or cuda:N")
        ->capture_default_str();
    command
        .add_option("--dtype", options.dtype,
                    "auto (bfloat16 where the processor has it), float32, bfloat16 or float16")
        ->check(CLI::IsMember({"auto", "float32", "bfloat16", "float16"}))
        ->capture_default_str();
    command
        .add_option("--threads", options.threads, "threads to compute with; 0: one for each core")
        ->check(CLI::Range(0, 4096))
        ->capture_default_str();
    command.add_option("--adapter", options.adapter, "folder of a PEFT LoRA adapter");
    command.add_flag("--force", options.ignore_memory_limit,
                     "load even if the estimate says that the model does not fit");
}

void add_prompt_options(CLI::App& command, PromptOptions& options) {
    command
        .add_option("--template", options.chat_template,
                    "auto (the model's own), none, or a Jinja file")
        ->capture_default_str();
    command
        .add_option("--max-length", options.max_length, "tokens of prompt and response together")
        ->check(CLI::Range(2, 1 << 24))
        ->capture_default_str();
}

void add_response_option(CLI::App& command, ResponseChoice& choice) {
    command
        .add_option_function<std::string>(
            "--response",
            [&choice](const std::string& name) {
                choice = find_response_choice(name).value_or(ResponseChoice::whole);
            },
            "whole; answer: without its reasoning (<think>); or code: only the CUDA, C and C++ "
            "source in it (fences, after reasoning, inside Python strings). The rest is context "
            "and not scored")
        ->check(CLI::IsMember({"whole", "answer", "code"}))
        ->default_str("whole");
}

void add_mask_options(CLI::App& command, MaskSettings& settings) {
    command.add_option("--tau", settings.tau, "confidence threshold of Eq. 2, in [0, 1]")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command.add_option("--lambda", settings.lambda, "weight of CUDA tokens in Eq. 3, above 0")
        ->check(above_zero())
        ->capture_default_str();
    command.add_option("--window", settings.window, "window length l of Eq. 5, in tokens")
        ->check(CLI::Range(1, 1 << 24))
        ->capture_default_str();
    add_mask_switches(command, settings);
}

void add_mask_switches(CLI::App& command, MaskSettings& settings) {
    command.add_flag("!--no-confidence-mask", settings.confidence_mask, "switch off Eq. 2");
    command.add_flag("!--no-cuda-mask", settings.cuda_mask, "switch off Eq. 3");
    command.add_flag("!--no-region-weight", settings.region_weight,
                     "switch off Eq. 8: every w_n is 1");
    command.add_flag("--whole-if-short", settings.whole_if_short,
                     "one window for a sample shorter than l, instead of clipped ones");
}

void add_label_option(CLI::App& command, std::string& file) {
    command.add_option("--labels", file,
                       "corrected labels; without it NAME.labels.json beside the data, if it is "
                       "there");
}

LabelOption read_labels(const std::string& file, const std::vector<std::string>& beside) {
    const std::vector<std::filesystem::path> paths(beside.begin(), beside.end());
    LabelOption labels;
    labels.corrections = find_corrections(paths, file);
    if (!labels.corrections.empty())
        labels.file = file.empty() ? label_file_for(paths.front()).string() : file;
    return labels;
}

std::shared_ptr<const ScoreSet> with_labels(const std::shared_ptr<const ScoreSet>& scores,
                                            const LabelOption& labels) {
    if (labels.corrections.empty())
        return scores;
    const std::size_t used = count_meant(*scores, labels.corrections);
    const std::size_t others = labels.corrections.size() - used;
    std::fprintf(stderr, "%s%zu corrected labels from %s%s\n", used == 0 ? "warning: " : "", used,
                 printable(labels.file).c_str(),
                 others == 0 ? ""
                             : (", " + std::to_string(others) + " more are of other data").c_str());
    return corrected_scores(scores, labels.corrections);
}

std::shared_ptr<const ScoreSet> read_corrected(const std::string& scores,
                                               const std::string& labels) {
    return with_labels(read_scores(scores), read_labels(labels, {scores}));
}

void add_read_options(CLI::App& command, ReadOptions& options) {
    command.add_option("--prompt-field", options.prompt_field,
                       "the records' field that holds the prompt");
    command.add_option("--response-field", options.response_field,
                       "the records' field that holds the response");
    command.add_option("--prompt", options.prompt,
                       "the prompt of plain CUDA files; without it the text of NAME.prompt.txt, "
                       "NAME.prompt.md, NAME.txt or NAME.md beside each");
    command.add_option("--dataset", options.dataset,
                       "the data set to read of a dataset_info.json (LlamaFactory's column maps)");
    command.add_option_function<std::vector<std::string>>(
        "--where",
        [&options](const std::vector<std::string>& conditions) {
            for (const std::string& condition : conditions) {
                const std::size_t equals = condition.find('=');
                if (equals == std::string::npos || equals == 0)
                    throw CLI::ValidationError("--where", "needs FIELD=VALUE, got " + condition);
                options.filters[condition.substr(0, equals)] = condition.substr(equals + 1);
            }
        },
        "FIELD=VALUE: only records whose field has that value, e.g. Correct=true; may be repeated");
    command.add_flag("--every-turn", options.every_turn,
                     "each assistant turn of a conversation is a sample of its own, with the turns "
                     "before it; else the last one is the response");
    command.add_flag("--strict", options.strict,
                     "stop at the first bad record instead of skipping it");
}

Dataset read_data(const std::vector<std::string>& paths, const ReadOptions& options,
                  RunControl& control) {
    static constexpr std::size_t shown_at_most = 10;
    Dataset dataset = read_samples({paths.begin(), paths.end()}, options, control);
    for (std::size_t i = 0; i < std::min(shown_at_most, dataset.bad_records.size()); ++i) {
        const BadRecord& bad = dataset.bad_records[i];
        std::fprintf(stderr, "skipped %s:%lld: %s\n", printable(bad.file).c_str(),
                     static_cast<long long>(bad.line), printable(bad.reason).c_str());
    }
    if (dataset.bad_records.size() > shown_at_most)
        std::fprintf(stderr, "skipped %zu more records\n",
                     dataset.bad_records.size() - shown_at_most);
    for (const std::string& warning : dataset.warnings)
        std::fprintf(stderr, "warning: %s\n", printable(warning, 1000).c_str());
    return dataset;
}

std::string read_text(const std::string& path) {
    static constexpr std::uint64_t limit = 64ull << 20;
    if (path != "-")
        return read_file(path, limit);
    std::string text(std::istreambuf_iterator<char>(std::cin), {});
    if (text.size() > limit)
        throw Error(ErrorCode::limit, "is larger than " + format_bytes(limit), "standard input");
    return text;
}

} // namespace cuset::cli
