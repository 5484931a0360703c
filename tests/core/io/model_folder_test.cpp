#include "core/io/model_folder.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/io/hub_cache.h"
#include "core/io/shard_index.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

const fs::path cases = fs::path(CUSET_TEST_DATA) / "cases/weights/shards";

template <typename Action> Error error_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    return Error(ErrorCode::failure, "nothing was thrown");
}

Error refusal(const fs::path& folder) {
    return error_of([&] { ModelFolder{folder}; });
}

bool has(const Error& error, const char* text) {
    return std::string(error.what()).find(text) != std::string::npos;
}

// A safetensors file of one F32 tensor.
std::string weights(const std::string& name) {
    const std::string header =
        "{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    return std::string{static_cast<char>(header.size())} + std::string(7, '\0') + header + "1234";
}

std::string index_of(const std::string& tensor, const std::string& shard) {
    return R"({"metadata":{"total_size":4},"weight_map":{")" + tensor + R"(":")" + shard + R"("}})";
}

// Sets the hub's variables for one test.
class HubCache {
public:
    HubCache() { ::setenv("HF_HUB_CACHE", folder_.path().c_str(), 1); }
    ~HubCache() { ::unsetenv("HF_HUB_CACHE"); }
    HubCache(const HubCache&) = delete;
    HubCache& operator=(const HubCache&) = delete;
    const TemporaryFolder& folder() const { return folder_; }

private:
    TemporaryFolder folder_;
};

TEST(ModelFolder, AMissingShardIsNamedWithItsTensors) {
    const Error error = refusal(cases / "missing");
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_TRUE(has(error, "model-00002-of-00003.safetensors"));
    EXPECT_TRUE(has(error, "model.layers.0.mlp.up_proj.weight, model.norm.weight"));
    EXPECT_TRUE(has(error, "incomplete download?"));
}

TEST(ModelFolder, AStaleIndexIsSetAsideWithAWarning) {
    const ModelFolder model(cases / "stale");
    EXPECT_EQ(model.tensor_names().size(), 5u);
    ASSERT_EQ(model.warnings().size(), 1u);
    EXPECT_NE(model.warnings()[0].find("does not belong to these weights"), std::string::npos);
    EXPECT_NE(model.config_json().find("llama"), std::string::npos);
}

TEST(ModelFolder, ATensorThatIsNotWhereTheIndexSaysIsRefused) {
    const Error error = refusal(cases / "wrong-home");
    EXPECT_EQ(error.code(), ErrorCode::bad_value);
    EXPECT_TRUE(has(error,
                    "`model.layers.0.mlp.up_proj.weight` is not in "
                    "model-00002-of-00002.safetensors"));
    EXPECT_TRUE(has(error, "but in model-00001-of-00002.safetensors"));
}

TEST(ModelFolder, GivesTensorsAndTexts) {
    const TemporaryFolder folder;
    folder.write("config.json", "{}");
    folder.write("model.safetensors", weights("w"));
    folder.write("tokenizer.json", "text");
    const ModelFolder model(folder.path());
    EXPECT_TRUE(model.warnings().empty());
    EXPECT_EQ(model.require_tensor("w").shape, std::vector<std::int64_t>{1});
    EXPECT_EQ(model.find_tensor("v"), nullptr);
    EXPECT_EQ(error_of([&] { model.require_tensor("v"); }).code(), ErrorCode::not_found);
    EXPECT_EQ(model.find_text("tokenizer.json"), "text");
    EXPECT_EQ(model.find_text("chat_template.jinja"), std::nullopt);
}

TEST(ModelFolder, FoldersThatAreNoModelSayWhatTheyAre) {
    const TemporaryFolder folder;
    EXPECT_EQ(refusal(folder.path() / "no").code(), ErrorCode::not_found);
    EXPECT_TRUE(has(refusal(folder.path()), "no config.json"));
    folder.write("m.gguf", "GGUF");
    EXPECT_TRUE(has(refusal(folder.path()), "it holds m.gguf, open that file"));
    folder.write("adapter_config.json", "{}");
    EXPECT_TRUE(has(refusal(folder.path()), "is a LoRA adapter"));
    folder.write("config.json", "{}");
    EXPECT_TRUE(has(refusal(folder.path()), "no weights in it"));
    folder.write("adapter_model.safetensors", weights("w"));
    EXPECT_TRUE(has(refusal(folder.path()), "no weights in it"));
    EXPECT_EQ(refusal(folder.path() / "config.json").code(), ErrorCode::bad_value);
}

