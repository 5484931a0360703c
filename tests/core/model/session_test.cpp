// InferenceSession: prompt rules, progress and stop, adapters against peft, generation, and bad
// input.
#include "core/model/inference_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "tests/core/model/fixture.h"

namespace cuset {
namespace {

using nlohmann::json;
using testing::HasSubstr;

SessionOptions float32() {
    SessionOptions options;
    options.device = "cpu";
    options.dtype = "float32";
    return options;
}

InferenceSession open(const std::filesystem::path& path, SessionOptions options = float32()) {
    RunControl control;
    return InferenceSession(path.string(), options, control);
}

Sample sample_of(const std::string& prompt, const std::string& response) {
    Sample sample;
    sample.id = "s";
    sample.prompt = prompt;
    sample.response = response;
    return sample;
}

void expect_error(ErrorCode code, const std::string& says, const std::function<void()>& run) {
    try {
        run();
        ADD_FAILURE() << "no error; expected: " << says;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_THAT(error.what(), HasSubstr(says));
    }
}

TEST(Session, InfoSaysWhatWasLoaded) {
    const InferenceSession session = open(test::model_path("qwen3"));
    EXPECT_EQ(session.info().family, "qwen3");
    EXPECT_EQ(session.info().stored_dtype, "BF16");
    EXPECT_EQ(session.info().dtype, "float32");
    EXPECT_EQ(session.info().device, "cpu");
    EXPECT_EQ(session.info().template_source, "chat_template.jinja");
    EXPECT_EQ(session.info().model_sha256.size(), 64u);
    EXPECT_EQ(inspect_model(test::model_path("qwen3").string()).model_sha256,
              session.info().model_sha256);
    EXPECT_NE(session.info().model_sha256, open(test::model_path("llama")).info().model_sha256);
}

TEST(Session, TemplateEndsTheTurn) {
    const InferenceSession session = open(test::model_path("qwen2"));
    const Sample sample = sample_of("Hi", "x <|im_end|> y");
    EXPECT_EQ(session.render_prompt(sample, {}),
              "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
    const Encoding encoding = session.encode(sample, {});
    const std::int32_t end = *session.tokenizer().find_token("<|im_end|>");
    EXPECT_EQ(encoding.ids.back(), end);
    EXPECT_TRUE(encoding.spans.back().empty());
    EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.end(), end),
              2); // prompt's and the last
    EXPECT_EQ(encoding.ids.size(),
              static_cast<std::size_t>(encoding.response_begin + encoding.response_tokens()));
    PromptOptions none;
    none.chat_template = "none";
    EXPECT_FALSE(session.encode(sample, none).spans.back().empty());
}

TEST(Session, MaximumLengthCutsTheEndOfTheResponse) {
    const InferenceSession session = open(test::model_path("qwen2"));
    const Sample sample = sample_of("Hi", "int i = blockIdx.x * blockDim.x + threadIdx.x;");
    const Encoding whole = session.encode(sample, {});
    PromptOptions options;
    options.max_length = whole.response_begin + 3;
    const Encoding cut = session.encode(sample, options);
    EXPECT_EQ(cut.response_tokens(), 3);
    EXPECT_EQ(cut.cut_tokens, whole.response_tokens() - 3);
    EXPECT_FALSE(cut.spans.back().empty()); // no end token
    options.max_length = whole.response_begin;
    expect_error(ErrorCode::bad_value, "no response token is left",
                 [&] { session.encode(sample, options); });
    expect_error(ErrorCode::bad_value, "response is empty",
                 [&] { session.encode(sample_of("Hi", ""), {}); });
}

TEST(Session, PreparedIdsAreUsedAsTheyStand) {
    InferenceSession session = open(test::model_path("qwen2"));
    Sample sample;
    sample.id = "p";
    sample.prepared = {{5, 6, 7, 8}, 2, {1, 0}};
    RunControl control;
    const ScoredSample scored = session.score(sample, {}, control);
    EXPECT_EQ(scored.encoding.ids, sample.prepared.ids);
    EXPECT_EQ(scored.encoding.response_begin, 2);
    EXPECT_EQ(scored.labels, (std::vector<LabelBits>{kernel_bit, 0}));
    EXPECT_EQ(scored.sample.response,
              session.tokenizer().token_bytes(7) + session.tokenizer().token_bytes(8));
    sample.prepared.ids[3] = 100000;
    expect_error(ErrorCode::bad_value, "100000 is outside",
                 [&] { session.score(sample, {}, control); });
}

TEST(Session, APrefixScoresAlike) {
    // Teacher forcing is causal: what comes later changes nothing. Long enough for several blocks
    // of rows.
    InferenceSession session = open(test::model_path("mistral-window"));
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += "    c[i] = a[i] + b[" + std::to_string(i) + "];\n";
    RunControl control;
    ScoreOptions options;
    options.prompt.chat_template = "none";
    const ScoredSample whole = session.score(sample_of("x", text), options, control);
    ASSERT_GT(whole.scores.log_prob.size(), 600u);
    options.prompt.max_length = 301;
    const ScoredSample part = session.score(sample_of("x", text), options, control);
    for (std::size_t t = 0; t < part.scores.log_prob.size(); ++t)
        EXPECT_NEAR(part.scores.log_prob[t], whole.scores.log_prob[t], 2e-5) << t;
}

TEST(Session, AdaptersEqualPeft) {
    const json golden = test::read_json(test::data_folder() / "adapter" / "golden.json");
    const json samples = test::read_json(test::model_path("qwen2") / "golden.json");
    for (const auto& [name, expected] : golden.items()) {
        SessionOptions options = float32();
        options.adapter = (test::data_folder() / "adapter" / name).string();
        InferenceSession session = open(test::model_path("qwen2"), options);
        EXPECT_EQ(session.provenance({}).adapter, options.adapter);
        EXPECT_THAT(session.provenance({}).created_by, HasSubstr(", LibTorch " + torch_version()));
        RunControl control;
        ScoreOptions plain;
        plain.prompt.chat_template = "none";
        for (std::size_t n = 0; n < expected.size(); ++n) {
            const ScoredSample scored = session.score(
                sample_of(samples[n]["prompt"], samples[n]["response"]), plain, control);
            ASSERT_EQ(scored.scores.log_prob.size(), expected[n].size());
            for (std::size_t t = 0; t < expected[n].size(); ++t)
                EXPECT_NEAR(scored.scores.log_prob[t], expected[n][t].get<double>(), 1e-4)
                    << name << " sample " << n << " token " << t;
        }
    }
}

TEST(Session, AnAdapterIsSwappedUnderALoadedModel) {
    const json samples = test::read_json(test::model_path("qwen2") / "golden.json");
    const auto folder = [](const char* name) {
        return (test::data_folder() / "adapter" / name).string();
    };
    RunControl control;
    ScoreOptions plain;
    plain.prompt.chat_template = "none";
    const Sample sample = sample_of(samples[0]["prompt"], samples[0]["response"]);
    const auto loaded_with = [&](const std::string& adapter) {
        SessionOptions options = float32();
        options.adapter = adapter;
        InferenceSession session = open(test::model_path("qwen2"), options);
        return session.score(sample, plain, control).scores.log_prob;
    };
    InferenceSession session = open(test::model_path("qwen2"), float32());
    const auto now = [&] { return session.score(sample, plain, control).scores.log_prob; };
    const auto base = now();
    for (const char* name : {"plain", "patterns", "plain"}) {
        session.set_adapter(folder(name));
        EXPECT_EQ(session.adapter(), folder(name));
        EXPECT_EQ(session.provenance(plain).adapter, folder(name));
        EXPECT_EQ(now(), loaded_with(folder(name))) << name;
    }
    expect_error(ErrorCode::not_found, "adapter_config.json",
                 [&] { session.set_adapter("/nowhere"); });
    EXPECT_EQ(session.adapter(), folder("plain")) << "the old one stays";
    EXPECT_EQ(now(), loaded_with(folder("plain")));
    session.set_adapter("");
    EXPECT_EQ(now(), base);
}

TEST(Session, AdaptersThatAreNotHandledAreNamed) {
    const test::ModelCopy copy("qwen2");
    std::filesystem::copy(test::data_folder() / "adapter" / "plain", copy.path() / "adapter");
    SessionOptions options = float32();
    options.adapter = (copy.path() / "adapter").string();
    const json config = test::read_json(copy.path() / "adapter" / "adapter_config.json");
    const auto refuse = [&](const json& change, const char* says) {
        json changed = config;
        changed.update(change);
        copy.write("adapter/adapter_config.json", changed.dump());
        expect_error(ErrorCode::unsupported, says, [&] { open(copy.path(), options); });
    };
    refuse({{"modules_to_save", {"lm_head", "norm"}}}, "modules_to_save with \"norm\"");
    refuse({{"init_lora_weights", "pissa_niter_4"}}, "init_lora_weights 'pissa_niter_4'");
    refuse({{"lora_bias", true}}, "lora_bias");
    refuse({{"layer_replication", {{0, 2}, {1, 3}}}}, "layer_replication");
    refuse({{"a_setting_of_tomorrow", {{"x", 1}}}}, "a_setting_of_tomorrow");
    refuse({{"rank_pattern", {{"^model.layers.1.*", 2}}}}, "regular expression");
    refuse({{"peft_type", "LOHA"}}, "'LOHA'");
    refuse({{"bias", "all"}}, "biases");
    copy.write("adapter/adapter_config.json", config.dump());
    expect_error(ErrorCode::bad_value, "the adapter belongs to another model", [&] {
        SessionOptions other = options;
        open(test::model_path("qwen3"), other);
    });
}

TEST(Session, GreedyGenerationIsWhatScoringSays) {
    InferenceSession session = open(test::model_path("llama"));
    RunControl control;
    const auto prompt = session.tokenizer().encode("__global__ void").ids;
    GenerateOptions options;
    options.max_tokens = 12;
    options.alternatives = 3;
    int seen = 0;
    const auto tokens = session.generate(
        prompt, options, [&](const GeneratedToken&) { return ++seen < 10; }, control);
    ASSERT_GE(tokens.size(), 1u);
    EXPECT_LE(seen, 10);
    Sample sample;
    sample.prepared.ids = prompt;
    sample.prepared.prompt_tokens = static_cast<std::int32_t>(prompt.size());
    for (const GeneratedToken& token : tokens)
        sample.prepared.ids.push_back(token.id);
    const ScoredSample scored = session.score(sample, {}, control);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        EXPECT_EQ(tokens[t].rank, 0);
        EXPECT_EQ(tokens[t].top_ids[0], tokens[t].id);
        EXPECT_NEAR(tokens[t].log_prob, scored.scores.log_prob[t], 1e-4);
        EXPECT_NEAR(tokens[t].entropy, scored.scores.entropy[t], 1e-4);
    }
}

