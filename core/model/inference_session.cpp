#include "core/model/inference_session.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/cuda/structure.h"
#include "core/cuda/token_labels.h"
#include "core/model/causal_lm.h"
#include "core/model/device_info.h"
#include "core/model/generator.h"
#include "core/model/lora.h"
#include "core/model/memory_estimate.h"
#include "core/model/model_files.h"
#include "core/model/prompt_encoder.h"
#include "core/model/response_tokens.h"
#include "core/model/row_statistics.h"
#include "core/model/scorer.h"
#include "core/model/torch_errors.h"
#include "core/model/weight_loader.h"
#include "core/model/weight_source.h"

namespace cuset {
namespace {

// Refused at load rather than at the first sample: what a usual sample takes.
constexpr std::int32_t usual_length = 4096;

std::unique_ptr<WeightSource> weights_of(const ModelFiles& files) {
    return files.gguf ? open_weights(*files.gguf, files.config) : open_weights(*files.folder);
}

at::ScalarType scalar_type(const std::string& dtype) {
    if (dtype == "float32")
        return at::kFloat;
    return dtype == "bfloat16" ? at::kBFloat16 : at::kHalf;
}

// Tells models apart without reading gigabytes: names, types, shapes, and both ends of each tensor.
std::string weights_fingerprint(const WeightSource& source) {
    constexpr std::size_t end_bytes = 4096;
    Sha256 sha;
    source.visit(
        [&](const std::string& name, const std::string& kind, std::span<const std::byte> bytes) {
            sha.update(name + " " + kind + "\n");
            sha.update(bytes.first(std::min(end_bytes, bytes.size())));
            sha.update(bytes.last(std::min(end_bytes, bytes.size())));
        });
    return sha.hex_digest();
}

ModelInfo describe(const ModelFiles& files, const WeightSource& source) {
    const ModelConfig& c = files.config;
    ModelInfo info;
    info.name = files.location.name;
    info.path = files.location.path.string();
    info.family = std::string(model_family_name(c.family));
    info.parameters = c.parameters();
    info.stored_dtype = source.stored_dtype();
    info.context_length = static_cast<std::int32_t>(c.context_length);
    info.vocabulary = static_cast<std::int32_t>(c.vocabulary);
    info.layers = static_cast<std::int32_t>(c.layers);
    info.hidden = static_cast<std::int32_t>(c.hidden);
    info.heads = static_cast<std::int32_t>(c.heads);
    info.kv_heads = static_cast<std::int32_t>(c.kv_heads);
    info.template_source = files.template_source;
    info.warnings = files.warnings;
    info.model_sha256 = weights_fingerprint(source);
    return info;
}

// Drops the scores of tokens that are only context.
void keep_scored(const Encoding& encoding, TokenScores& scores) {
    if (encoding.rows.empty())
        return;
    const auto k = static_cast<std::size_t>(scores.top_k);
    const std::size_t count = encoding.rows.size();
    for (std::size_t t = 0; t < count; ++t) {
        const auto row = static_cast<std::size_t>(encoding.rows[t]);
        scores.log_prob[t] = scores.log_prob[row];
        scores.entropy[t] = scores.entropy[row];
        scores.entropy_top20[t] = scores.entropy_top20[row];
        scores.rank[t] = scores.rank[row];
        for (std::size_t i = 0; i < k; ++i) {
            scores.top_ids[t * k + i] = scores.top_ids[row * k + i];
            scores.top_log_probs[t * k + i] = scores.top_log_probs[row * k + i];
        }
    }
    scores.log_prob.resize(count);
    scores.entropy.resize(count);
    scores.entropy_top20.resize(count);
    scores.rank.resize(count);
    scores.top_ids.resize(count * k);
    scores.top_log_probs.resize(count * k);
}

} // namespace

ModelInfo inspect_model(const std::string& name_or_path) {
    const ModelFiles files = open_model_files(name_or_path);
    ModelInfo info = describe(files, *weights_of(files));
    info.tokenizer_sha256 = load_tokenizer(files).sha256;
    return info;
}

struct InferenceSession::Impl {
    ModelInfo info;
    std::string adapter;
    std::optional<Tokenizer> tokenizer;
    std::unique_ptr<PromptEncoder> encoder;
    std::vector<std::int32_t> end_ids;
    CausalLM model;
    Scorer scorer;

    Impl(const std::string& name_or_path, const SessionOptions& options, RunControl& control) {
        control.checkpoint({"opening the model", 0, 0, ""});
        const ModelFiles files = open_model_files(name_or_path);
        const auto source = weights_of(files);
        info = describe(files, *source);
        LoadedTokenizer loaded = load_tokenizer(files);
        info.tokenizer_sha256 = loaded.sha256;
        tokenizer.emplace(std::move(loaded.tokenizer));
        encoder = std::make_unique<PromptEncoder>(files, *tokenizer, info.warnings);
        end_ids = files.config.eos_ids;
        if (const auto end = encoder->end_token({}))
            end_ids.push_back(*end);
        load(files, *source, options, control);
    }