TEST(ModelFolder, PicklesAreRefusedWithTheWayToConvert) {
    for (const char* name : {"pytorch_model.bin", "model.pt", "model.pth", "model.ckpt",
                             "pytorch_model.bin.index.json", "pytorch_model-00001-of-00002.bin"}) {
        const TemporaryFolder folder;
        folder.write("config.json", "{}");
        folder.write(name, "\x80\x02");
        const Error error = refusal(folder.path());
        EXPECT_EQ(error.code(), ErrorCode::unsupported) << name;
        EXPECT_TRUE(has(error, name)) << error.what();
        EXPECT_TRUE(has(error, "save_pretrained")) << error.what();
    }
}

TEST(ModelFolder, ShardsWithoutAnIndexAreFoundByTheirNames) {
    const TemporaryFolder folder;
    folder.write("config.json", "{}");
    folder.write("model-00001-of-00002.safetensors", weights("a"));
    const Error missing = refusal(folder.path());
    EXPECT_EQ(missing.code(), ErrorCode::not_found);
    EXPECT_TRUE(has(missing, "model-00002-of-00002.safetensors"));
    folder.write("model-00002-of-00002.safetensors", weights("b"));
    const ModelFolder model(folder.path());
    EXPECT_EQ(model.tensor_names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(model.warnings().size(), 1u);
    folder.write("model-00002-of-00002.safetensors", weights("a"));
    EXPECT_EQ(refusal(folder.path()).code(), ErrorCode::bad_value);
    folder.write("other.safetensors", weights("c"));
    EXPECT_EQ(refusal(folder.path()).code(), ErrorCode::not_found);
}

TEST(ModelFolder, OneFileOfAnotherNameIsTakenWithAWarning) {
    const TemporaryFolder folder;
    folder.write("config.json", "{}");
    folder.write("weights.safetensors", weights("a"));
    const ModelFolder model(folder.path());
    EXPECT_EQ(model.warnings().size(), 1u);
    EXPECT_NE(model.find_tensor("a"), nullptr);
}

TEST(ModelFolder, ShardNamesThatLeaveTheFolderAreRefused) {
    // The secret is a whole safetensors file, so that only the check of the name stands before it.
    const TemporaryFolder outside;
    const std::string secret = outside.write("secret.safetensors", weights("w")).string();
    const std::string up = "../" + outside.path().filename().string() + "/secret.safetensors";
    std::vector<std::string> names{secret,
                                   "/" + secret,
                                   "//" + secret,
                                   "/." + secret,
                                   up,
                                   "./" + up,
                                   "../" + up,
                                   "x/../" + up,
                                   "..//" + up.substr(3),
                                   ".././" + up.substr(3),
                                   "../../../../../../../.." + secret,
                                   "sub/model.safetensors",
                                   "./model.safetensors",
                                   "/model.safetensors",
                                   "sub//a.safetensors",
                                   "../model.safetensors",
                                   "../../model.safetensors",
                                   "..",
                                   ".",
                                   "",
                                   "...",
                                   "/",
                                   "//",
                                   "./",
                                   "../",
                                   "..\\\\secret.safetensors",
                                   "sub\\\\a.safetensors",
                                   "C:\\\\secret.safetensors",
                                   "C:secret.safetensors",
                                   "\\\\\\\\host\\\\share\\\\a.safetensors",
                                   "~/secret.safetensors",
                                   "~root/a.safetensors",
                                   "file:///tmp/a.safetensors",
                                   "file:a.safetensors",
                                   "a.safetensors\\u0000.txt",
                                   "a\\u0000.safetensors",
                                   "a\\n.safetensors",
                                   "a\\u001b[2J.safetensors",
                                   ".hidden.safetensors",
                                   "..safetensors",
                                   "...safetensors",
                                   "/dev/zero",
                                   "/proc/self/mem",
                                   "model.bin",
                                   "model.pt",
                                   "config.json",
                                   "model.safetensors ",
                                   "\\u002e\\u002e\\u002fa.safetensors",
                                   "%2e%2e%2fa.safetensors",
                                   "..%2fa.safetensors",
                                   "\xe2\x80\xa6/a.safetensors",
                                   "\xef\xbc\x8f"
                                   "etc.safetensors",
                                   std::string(300, 'n') + ".safetensors"};
    EXPECT_GE(names.size(), 40u);
    for (const std::string& name : names) {
        const TemporaryFolder folder;
        folder.write("config.json", "{}");
        folder.write("sub/model.safetensors", weights("w"));
        folder.write("model.safetensors.index.json", index_of("w", name));
        const Error error = refusal(folder.path());
        EXPECT_NE(error.code(), ErrorCode::failure) << name;
        EXPECT_NE(error.code(), ErrorCode::bad_format) << name << ": " << error.what();
    }
}

TEST(ModelFolder, LinksThatLeaveTheFolderAreRefused) {
    const TemporaryFolder outside;
    outside.write("secret.safetensors", weights("w"));
    outside.write("secret.json", "{}");
    const TemporaryFolder folder;
    folder.write("config.json", "{}");
    fs::create_symlink(outside.path() / "secret.safetensors", folder.path() / "model.safetensors");
    const Error error = refusal(folder.path());
    EXPECT_EQ(error.code(), ErrorCode::bad_value);
    EXPECT_TRUE(has(error, "leaves the model's folder"));
    fs::remove(folder.path() / "model.safetensors");
    folder.write("real.safetensors", weights("w"));
    fs::create_symlink("real.safetensors", folder.path() / "model.safetensors");
    const ModelFolder model(folder.path());
    EXPECT_NE(model.find_tensor("w"), nullptr);
    fs::create_symlink(outside.path() / "secret.json", folder.path() / "tokenizer.json");
    EXPECT_EQ(error_of([&] { model.find_text("tokenizer.json"); }).code(), ErrorCode::bad_value);
    fs::create_symlink("gone", folder.path() / "vocab.json");
    EXPECT_EQ(error_of([&] { model.find_text("vocab.json"); }).code(), ErrorCode::not_found);
}

TEST(ShardIndex, MalformedIndexesAreRefused) {
    const std::vector<std::string> texts{
        "",
        " ",
        "{",
        "[]",
        "1",
        "null",
        "\"weight_map\"",
        "{}",
        R"({"weight_map":{}})",
        R"({"weight_map":null})",
        R"({"weight_map":[]})",
        R"({"weight_map":"a.safetensors"})",
        R"({"weight_map":1})",
        R"({"weight_map":{"a":1}})",
        R"({"weight_map":{"a":null}})",
        R"({"weight_map":{"a":true}})",
        R"({"weight_map":{"a":["a.safetensors"]}})",
        R"({"weight_map":{"a":{"b":"a.safetensors"}}})",
        R"({"weight_map":{"a":1.5}})",
        R"({"weight_map":{"a":-1}})",
        R"({"weight_map":{"a":"a.safetensors"})",
        R"({"weight_map":{"a":"a.safetensors"}}x)",
        R"({"weight_map":{"a":"a.safetensors",}})",
        R"({"weight_map":{"a":"a.safetensors","a":"b.safetensors"}})",
        R"({"weight_map":{"a":"a.safetensors"},"weight_map":{}})",
        R"({"metadata":{"weight_map":{"a":"a.safetensors"}}})",
        "{\"weight_map\":{\"\xff\":\"a.safetensors\"}}",
        R"({'weight_map':{}})",
        R"([{"weight_map":{"a":"a.safetensors"}}])",
        "{\"metadata\":" + std::string(100'000, '[')};
    for (const std::string& text : texts) {
        const Error error = error_of([&] { parse_shard_index(text, "index"); });
        EXPECT_EQ(error.code(), ErrorCode::bad_format) << text.substr(0, 60) << error.what();
        EXPECT_EQ(error.subject(), "index");
    }
    const auto shards = parse_shard_index(
        R"({"metadata":{"total_size":1,"x":[{"weight_map":2}]},"weight_map":{"a":"b.safetensors"},"y":[1]})",
        "index");
    EXPECT_EQ(shards.at("a"), "b.safetensors");
    EXPECT_EQ(shards.size(), 1u);
}

TEST(ModelFolder, AnIndexBesideTheWholeFileIsNotUsed) {
    const TemporaryFolder folder;
    folder.write("config.json", "{}");
    folder.write("model.safetensors", weights("w"));
    folder.write("model.safetensors.index.json", index_of("w", "model-00001-of-00001.safetensors"));
    const ModelFolder model(folder.path());
    EXPECT_EQ(model.warnings().size(), 1u);
}

TEST(LocateModel, FindsFoldersAndFiles) {
    const TemporaryFolder folder;
    folder.write("m/config.json", "{}");
    folder.write("m/model.safetensors", weights("w"));
    folder.write("g/model-q8.gguf", "GGUF");
    folder.write("two/a.gguf", "GGUF");
    folder.write("two/b.gguf", "GGUF");
    folder.write("split/a-00001-of-00002.gguf", "GGUF");
    folder.write("split/a-00002-of-00002.gguf", "GGUF");
    folder.write("x.bin", "\x80\x02");
    folder.write("notes.txt", "hello");
    const auto locate = [&](const char* name) { return locate_model(folder.path() / name); };
    EXPECT_EQ(locate("m").kind, ModelKind::folder);
    EXPECT_EQ(locate("m").name, "m");
    EXPECT_EQ(locate("m/").name, "m");
    EXPECT_EQ(locate("m/model.safetensors").path, folder.path() / "m");
    EXPECT_EQ(locate("m/config.json").kind, ModelKind::folder);
    EXPECT_EQ(locate("g/model-q8.gguf").kind, ModelKind::gguf);
    EXPECT_EQ(locate("g").name, "model-q8");
    EXPECT_EQ(locate("split").path.filename(), "a-00001-of-00002.gguf");
    EXPECT_EQ(error_of([&] { locate("two"); }).code(), ErrorCode::bad_value);
    EXPECT_EQ(error_of([&] { locate("x.bin"); }).code(), ErrorCode::unsupported);
    EXPECT_EQ(error_of([&] { locate("notes.txt"); }).code(), ErrorCode::bad_format);
    EXPECT_EQ(error_of([&] { locate("none"); }).code(), ErrorCode::not_found);
    EXPECT_EQ(error_of([] { locate_model(""); }).code(), ErrorCode::not_found);
}

// As huggingface_hub lays it out: files are links to blobs.
void cache_model(const TemporaryFolder& hub, const std::string& repository,
                 const std::string& commit) {
    const fs::path root = hub.path() / repository;
    const fs::path snapshot = root / "snapshots" / commit;
    fs::create_directories(snapshot);
    hub.write(repository + "/refs/main", commit);
    hub.write(repository + "/blobs/c0", "{}");
    hub.write(repository + "/blobs/b0", weights("w"));
    fs::create_symlink("../../blobs/c0", snapshot / "config.json");
    fs::create_symlink("../../blobs/b0", snapshot / "model.safetensors");
}

TEST(HubCache, FindsTheSnapshotThatMainNames) {
    const HubCache hub;
    cache_model(hub.folder(), "models--org--name", "abc123");
    fs::create_directories(hub.folder().path() / "models--org--name/snapshots/old");
    cache_model(hub.folder(), "models--plain", "def456");
    hub.folder().write("datasets--org--data/refs/main", "abc");
    const ModelLocation found = locate_model("org/name");
    EXPECT_EQ(found.kind, ModelKind::folder);
    EXPECT_EQ(found.path.filename(), "abc123");
    EXPECT_EQ(found.name, "org/name");
    EXPECT_NE(ModelFolder(found.path).find_tensor("w"), nullptr);
    EXPECT_EQ(locate_model(found.path).name, "org/name");
    EXPECT_EQ(locate_model(hub.folder().path() / "models--org--name").path.filename(), "abc123");
    EXPECT_EQ(locate_model("plain").path.filename(), "def456");
    const std::vector<CachedModel> models = list_hub_models();
    ASSERT_EQ(models.size(), 2u);
    EXPECT_EQ(models[0].name, "org/name");
    EXPECT_EQ(models[0].bytes, weights("w").size());
    EXPECT_EQ(models[1].name, "plain");
    const Error error = error_of([] { locate_model("org/nama"); });
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_TRUE(has(error, "did you mean org/name?"));
}

TEST(HubCache, AnIncompleteDownloadIsToldApart) {
    const HubCache hub;
    cache_model(hub.folder(), "models--org--name", "abc123");
    fs::remove(hub.folder().path() / "models--org--name/blobs/b0");
    const Error blob = refusal(locate_model("org/name").path);
    EXPECT_EQ(blob.code(), ErrorCode::not_found);
    EXPECT_TRUE(has(blob, "incomplete download?"));
    EXPECT_TRUE(list_hub_models().empty());
    hub.folder().write("models--org--name/refs/main", "fff");
    EXPECT_TRUE(has(error_of([] { locate_model("org/name"); }), "incomplete download?"));
    fs::remove(hub.folder().path() / "models--org--name/refs/main");
    EXPECT_EQ(locate_model("org/name").path.filename(), "abc123"); // the only snapshot
}

TEST(HubCache, NothingLeadsOutOfTheRepository) {
    const HubCache hub;
    const TemporaryFolder outside;
    outside.write("s/config.json", "{}");
    outside.write("s/model.safetensors", weights("w"));
    cache_model(hub.folder(), "models--org--name", "abc123");
    const fs::path snapshot = hub.folder().path() / "models--org--name/snapshots/abc123";
    fs::remove(snapshot / "model.safetensors");
    fs::create_symlink(outside.path() / "s/model.safetensors", snapshot / "model.safetensors");
    EXPECT_EQ(refusal(snapshot).code(), ErrorCode::bad_value);
    for (const char* ref : {"../../..", "/tmp", "a/b", "..", "a.b", " "}) {
        hub.folder().write("models--org--name/refs/main", ref);
        EXPECT_NE(error_of([] { locate_model("org/name"); }).code(), ErrorCode::failure) << ref;
    }
    hub.folder().write("models--org--name/refs/main", "linked");
    fs::create_directory_symlink(outside.path() / "s",
                                 hub.folder().path() / "models--org--name/snapshots/linked");
    EXPECT_EQ(error_of([] { locate_model("org/name"); }).code(), ErrorCode::bad_value);
    for (const char* name :
         {"../x", "org/../x", "org/name/x", "/org", "org/", "a--b", "", "a b", "..", ".", "org/.."})
        EXPECT_FALSE(is_hub_name(name)) << name;
    EXPECT_TRUE(is_hub_name("Qwen/Qwen2.5-Coder-7B_x"));
}

TEST(HubCache, TheFolderFollowsTheHubsVariables) {
    const auto with = [](const char* hub, const char* home, const char* cache) {
        const auto set = [](const char* name, const char* value) {
            value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
        };
        set("HF_HUB_CACHE", hub);
        set("HF_HOME", home);
        set("XDG_CACHE_HOME", cache);
        const std::string folder = hub_cache_folder().string();
        set("HF_HUB_CACHE", nullptr);
        set("HF_HOME", nullptr);
        set("XDG_CACHE_HOME", nullptr);
        return folder;
    };
    const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
    EXPECT_EQ(with("/a", "/b", "/c"), "/a");
    EXPECT_EQ(with(nullptr, "/b", "/c"), "/b/hub");
    EXPECT_EQ(with("", nullptr, "/c"), "/c/huggingface/hub");
    EXPECT_EQ(with("~/x", nullptr, nullptr), home + "/x");
    EXPECT_EQ(with(nullptr, nullptr, nullptr),
              (fs::path(home) / ".cache/huggingface/hub").string());
}

} // namespace
} // namespace cuset
