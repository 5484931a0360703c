#include "core/io/session_file.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

SessionState some_session(const std::string& folder) {
    SessionState session;
    session.model = folder + "/models/m.gguf";
    session.data = {folder + "/a \"b\".jsonl", "/elsewhere/c.jsonl"};
    session.read.prompt_field = "extra.question";
    session.read.filters = {{"lang", "cuda"}};
    session.scores = folder + "/sub/s.scores.safetensors";
    session.notes = folder + "/a.notes.json";
    session.settings = {.tau = 0.25, .lambda = 3, .window = 99, .cuda_mask = false};
    session.objective = "dft";
    session.color_by = "push";
    session.color_map = "viridis";
    session.layout = "AAAA";
    session.filter = "tag = \"x\"";
    session.kinds = {"atomic"};
    session.sample = "one\n<b>";
    session.token = 12;
    return session;
}

TEST(SessionFile, WhatIsWrittenIsRead) {
    const TemporaryFolder folder;
    const std::string root = folder.path().string();
    const std::filesystem::path path = folder.path() / "x.cuset-session";
    write_session_file(path, some_session(root));
    EXPECT_EQ(read_session_file(path), some_session(root));
    write_session_file(path, {});
    EXPECT_EQ(read_session_file(path), SessionState{});
}

TEST(SessionFile, MovesWithItsFolder) {
    const std::string text = write_session(some_session("/old"), "/old");
    EXPECT_EQ(text.find("/old"), std::string::npos) << text;
    const SessionState read = read_session(text, "/new/x.cuset-session");
    EXPECT_EQ(read.scores, "/new/sub/s.scores.safetensors");
    EXPECT_EQ(read.model, "/new/models/m.gguf");
    EXPECT_EQ(read.data[0], "/new/a \"b\".jsonl");
    EXPECT_EQ(read.data[1], "/elsewhere/c.jsonl");
    SessionState named;
    named.model = "org/name";
    EXPECT_EQ(read_session(write_session(named, "/old"), "/new/x").model, "org/name");
    // A neighbour whose name only begins alike is not below.
    SessionState other;
    other.scores = "/oldest/s";
    EXPECT_EQ(read_session(write_session(other, "/old"), "/new/x").scores, "/oldest/s");
}

ErrorCode refused(std::string_view json) {
    try {
        read_session(json, "/d/x.cuset-session");
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).rfind("/d/x.cuset-session: ", 0), 0u) << error.what();
        EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos);
        return error.code();
    }
    return ErrorCode::failure;
}

TEST(SessionFile, RefusesWhatItIsNot) {
    const std::string head = "{\"format\": \"cuset-session\", \"format_version\": ";
    EXPECT_EQ(refused("{}"), ErrorCode::bad_format);
    EXPECT_EQ(refused("[1]"), ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "2}"), ErrorCode::unsupported);
    EXPECT_EQ(refused(head + "\"1\"}"), ErrorCode::unsupported);
    EXPECT_EQ(refused(head + "1, \"data\": \"x\"}"), ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "1, \"data\": [1]}"), ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "1, \"read\": {\"filters\": {\"a\": 1}}}"), ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "1, \"token\": 1.5}"), ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "1, \"thresholds\": {\"tau\": 2}}"), ErrorCode::bad_value);
    EXPECT_EQ(refused(head + "1, \"thresholds\": {\"lambda\": 0}}"), ErrorCode::bad_value);
    EXPECT_EQ(refused(head + "1, \"thresholds\": {\"window\": 0}}"), ErrorCode::bad_value);
    const std::string text = write_session(some_session("/old"), "/old");
    for (std::size_t cut = 0; cut + 2 < text.size(); ++cut)
        EXPECT_EQ(refused(text.substr(0, cut)), ErrorCode::bad_format) << cut;
    EXPECT_EQ(read_session(head + "1, \"later\": {}}", "/d/x").token, -1) << "unknown is ignored";
}

} // namespace
} // namespace cuset
