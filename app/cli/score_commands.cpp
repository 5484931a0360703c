// cuset score and generate: the commands that run a model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "app/cli/command.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/format.h"
#include "app/cli/progress.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/cuda/compile_check.h"
#include "core/io/sample_writer.h"
#include "core/model/generate_answer.h"
#include "core/model/inference_session.h"
#include "core/model/model_view.h"
#include "core/train/rank_environment.h"
#include "core/train/ranked_scoring.h"
#include "core/train/run_scores.h"

namespace cuset::cli {
namespace {

struct ScoreCommand {
    std::string model;
    std::vector<std::string> data;
    std::string output;
    std::string labels;
    std::string run; // a training run whose checkpoints are scored
    SessionOptions session;
    ScoreOptions score;
    ReadOptions read;
    bool json = false;
    bool dry_run = false;
    int shown = 0; // samples that a dry run shows as the model sees them
};

std::string marked(const SeenToken& token) {
    const std::string text = printable(token.bytes, 200);
    return token.special ? "<" + std::to_string(token.id) + " " + text + ">" : text;
}

// What stands in brackets is a control token; a bar divides context and scored tokens.
void show(const ModelView& view, const Sample& sample, const PromptOptions& options) {
    const SeenSequence seen = view.see(sample, options);
    std::printf("%s: %zu tokens, template %s, %d begin tokens\n", printable(sample.id, 80).c_str(),
                seen.tokens.size(), printable(seen.template_source, 80).c_str(), seen.begin_tokens);
    bool scored = false;
    for (const SeenToken& token : seen.tokens) {
        if (token.response != scored)
            std::printf("\n%s\n", token.response ? "--- scored ---" : "--- context ---");
        scored = token.response;
        std::printf("%s", marked(token).c_str());
    }
    std::printf("\n\n");
}

Json to_json(const DataCheck& check, const Dataset& dataset) {
    Json skipped = Json::array();
    for (const SkippedSample& sample : check.skipped)
        skipped.push_back({{"id", sample.id}, {"reason", sample.reason}});
    return {{"samples", check.samples},
            {"prompt_tokens", check.prompt_tokens},
            {"response_tokens", check.response_tokens},
            {"longest", check.longest},
            {"cut_samples", check.cut_samples},
            {"cut_tokens", check.cut_tokens},
            {"doubled_begin", check.doubled_begin},
            {"dropped_bytes", check.dropped_bytes},
            {"plain_controls", check.plain_controls},
            {"reasoning_tokens", check.reasoning_tokens},
            {"bad_records", dataset.bad_records.size()},
            {"filtered_records", dataset.filtered_records},
            {"skipped", std::move(skipped)}};
}

void dry_run(const ScoreCommand& options, const Dataset& dataset, CommandRun& run) {
    const ModelView view(options.model);
    const DataCheck check = view.check(dataset.samples, options.score.prompt, run.control());
    run.finish();
    if (options.json)
        return print_json(to_json(check, dataset));
    for (int i = 0; i < options.shown && i < static_cast<int>(dataset.samples.size()); ++i)
        show(view, dataset.samples[static_cast<std::size_t>(i)], options.score.prompt);
    std::printf("samples            %s\nprompt tokens      %s\nresponse tokens    %s\n"
                "longest sample     %s tokens\ncut at %-11d %s samples, %s tokens\n",
                format_count(check.samples).c_str(), format_count(check.prompt_tokens).c_str(),
                format_count(check.response_tokens).c_str(), format_count(check.longest).c_str(),
                options.score.prompt.max_length, format_count(check.cut_samples).c_str(),
                format_count(check.cut_tokens).c_str());
    std::printf(
        "of reasoning       %s tokens of the response\ncontrol words      %s in the samples, "
        "encoded as text\ndoubled BOS        %s samples\nbytes without token %s\n"
        "filtered records   %s\nbad records        %zu\nnot to be scored   %zu\n",
        format_count(check.reasoning_tokens).c_str(), format_count(check.plain_controls).c_str(),
        format_count(check.doubled_begin).c_str(), format_count(check.dropped_bytes).c_str(),
        format_count(dataset.filtered_records).c_str(), dataset.bad_records.size(),
        check.skipped.size());
    for (const SkippedSample& skipped : check.skipped)
        std::printf("  %s: %s\n", printable(skipped.id).c_str(), printable(skipped.reason).c_str());
}

void tell_skipped(const ScoreRun& run) {
    for (const SkippedSample& skipped : run.skipped)
        std::fprintf(stderr, "not scored: %s: %s\n", printable(skipped.id).c_str(),
                     printable(skipped.reason).c_str());
}

// `part`: it was ended before all was done.
void report(const ScoreRun& run, const ScoreCommand& options, std::int32_t context, bool part) {
    tell_skipped(run);
    if (run.cut_samples > 0)
        std::fprintf(stderr, "%s samples were cut at %d tokens%s\n",
                     format_count(run.cut_samples).c_str(),
                     std::min(options.score.prompt.max_length, context),
                     context < options.score.prompt.max_length ? ", the model's context" : "");
    if (run.plain_controls > 0)
        std::fprintf(stderr,
                     "%s words in the samples that look like control tokens were encoded as text\n",
                     format_count(run.plain_controls).c_str());
    if (options.json && options.output != "-")
        print_json({{"file", options.output},
                    {"samples", run.scores->sample_count()},
                    {"tokens", run.scores->token_count()},
                    {"skipped", run.skipped.size()},
                    {"cut", run.cut_samples},
                    {"stopped", part}});
    else
        std::fprintf(stderr, "%s samples, %s response tokens -> %s%s\n",
                     format_count(run.scores->sample_count()).c_str(),
                     format_count(run.scores->token_count()).c_str(),
                     printable(options.output).c_str(),
                     part ? " (stopped: holds what was done)" : "");
}

// Where the part of a stopped run goes: never over a file that is there, which may be whole.
std::string beside_a_whole_file(const std::string& output) {
    static constexpr std::string_view ending = ".scores.safetensors";
    std::error_code missing;
    if (output == "-" || !std::filesystem::exists(output, missing))
        return output;
    const std::size_t stem =
        output.ends_with(ending) ? output.size() - ending.size() : output.size();
    return output.substr(0, stem) + ".partial" + std::string(ending);
}

// What rank 0 does with the scores; the other ranks write nothing.
void write_run(const RankedScoreRun& scored, const ScoreCommand& options, const LabelOption& labels,
               std::int32_t context) {
    const ScoreRun& run = scored.run;
    const bool whole = !run.stopped && !scored.failure;
    if (run.scores->sample_count() == 0 && whole)
        throw Error(ErrorCode::bad_value,
                    run.skipped.empty()
                        ? "no sample could be scored"
                        : "no sample could be scored; the first: " + run.skipped.front().reason,
                    options.data.front());
    ScoreCommand written = options;
    if (!whole)
        written.output = beside_a_whole_file(options.output);
    if (run.scores->sample_count() > 0)
        write_scores(written.output, *with_labels(run.scores, labels));
    report(run, written, context, !whole);
}

// All of `samples`, or Cancelled: a part of a checkpoint's scores is not kept.
std::shared_ptr<const ScoreSet> score_all(InferenceSession& session,
                                          const std::vector<Sample>& samples,
                                          const ScoreOptions& options, RunControl& control) {
    const ScoreRun scored = score_samples(session, samples, options, {}, control);
    if (scored.stopped)
        throw Cancelled();
    tell_skipped(scored);
    if (scored.scores->sample_count() == 0)
        throw Error(ErrorCode::bad_value, "no sample could be scored", "score");
    return scored.scores;
}

// The base and every checkpoint of a run that has no scores yet, into RUN/scores.
void score_run(const ScoreCommand& options) {
    if (!options.output.empty() || !options.session.adapter.empty())
        throw Error(ErrorCode::usage,
                    "takes neither -o nor --adapter: scores go to RUN/scores, adapters are the "
                    "run's",
                    "--run");
    CommandRun run;
    const std::vector<RunCheckpoint> checkpoints = list_run_checkpoints(options.run);
    const Dataset dataset = read_data(options.data, options.read, run.control());
    InferenceSession session(options.model, options.session, run.control());
    std::shared_ptr<const ScoreSet> base;
    Json made = Json::array();
    for (const RunCheckpoint& checkpoint : checkpoints) {
        std::shared_ptr<const ScoreSet> scores = checkpoint.step == 0
            ? kept_base_scores(checkpoint, nullptr, session, dataset.samples, options.score)
            : kept_scores(checkpoint, *base);
        const bool kept = scores != nullptr;
        if (!kept && !checkpoint.is_there()) {
            std::fprintf(stderr, "step %lld: its scores are of other data, and it is gone\n",
                         static_cast<long long>(checkpoint.step));
            continue;
        }
        if (!kept && checkpoint.is_adapter) {
            session.set_adapter(checkpoint.folder.string());
            scores = score_all(session, dataset.samples, options.score, run.control());
        } else if (!kept) {
            InferenceSession trained(checkpoint.folder.string(), options.session, run.control());
            scores = score_all(trained, dataset.samples, options.score, run.control());
        }
        if (!kept)
            keep_scores(checkpoint, *scores);
        if (checkpoint.step == 0)
            base = scores;
        run.finish();
        if (!options.json)
            std::fprintf(stderr, "step %lld: %s%s\n", static_cast<long long>(checkpoint.step),
                         printable(checkpoint.scores.string(), 1000).c_str(),
                         kept ? " (kept)" : "");
        made.push_back({{"step", checkpoint.step},
                        {"file", checkpoint.scores.string()},
                        {"samples", scores->sample_count()},
                        {"kept", kept}});
    }
    if (options.json)
        print_json(made);
}

void run_score(const ScoreCommand& options) {
    if (!options.run.empty())
        return score_run(options);
    if (options.output.empty() && !options.dry_run)
        throw Error(ErrorCode::usage, "no output: give -o FILE, --run RUN or --dry-run", "score");
    std::vector<std::string> inputs = options.data;
    inputs.insert(inputs.end(), {options.labels, options.model});
    refuse_overwriting(options.output, inputs);
    if (options.dry_run) {
        if (rank_environment().rank > 0)
            return;
        CommandRun run;
        return dry_run(options, read_data(options.data, options.read, run.control()), run);
    }
    require_writable(options.output);
    ScoringRanks ranks;
    ranks.run([&] {
        CommandRun run(ranks.leads());
        const Dataset dataset = read_data(options.data, options.read, run.control());
        const LabelOption labels = read_labels(options.labels, options.data);
        InferenceSession session(options.model, ranks.own(options.session), run.control());
        for (const std::string& warning : session.info().warnings)
            if (ranks.leads())
                std::fprintf(stderr, "warning: %s\n", printable(warning, 1000).c_str());
        const RankedScoreRun scored =
            ranks.score(session, dataset.samples, options.score, run.control());
        run.finish();
        if (ranks.leads())
            write_run(scored, options, labels, session.info().context_length);
        if (scored.failure)
            throw Error(*scored.failure);
        if (scored.run.stopped)
            throw Cancelled();
    });
}

struct GenerateCommand {
    std::string model;
    std::string prompt;
    std::string prompt_file;
    SessionOptions session;
    GenerateOptions generate;
    PromptOptions prompt_options;
    std::string append;
    bool compile = false;
    bool json = false;
};

Json to_json(const GeneratedToken& token) {
    Json top = Json::array();
    for (std::size_t k = 0; k < token.top_ids.size(); ++k)
        top.push_back({token.top_ids[k], token.top_log_probs[k]});
    return {{"id", token.id},           {"text", token.bytes}, {"logprob", token.log_prob},
            {"entropy", token.entropy}, {"rank", token.rank},  {"top", std::move(top)}};
}

// Cividis at confidence c, as a 24-bit terminal colour: the same ends as the window's scale.
std::string colored(const GeneratedToken& token) {
    const double c = std::exp(static_cast<double>(token.log_prob));
    const int red = static_cast<int>(60 + 195 * c), green = static_cast<int>(90 + 140 * c),
              blue = static_cast<int>(150 - 80 * c);
    return "\x1b[38;2;" + std::to_string(red) + ";" + std::to_string(green) + ";"
        + std::to_string(blue) + "m";
}

// Model output may hold terminal escapes; ESC is all that a terminal needs to be led astray.
void print_token(std::string text, const GeneratedToken& token, bool color) {
    if (text.empty())
        return;
    std::erase(text, '\x1b');
    std::printf("%s%s%s", color ? colored(token).c_str() : "", text.c_str(),
                color ? "\x1b[0m" : "");
    std::fflush(stdout);
}

Json to_json(const CompileResult& result) {
    Json messages = Json::array();
    for (const CompilerMessage& message : result.messages)
        messages.push_back({{"severity", severity_name(message.severity)},
                            {"line", message.line},
                            {"column", message.column},
                            {"text", message.text}});
    return {{"ok", result.ok},
            {"timed_out", result.timed_out},
            {"seconds", result.seconds},
            {"messages", std::move(messages)}};
}

void print_compiled(const CompileResult& result) {
    std::fprintf(stderr, "nvcc -c: %s, %.1f s\n", result.ok ? "compiles" : "does not compile",
                 result.seconds);
    for (const CompilerMessage& message : result.messages)
        std::fprintf(stderr, "%s%s: %s\n",
                     message.line > 0 ? ("line " + std::to_string(message.line) + ": ").c_str()
                                      : "",
                     std::string(severity_name(message.severity)).c_str(),
                     printable(message.text, 1000).c_str());
}

void run_generate(const GenerateCommand& options) {
    CommandRun run;
    Sample sample;
    sample.prompt = options.prompt_file.empty() ? options.prompt : read_text(options.prompt_file);
    if (sample.prompt.empty())
        throw Error(ErrorCode::usage, "no prompt: give --prompt TEXT or --prompt-file FILE",
                    "generate");
    InferenceSession session(options.model, options.session, run.control());
    run.finish();
    const bool color = wants_color(STDOUT_FILENO);
    const GeneratedAnswer answer = generate_answer(
        session, sample, options.prompt_options, options.generate,
        [&](const GeneratedToken& token) {
            if (!options.json)
                print_token(visible_bytes(session, token), token, color);
            return true;
        },
        run.control());
    std::string text;
    for (const GeneratedToken& token : answer.tokens)
        text += visible_bytes(session, token);
    if (!options.json)
        std::printf("\n");
    std::optional<CompileResult> compiled;
    if (options.compile)
        compiled = check_compiles(text, CompileOptions{}, run.control());
    if (!options.append.empty()) {
        sample.response = text;
        const std::string id = append_sample(options.append, sample);
        std::fprintf(stderr, "added to %s as %s\n", printable(options.append).c_str(), id.c_str());
    }
    if (!options.json) {
        if (compiled)
            print_compiled(*compiled);
        return;
    }
    Json list = Json::array();
    for (const GeneratedToken& token : answer.tokens)
        list.push_back(to_json(token));
    Json result{{"prompt", answer.rendered},
                {"text", text},
                {"ended", answer.ended},
                {"tokens", std::move(list)}};
    if (compiled)
        result["compile"] = to_json(*compiled);
    print_json(result);
}

} // namespace

void add_score_commands(CLI::App& program) {
    auto score = std::make_shared<ScoreCommand>();
    CLI::App* command =
        program.add_subcommand("score", "teacher-forced scores of every response token");
    command
        ->add_option("MODEL", score->model,
                     "Hugging Face folder, .gguf file, or org/name in the hub cache")
        ->required();
    command
        ->add_option("DATA", score->data,
                     "JSON, JSON Lines, CSV, Parquet, Arrow, CUDA files or folders of them, a "
                     "dataset_info.json, or -")
        ->required();
    command->add_option("-o,--output", score->output,
                        "the score file, NAME.scores.safetensors, or - for standard output");
    command->add_flag("--dry-run", score->dry_run,
                      "score nothing: count tokens, and what would be cut or left out");
    command
        ->add_option("--show", score->shown,
                     "with --dry-run: the first N samples as the model sees them")
        ->check(CLI::NonNegativeNumber);
    command->add_option("--run", score->run,
                        "a training run's folder: score its base and every checkpoint that has no "
                        "scores yet into RUN/scores");
    command->add_option("--top-k", score->score.top_k, "alternatives kept for each token")
        ->check(CLI::Range(0, 64))
        ->capture_default_str();
    add_session_options(*command, score->session);
    add_prompt_options(*command, score->score.prompt);
    add_response_option(*command, score->score.prompt.response);
    add_read_options(*command, score->read);
    add_label_option(*command, score->labels);
    command->add_flag("--json", score->json, "print JSON");
    command->footer("Started as several ranks (torchrun --no-python, srun, or RANK, WORLD_SIZE and "
                    "MASTER_ADDR\nset), each scores its share and rank 0 writes the file.");
    command->callback([score] { run_score(*score); });

    auto generate = std::make_shared<GenerateCommand>();
    command =
        program.add_subcommand("generate", "continue a prompt, with the confidence of every token");
    command
        ->add_option("MODEL", generate->model,
                     "Hugging Face folder, .gguf file, or org/name in the hub cache")
        ->required();
    command->add_option("--prompt", generate->prompt, "the user's turn");
    command->add_option("--prompt-file", generate->prompt_file,
                        "a file with it, or - for standard input");
    command->add_option("--max-tokens", generate->generate.max_tokens, "tokens to generate at most")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    command
        ->add_option("--temperature", generate->generate.temperature,
                     "0: always the most probable token")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str();
    command
        ->add_option("--top-p", generate->generate.top_p,
                     "sample among the tokens that hold this probability")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command
        ->add_option("--sample-top-k", generate->generate.top_k,
                     "sample among the K most probable; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_option("--seed", generate->generate.seed, "seed of the sampling")
        ->capture_default_str();
    add_session_options(*command, generate->session);
    add_prompt_options(*command, generate->prompt_options);
    command->add_flag("--compile", generate->compile,
                      "check the CUDA source in the answer with nvcc -c; nothing of it is run");
    command->add_option("--append", generate->append,
                        "FILE.jsonl: add prompt and answer to it as a sample");
    command->add_flag("--json", generate->json, "print JSON");
    command->callback([generate] { run_generate(*generate); });
}

} // namespace cuset::cli
