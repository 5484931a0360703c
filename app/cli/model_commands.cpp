// cuset info, models, tokenize, template, doctor: what is known without running a model.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/data_options.h"
#include "app/cli/format.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/model_folder.h"
#include "core/model/inference_session.h"

namespace cuset::cli {
namespace {

struct ModelOptions {
    std::string model;
    std::string file;
    std::string dtype = "auto";
    std::int32_t max_length = 4096;
    bool json = false;
    bool special = false;
    bool no_generation_prompt = false;
    std::string tools;
    std::string variables;
};

void run_info(const ModelOptions& options) {
    const ModelInfo info = inspect_model(options.model);
    const std::vector<MemoryEstimate> estimates =
        estimate_memory(options.model, options.dtype, options.max_length);
    if (options.json) {
        Json memory = Json::array();
        for (const MemoryEstimate& estimate : estimates)
            memory.push_back({{"device", estimate.device},
                              {"weights_bytes", estimate.weights_bytes},
                              {"working_bytes", estimate.working_bytes},
                              {"free_bytes", estimate.free_bytes},
                              {"fits", estimate.fits}});
        print_json({{"name", info.name},
                    {"path", info.path},
                    {"family", info.family},
                    {"parameters", info.parameters},
                    {"stored_dtype", info.stored_dtype},
                    {"context_length", info.context_length},
                    {"vocabulary", info.vocabulary},
                    {"layers", info.layers},
                    {"hidden", info.hidden},
                    {"heads", info.heads},
                    {"kv_heads", info.kv_heads},
                    {"template", info.template_source},
                    {"memory", std::move(memory)},
                    {"warnings", info.warnings}});
        return;
    }
    const auto line = [](const char* name, const std::string& value) {
        std::printf("%-16s %s\n", name, printable(value).c_str());
    };
    line("model", info.name);
    line("path", info.path);
    line("family", info.family);
    line("parameters", format_count(info.parameters));
    line("stored as", info.stored_dtype);
    line("context", format_count(info.context_length) + " tokens");
    line("vocabulary", format_count(info.vocabulary) + " tokens");
    line("shape",
         std::to_string(info.layers) + " layers, " + std::to_string(info.hidden) + " channels, "
             + std::to_string(info.heads) + " heads, " + std::to_string(info.kv_heads)
             + " key/value heads");
    line("chat template", info.template_source.empty() ? "none" : info.template_source);
    for (const MemoryEstimate& estimate : estimates)
        line(("memory, " + estimate.device).c_str(),
             format_bytes(estimate.weights_bytes) + " weights + "
                 + format_bytes(estimate.working_bytes) + " at " + format_count(options.max_length)
                 + " tokens; " + format_bytes(estimate.free_bytes)
                 + " free: " + (estimate.fits ? "fits" : "does not fit"));
    for (const std::string& warning : info.warnings)
        line("warning", warning);
}

void run_models(const ModelOptions& options) {
    const std::vector<CachedModel> models = list_hub_models();
    if (options.json) {
        Json list = Json::array();
        for (const CachedModel& model : models)
            list.push_back(
                {{"name", model.name}, {"path", model.path.string()}, {"bytes", model.bytes}});
        print_json(list);
        return;
    }
    if (models.empty())
        std::fprintf(stderr,
                     "the Hugging Face hub cache holds no model with a config and weights\n");
    std::vector<std::vector<std::string>> rows;
    for (const CachedModel& model : models)
        rows.push_back({model.name, format_bytes(model.bytes), model.path.string()});
    if (!rows.empty())
        print_table({"model", "size", "path"}, rows);
}

void run_tokenize(const ModelOptions& options) {
    const Tokenizer tokenizer = load_tokenizer(options.model);
    const std::string text = read_text(options.file);
    const TokenizedText tokens = tokenizer.encode(text, {.parse_special = options.special});
    if (options.json) {
        Json spans = Json::array();
        for (const ByteSpan span : tokens.spans)
            spans.push_back({span.begin, span.end});
        Json out{{"ids", tokens.ids}, {"spans", std::move(spans)}};
        if (tokens.dropped_bytes > 0)
            out["dropped_bytes"] = tokens.dropped_bytes;
        print_json(out);
        return;
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
        const ByteSpan span = tokens.spans[i];
        rows.push_back({std::to_string(tokens.ids[i]),
                        std::to_string(span.begin) + ".." + std::to_string(span.end),
                        "'" + tokenizer.token_bytes(tokens.ids[i]) + "'"});
    }
    print_table({"id", "bytes", "text"}, rows);
    if (tokens.dropped_bytes > 0)
        std::fprintf(stderr, "warning: the vocabulary has no token for %lld bytes of the text\n",
                     static_cast<long long>(tokens.dropped_bytes));
}

void run_template(const ModelOptions& options) {
    std::optional<ModelTemplate> model_template = load_chat_template(options.model);
    if (!model_template)
        throw Error(ErrorCode::not_found,
                    "has no chat template (chat_template.jinja, tokenizer_config.json "
                    "or tokenizer.chat_template)",
                    options.model);
    TemplateContext context = model_template->context;
    context.add_generation_prompt = !options.no_generation_prompt;
    if (!options.tools.empty())
        context.tools_json = read_text(options.tools);
    context.variables_json = options.variables;
    const std::string text =
        model_template->chat_template.render_json(read_text(options.file), context);
    if (options.json)
        print_json({{"text", text}, {"template", model_template->found_in}});
    else
        std::fwrite(text.data(), 1, text.size(), stdout);
}

struct Finding {
    std::string name;
    std::string value;
    bool good = true;
    std::string hint;
};

std::vector<Finding> examine() {
    std::vector<Finding> findings;
    findings.push_back({"cuset", CUSET_VERSION, true, {}});
    findings.push_back({"LibTorch", torch_version(), true, {}});
    findings.push_back({"cores", std::to_string(std::thread::hardware_concurrency()), true, {}});
    bool has_cuda = false;
    for (const DeviceInfo& device : list_devices()) {
        has_cuda = has_cuda || device.name.starts_with("cuda");
        findings.push_back({"device " + device.name,
                            device.description + ", " + format_bytes(device.free_bytes) + " of "
                                + format_bytes(device.total_bytes) + " free, bfloat16 "
                                + (device.bfloat16 ? "in hardware" : "emulated"),
                            true,
                            {}});
    }
    const bool has_gpu = std::filesystem::exists("/dev/nvidia0");
    if (has_gpu && !has_cuda)
        findings.push_back({"NVIDIA GPU", "seen, but LibTorch cannot use it", false,
                            "run packaging/setup --cuda to add LibTorch's CUDA libraries"});
    const std::size_t cached = list_hub_models().size();
    findings.push_back({"hub cache", std::to_string(cached) + " models", true, {}});
    for (const char* name : {"HF_HOME", "HF_HUB_CACHE", "CUSET_TORCH_DIR", "CUSET_CACHE_DIR"})
        if (const char* value = std::getenv(name))
            findings.push_back({name, value, true, {}});
    return findings;
}

void run_doctor(const ModelOptions& options) {
    const std::vector<Finding> findings = examine();
    if (options.json) {
        Json list = Json::array();
        for (const Finding& finding : findings)
            list.push_back({{"name", finding.name},
                            {"value", finding.value},
                            {"ok", finding.good},
                            {"hint", finding.hint}});
        print_json(list);
        return;
    }
    for (const Finding& finding : findings) {
        std::printf("%-4s %-16s %s\n", finding.good ? "ok" : "!!", finding.name.c_str(),
                    printable(finding.value).c_str());
        if (!finding.hint.empty())
            std::printf("     %-16s %s\n", "", finding.hint.c_str());
    }
}

} // namespace

void add_model_commands(CLI::App& program) {
    const auto add = [&](const char* name, const char* text, void (*run)(const ModelOptions&)) {
        auto options = std::make_shared<ModelOptions>();
        CLI::App* command = program.add_subcommand(name, text);
        command->add_flag("--json", options->json, "print JSON");
        command->callback([options, run] { run(*options); });
        return std::pair(command, options);
    };
    static constexpr const char* model_text =
        "Hugging Face folder, .gguf file, or org/name in the hub cache";

    auto [info, info_options] =
        add("info", "what a model is and the memory it will need", run_info);
    info->add_option("MODEL", info_options->model, model_text)->required();
    info->add_option("--dtype", info_options->dtype, "dtype to estimate memory for")
        ->capture_default_str();
    info->add_option("--max-length", info_options->max_length, "tokens to estimate memory for")
        ->capture_default_str();

    add("models", "models in the Hugging Face hub cache", run_models);

    auto [tokenize, tokenize_options] =
        add("tokenize", "token ids and byte spans of a text", run_tokenize);
    tokenize->add_option("MODEL", tokenize_options->model, model_text)->required();
    tokenize->add_option("FILE", tokenize_options->file, "text file, or - for standard input")
        ->required();
    tokenize->add_flag("--special", tokenize_options->special,
                       "recognise special tokens in the text");

    auto [chat, chat_options] =
        add("template", "a conversation as the model sees it", run_template);
    chat->add_option("MODEL", chat_options->model, model_text)->required();
    chat->add_option("MESSAGES", chat_options->file,
                     "JSON array of messages ({\"role\", \"content\"}), or - for standard input")
        ->required();
    chat->add_option("--tools", chat_options->tools, "JSON file with an array of tools");
    chat->add_option("--variables", chat_options->variables,
                     "JSON object of further template variables");
    chat->add_flag("--no-generation-prompt", chat_options->no_generation_prompt,
                   "do not open the assistant's turn at the end");

    add("doctor", "what is installed, which devices are seen, what is missing", run_doctor);
}

} // namespace cuset::cli