    void load(const ModelFiles& files, const WeightSource& source, const SessionOptions& options,
              RunControl& control) {
        const ChosenDevice device = choose_device(options.device);
        info.device = device.info.name;
        info.dtype = choose_dtype(options.dtype, device.info);
        if (!options.ignore_memory_limit)
            require_memory(estimate_for(files.config, info.dtype, usual_length, device.info),
                           info.path);
        configure_compute(device, options.threads);
        const at::Device target = device.cuda
            ? at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device.index))
            : at::Device(at::kCPU);
        const at::ScalarType dtype = scalar_type(info.dtype);
        with_torch_errors(info.path, [&] {
            model = load_model(files.config, source, dtype, target, control);
            if (!options.adapter.empty()) {
                attach_adapter(model, options.adapter, dtype);
                adapter = options.adapter;
            }
        });
    }

    void set_adapter(const std::string& folder) {
        if (folder == adapter)
            return;
        std::vector<std::vector<LowRankBranch>> old;
        for (Linear* linear : model.linears())
            old.push_back(std::exchange(linear->branches, {}));
        try {
            if (!folder.empty())
                with_torch_errors(folder,
                                  [&] { attach_adapter(model, folder, scalar_type(info.dtype)); });
        } catch (...) {
            std::size_t at = 0;
            for (Linear* linear : model.linears())
                linear->branches = std::move(old[at++]);
            throw;
        }
        adapter = folder;
    }

    // `before` tokens of `total` were scored before this sample; total 0: the sample is all there
    // is.
    ScoredSample score(const Sample& sample, Encoding encoding, const ScoreOptions& options,
                       std::int64_t before, std::int64_t total, RunControl& control) {
        const auto length = static_cast<std::int64_t>(encoding.ids.size());
        ScoredSample scored;
        scored.sample = sample;
        if (!sample.prepared.ids.empty())
            scored.sample.response = prepared_response(sample, *tokenizer);
        scored.encoding = std::move(encoding);
        scored.scores = with_torch_errors("sample " + printable(sample.id, 80), [&] {
            return scorer.score(model, scored.encoding.ids, scored.encoding.response_begin,
                                options.top_k, [&](std::int64_t done) {
                                    control.checkpoint({"scoring", before + done,
                                                        total > 0 ? total : length, "tokens"});
                                });
        });
        keep_scored(scored.encoding, scored.scores);
        scored.labels = label_response(scored.sample, scored.encoding);
        return scored;
    }
};

InferenceSession::InferenceSession(const std::string& name_or_path, const SessionOptions& options,
                                   RunControl& control)
    : impl_(std::make_unique<Impl>(name_or_path, options, control)) { }

InferenceSession::~InferenceSession() = default;
InferenceSession::InferenceSession(InferenceSession&&) noexcept = default;
InferenceSession& InferenceSession::operator=(InferenceSession&&) noexcept = default;

const ModelInfo& InferenceSession::info() const {
    return impl_->info;
}

void InferenceSession::set_adapter(const std::string& folder) {
    impl_->set_adapter(folder);
}

const std::string& InferenceSession::adapter() const {
    return impl_->adapter;
}

const Tokenizer& InferenceSession::tokenizer() const {
    return *impl_->tokenizer;
}

const ChatTemplate* InferenceSession::chat_template() const {
    return impl_->encoder->own_template();
}

std::string InferenceSession::render_prompt(const Sample& sample,
                                            const PromptOptions& options) const {
    return impl_->encoder->render(sample, options);
}

Encoding InferenceSession::encode(const Sample& sample, const PromptOptions& options) const {
    return impl_->encoder->encode(sample, options);
}

namespace {

void check_score_options(const ScoreOptions& options) {
    if (options.top_k < 0 || options.top_k > largest_top_k)
        throw Error(ErrorCode::usage,
                    "top-k is " + std::to_string(options.top_k) + ", needed 0 to "
                        + std::to_string(largest_top_k));
}

} // namespace

ScoredSample InferenceSession::score(const Sample& sample, const ScoreOptions& options,
                                     RunControl& control) {
    return score(sample, encode(sample, options.prompt), options, 0, 0, control);
}

ScoredSample InferenceSession::score(const Sample& sample, Encoding encoding,
                                     const ScoreOptions& options, std::int64_t tokens_before,
                                     std::int64_t tokens_total, RunControl& control) {
    check_score_options(options);
    return impl_->score(sample, std::move(encoding), options, tokens_before, tokens_total, control);
}

std::vector<GeneratedToken> InferenceSession::generate(
    const std::vector<std::int32_t>& prompt_ids, const GenerateOptions& options,
    const std::function<bool(const GeneratedToken&)>& on_token, RunControl& control) {
    const GeneratorEnds ends{impl_->end_ids,
                             [&](std::int32_t id) { return impl_->tokenizer->token_bytes(id); }};
    return with_torch_errors("generate", [&] {
        return generate_tokens(impl_->model, prompt_ids, options, ends, on_token, control);
    });
}

ScoreProvenance InferenceSession::provenance(const ScoreOptions& options) const {
    ScoreProvenance p;
    p.created_by = "CuSeT Studio " CUSET_VERSION ", LibTorch " + torch_version();
    p.model = impl_->info.path;
    p.model_sha256 = impl_->info.model_sha256;
    p.tokenizer_sha256 = impl_->info.tokenizer_sha256;
    p.adapter = impl_->adapter;
    p.chat_template = impl_->encoder->template_record(options.prompt);
    p.dtype = impl_->info.dtype;
    p.device = impl_->info.device;
    p.max_length = options.prompt.max_length;
    p.response = options.prompt.response;
    return p;
}

} // namespace cuset
