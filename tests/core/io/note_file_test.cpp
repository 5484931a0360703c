#include "core/io/note_file.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/io/companion_file.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

ErrorCode refused(std::string_view json) {
    try {
        read_notes(json, "n.notes.json");
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).rfind("n.notes.json: ", 0), 0u) << error.what();
        EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos);
        return error.code();
    }
    return ErrorCode::failure;
}

SampleNotes some_notes() {
    SampleNotes notes;
    notes.leave_out_quarantined = true;
    notes.set({"plain", {"race", "two words"}, "first\nsecond", false});
    notes.set({"<b>\"\xff\u202e", {}, "\x01 </script>", true});
    return notes;
}

TEST(NoteFile, WhatIsWrittenIsRead) {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "a.notes.json";
    SampleNotes notes = some_notes();
    write_note_file(path, notes);
    SampleNotes read = read_note_file(path);
    EXPECT_EQ(*read.find("plain"), *notes.find("plain"));
    EXPECT_TRUE(read.leave_out_quarantined);
    // What is no UTF-8 cannot stand in JSON.
    const SampleNote* hostile = read.find("<b>\"\ufffd\u202e");
    ASSERT_NE(hostile, nullptr);
    EXPECT_EQ(hostile->text, "\x01 </script>");
    EXPECT_TRUE(hostile->quarantined);
    write_note_file(path, {});
    EXPECT_EQ(read_note_file(path), SampleNotes{});
}

TEST(NoteFile, RefusesWhatItIsNot) {
    EXPECT_EQ(refused(""), ErrorCode::bad_format);
    EXPECT_EQ(refused("[]"), ErrorCode::bad_format);
    EXPECT_EQ(refused("{\"format\": \"cuset-labels\"}"), ErrorCode::bad_format);
    EXPECT_EQ(refused("{\"format\": \"cuset-notes\", \"format_version\": 2}"),
              ErrorCode::unsupported);
    const std::string head = "{\"format\": \"cuset-notes\", \"format_version\": 1, ";
    EXPECT_EQ(refused(head + "\"samples\": {}}"), ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "\"samples\": [{}]}"), ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "\"samples\": [{\"id\": 3}]}"), ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "\"samples\": [{\"id\": \"a\", \"tags\": [1]}]}"),
              ErrorCode::bad_format);
    EXPECT_EQ(refused(head + "\"samples\": [{\"id\": \"a\", \"quarantined\": 1}]}"),
              ErrorCode::bad_format);
    const std::string text = write_notes(some_notes());
    for (std::size_t cut = 0; cut + 2 < text.size(); ++cut)
        EXPECT_EQ(refused(text.substr(0, cut)), ErrorCode::bad_format) << cut;
}

TEST(NoteFile, LiesBesideTheData) {
    const TemporaryFolder folder;
    EXPECT_EQ(note_file_for("/d/set.jsonl"), "/d/set.notes.json");
    EXPECT_EQ(note_file_for("/d/set.scores.safetensors"), "/d/set.notes.json");
    const auto scores = folder.path() / "set.other-model.scores.safetensors";
    EXPECT_EQ(note_file_for(scores).filename(), "set.other-model.notes.json");
    folder.write("set.notes.json", "");
    EXPECT_EQ(note_file_for(scores).filename(), "set.notes.json") << "shared by all models";
    EXPECT_EQ(find_notes("-"), SampleNotes{});
    EXPECT_EQ(find_notes(folder.path() / "missing.jsonl"), SampleNotes{});
    EXPECT_THROW(find_notes("-", folder.path() / "missing.notes.json"), Error);
}

TEST(NoteFile, LeavesOutWhatIsQuarantinedWhenTold) {
    ScoreSetBuilder builder({}, 0);
    for (const char* id : {"a", "b", "c"}) {
        ScoredSample sample;
        sample.sample.id = id;
        builder.add(sample);
    }
    const auto scores = builder.snapshot();
    SampleNotes notes;
    notes.set({"b", {}, "", true});
    EXPECT_EQ(without_quarantined(scores, notes), scores);
    notes.leave_out_quarantined = true;
    const auto left = without_quarantined(scores, notes);
    ASSERT_EQ(left->sample_count(), 2);
    EXPECT_EQ(left->id(1), "c");
}

} // namespace
} // namespace cuset