TEST(Session, SamplingIsRepeatable) {
    InferenceSession session = open(test::model_path("llama"));
    RunControl control;
    GenerateOptions options;
    options.max_tokens = 20;
    options.temperature = 1.0;
    options.top_p = 0.9;
    const auto run = [&] {
        std::vector<std::int32_t> ids;
        for (const auto& token : session.generate({5, 6}, options, {}, control))
            ids.push_back(token.id);
        return ids;
    };
    const auto first = run();
    EXPECT_EQ(first, run());
    options.seed = 43;
    EXPECT_NE(first, run());
}

TEST(Session, AStopIsHeardWithinASample) {
    InferenceSession session = open(test::model_path("llama"));
    RunControl* seen = nullptr;
    int reports = 0;
    RunControl control(
        [&](const Progress& progress) {
            if (progress.stage == "scoring" && ++reports == 2)
                seen->request_stop();
        },
        std::chrono::milliseconds(0));
    seen = &control;
    EXPECT_THROW(session.score(sample_of("a", "int x = 1;"), {}, control), Cancelled);
}

TEST(Session, ACorpusKeepsWhatIsDoneAndListsWhatIsNot) {
    InferenceSession session = open(test::model_path("llama"));
    const std::vector<Sample> samples{sample_of("a", "int x = 1;"), sample_of("b", ""),
                                      sample_of("c", "k<<<1, 32>>>();"),
                                      sample_of("d", "float y;")};
    RunControl control;
    int seen = 0;
    const ScoreRun run = score_samples(
        session, samples, {}, [&](const ScoredSample&) { ++seen; }, control);
    EXPECT_EQ(seen, 3);
    EXPECT_EQ(run.scores->sample_count(), 3);
    ASSERT_EQ(run.skipped.size(), 1u);
    EXPECT_THAT(run.skipped[0].reason, HasSubstr("empty"));
    EXPECT_FALSE(run.stopped);

    RunControl stopping;
    const ScoreRun half = score_samples(
        session, samples, {}, [&](const ScoredSample&) { stopping.request_stop(); }, stopping);
    EXPECT_TRUE(half.stopped);
    EXPECT_EQ(half.scores->sample_count(), 1);
}

