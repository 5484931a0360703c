#include "core/data/sample_note.h"

#include <gtest/gtest.h>

namespace cuset {
namespace {

using Tags = std::vector<std::string>;

TEST(SampleNotes, SetReplacesAndAnEmptyNoteRemoves) {
    SampleNotes notes;
    notes.set({"b", {"x"}, "", false});
    notes.set({"a", {}, "look", true});
    ASSERT_EQ(notes.notes.size(), 2u);
    EXPECT_EQ(notes.notes[0].id, "a") << "sorted";
    notes.set({"a", {}, "again", true});
    EXPECT_EQ(notes.find("a")->text, "again");
    notes.set({"b", {}, "", false});
    EXPECT_EQ(notes.find("b"), nullptr);
    notes.set({"nobody", {}, "", false});
    EXPECT_EQ(notes.notes.size(), 1u);
    EXPECT_FALSE(notes.leaves_out("a")) << "only when the notes say so";
    notes.leave_out_quarantined = true;
    EXPECT_TRUE(notes.leaves_out("a"));
    EXPECT_FALSE(notes.leaves_out("b"));
}

TEST(SampleNotes, TagsAreOneLineOfPlainWords) {
    EXPECT_EQ(clean_tag("  race condition "), "race condition");
    EXPECT_EQ(clean_tag("a,b;c\"d\n"), "a b c d");
    EXPECT_EQ(clean_tag(" ;, "), "");
    EXPECT_EQ(split_tags("x, y ,x,, z"), (Tags{"x", "y", "z"}));
    EXPECT_EQ(split_tags(""), Tags{});
    EXPECT_EQ(join_tags(Tags{"x", "y"}), "x, y");
    const std::string eszett = "\u00df"; // two bytes
    std::string text;
    for (int i = 0; i < 40; ++i)
        text += eszett;
    EXPECT_EQ(clean_tag("a" + text).size(), 59u) << "cut between characters";
}

} // namespace
} // namespace cuset
