// InferenceSession: a loaded model with its tokenizer and template, ready to score and to generate.
// No header of this room that others include mentions torch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/data/sample.h"
#include "core/data/score_set.h"
#include "core/data/scored_sample.h"
#include "core/text/chat_template.h"
#include "core/text/tokenizer.h"

namespace cuset {

struct SessionOptions {
    std::string device = "auto"; // auto, cpu, cuda, cuda:N
    std::string dtype =
        "auto"; // auto, float32, bfloat16, float16; auto: bfloat16 where the processor has it
    int threads = 0; // 0: as many as there are cores
    std::string adapter; // folder of a PEFT LoRA adapter, or ""
    bool ignore_memory_limit = false; // load even if the estimate says that it does not fit
};

struct ModelInfo {
    std::string name;
    std::string path;
    std::string family; // llama, qwen2, qwen3, mistral, ...
    std::int64_t parameters = 0;
    std::string stored_dtype; // as stored, e.g. "BF16", "Q4_1"
    std::string dtype; // as computed with: float32, bfloat16, float16 ("" before loading)
    std::string device; // "cpu", "cuda:0" ("" before loading)
    std::int32_t context_length = 0;
    std::int32_t vocabulary = 0;
    std::int32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0;
    std::string template_source; // where the chat template was found, or ""
    std::vector<std::string> warnings;
    // SHA-256 of what tells models apart without reading all of them: the name, type, shape, and
    // the first and last 4096 bytes of every tensor. Not the hash of a file.
    std::string model_sha256;
    std::string tokenizer_sha256; // of tokenizer.json, or of a GGUF file's tokens and merges
};

struct MemoryEstimate {
    std::string device;
    std::uint64_t weights_bytes = 0;
    std::uint64_t working_bytes = 0; // at max_length tokens
    std::uint64_t free_bytes = 0;
    bool fits = true;
};

// Reads config and headers only. Throws Error like InferenceSession's constructor.
ModelInfo inspect_model(const std::string& name_or_path);
// One estimate for each device seen, for scoring at `max_length` tokens.
std::vector<MemoryEstimate> estimate_memory(const std::string& name_or_path,
                                            const std::string& dtype, std::int32_t max_length);

// The tokenizer alone, without weights. Throws Error like InferenceSession's constructor.
Tokenizer load_tokenizer(const std::string& name_or_path);

// A model's own chat template with the special tokens that it may read.
struct ModelTemplate {
    ChatTemplate chat_template;
    TemplateContext context;
    std::string found_in; // the file or GGUF key it was found in
};
// Nothing if the model has none. Throws Error like InferenceSession's constructor.
std::optional<ModelTemplate> load_chat_template(const std::string& name_or_path);

struct PromptOptions {
    std::string chat_template = "auto"; // auto, none, or a Jinja file's path
    std::int32_t max_length = 4096; // tokens, prompt and response together
    ResponseChoice response = ResponseChoice::whole;
};

struct ScoreOptions {
    PromptOptions prompt;
    std::int32_t top_k = 5; // 0 .. 64
};

struct GenerateOptions {
    std::int32_t max_tokens = 512;
    double temperature = 0; // 0: greedy
    double top_p = 1.0;
    std::int32_t top_k = 0; // 0: all
    std::uint64_t seed = 42;
    std::int32_t alternatives = 5;
};

struct GeneratedToken {
    std::int32_t id = 0;
    std::string bytes;
    float log_prob = 0; // of the model's own distribution, whatever the sampling
    float entropy = 0; // nats
    std::int32_t rank = 0;
    std::vector<std::int32_t> top_ids;
    std::vector<float> top_log_probs;
};

class InferenceSession {
public:
    // Loads. Throws Error (not_found, bad_format, unsupported, out_of_memory with the estimate,
    // no_device), Cancelled.
    InferenceSession(const std::string& name_or_path, const SessionOptions& options,
                     RunControl& control);
    ~InferenceSession();
    InferenceSession(InferenceSession&&) noexcept;
    InferenceSession& operator=(InferenceSession&&) noexcept;

    const ModelInfo& info() const;
    const Tokenizer& tokenizer() const;
    const ChatTemplate* chat_template() const; // the model's own, or null

    // Puts the PEFT LoRA adapter in `folder` in the place of the present one; "" takes it away. The
    // base weights stay where they are. Throws Error as the constructor does for an adapter; the
    // present one stays then.
    void set_adapter(const std::string& folder);
    const std::string& adapter() const; // the folder, or ""

    // The sample's prompt as the model sees it, before tokenising.
    std::string render_prompt(const Sample& sample, const PromptOptions& options) const;
    // Throws Error(bad_value) if no response token is left within max_length, or the response is
    // empty.
    Encoding encode(const Sample& sample, const PromptOptions& options) const;

    // Teacher-forced scores and CUDA labels of every response token. float32 statistics on any
    // dtype. Calls control.checkpoint within long samples. Throws Error, Cancelled.
    ScoredSample score(const Sample& sample, const ScoreOptions& options, RunControl& control);
    // The same as a part of more work: `encoding` is what encode made of the sample; progress
    // counts on from `tokens_before` of `tokens_total`.
    ScoredSample score(const Sample& sample, Encoding encoding, const ScoreOptions& options,
                       std::int64_t tokens_before, std::int64_t tokens_total, RunControl& control);

    // Continues `prompt_ids`; `on_token` sees each token as it comes and returns false to stop.
    std::vector<GeneratedToken> generate(const std::vector<std::int32_t>& prompt_ids,
                                         const GenerateOptions& options,
                                         const std::function<bool(const GeneratedToken&)>& on_token,
                                         RunControl& control);

    ScoreProvenance provenance(const ScoreOptions& options) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

struct SkippedSample {
    std::string id;
    std::string reason;
};

struct ScoreRun {
    std::shared_ptr<const ScoreSet> scores;
    std::vector<SkippedSample> skipped;
    std::int64_t cut_samples = 0; // samples cut at max_length
    std::int64_t plain_controls = 0; // words like control tokens that were encoded as text
    bool stopped = false; // a stop was asked for; scores hold what was done
};

// Scores all samples; `on_sample` (may be empty) sees each as it is done, on the calling thread. A
// stop keeps what is done. Samples that cannot be scored are skipped and listed. Progress: stage
// "scoring", unit "tokens".
ScoreRun score_samples(InferenceSession& session, const std::vector<Sample>& samples,
                       const ScoreOptions& options,
                       const std::function<void(const ScoredSample&)>& on_sample,
                       RunControl& control);

// "0 cpu", "cuda:0 NVIDIA H200, 139 GiB": devices that can be used, cpu first.
struct DeviceInfo {
    std::string name; // "cpu", "cuda:0"
    std::string description;
    std::uint64_t total_bytes = 0, free_bytes = 0;
    bool bfloat16 = false; // in hardware
};
std::vector<DeviceInfo> list_devices();
std::string torch_version();

} // namespace cuset