TEST(BadModel, IsRefusedWithItsReason) {
    expect_error(ErrorCode::not_found, "", [] { open("no/such/model"); });
    {
        const test::ModelCopy copy("llama");
        copy.change_config([](json& c) { c["hidden_size"] = 128; });
        expect_error(ErrorCode::bad_value,
                     "model.embed_tokens.weight: shape [704, 64], config.json needs [704, 128]",
                     [&] { open(copy.path()); });
    }
    {
        const test::ModelCopy copy("llama");
        copy.change_config([](json& c) { c["num_hidden_layers"] = 4; });
        expect_error(ErrorCode::not_found, "model.layers.3", [&] { open(copy.path()); });
    }
    {
        const test::ModelCopy copy("llama");
        std::filesystem::remove(copy.path() / "tokenizer.json");
        expect_error(ErrorCode::not_found, "tokenizer.json", [&] { open(copy.path()); });
    }
    {
        const test::ModelCopy copy("llama");
        std::filesystem::remove(copy.path() / "config.json");
        expect_error(ErrorCode::not_found, "config.json", [&] { open(copy.path()); });
    }
}

TEST(BadModel, DevicesAndTypes) {
    SessionOptions options = float32();
    options.device = "gpu";
    expect_error(ErrorCode::usage, "'gpu'", [&] { open(test::model_path("llama"), options); });
    options.device = "cpu";
    options.dtype = "int4";
    expect_error(ErrorCode::usage, "'int4'", [&] { open(test::model_path("llama"), options); });
    if (list_devices().size() == 1) {
        options.device = "cuda:7";
        options.dtype = "auto";
        expect_error(ErrorCode::no_device, "cuda:7",
                     [&] { open(test::model_path("llama"), options); });
    }
}

TEST(Memory, RefusesBeforeTheMachineSwaps) {
    // A model of 70 billion parameters by its config; its weights are never looked at.
    const test::ModelCopy copy("llama");
    copy.change_config([](json& c) {
        c["hidden_size"] = 65536;
        c["intermediate_size"] = 1 << 20;
        c["num_hidden_layers"] = 80;
        c["num_attention_heads"] = 64;
        c["num_key_value_heads"] = 8;
        c["head_dim"] = 128;
    });
    expect_error(ErrorCode::out_of_memory, "are free", [&] { open(copy.path()); });
    const auto estimates = estimate_memory(copy.path().string(), "float32", 4096);
    ASSERT_FALSE(estimates.empty());
    EXPECT_FALSE(estimates[0].fits);
    EXPECT_TRUE(estimate_memory(test::model_path("llama").string(), "float32", 512)[0].fits);
}

} // namespace
} // namespace cuset
