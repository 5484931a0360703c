// The verdict on a model's numbers: its own reference by transformers
// (packaging/make_reference.py), spoiled ones, quantised weights, and references that are none.
#include "core/model/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/model/fixture.h"

namespace cuset {
namespace {

using nlohmann::json;
using testing::HasSubstr;

SessionOptions on_cpu() {
    SessionOptions options;
    options.device = "cpu";
    return options;
}

Verification verify(const std::filesystem::path& model, const std::vector<std::string>& dtypes,
                    const std::filesystem::path& reference = {}) {
    RunControl control;
    return verify_model(model.string(), on_cpu(), dtypes, reference.string(), control);
}

json own_reference() {
    return test::read_json(test::model_path("smollm3") / "cuset-reference.json");
}

TEST(Verification, OwnReferenceProvesTheModel) {
    const Verification v = verify(test::model_path("smollm3"), {"float32", "bfloat16"});
    EXPECT_EQ(v.verdict, Verdict::proven) << v.reason;
    ASSERT_EQ(v.dtypes.size(), 2u);
    EXPECT_EQ(v.dtypes[0].dtype, "float32");
    EXPECT_LT(v.dtypes[0].largest, 1e-4);
    EXPECT_GT(v.dtypes[1].largest, v.dtypes[0].largest);
    EXPECT_LE(v.dtypes[0].mean, v.dtypes[0].largest);
    std::int64_t tokens = 0;
    const json reference = own_reference();
    for (const json& sample : reference["samples"])
        tokens += static_cast<std::int64_t>(sample["log_probs"].size());
    EXPECT_EQ(v.dtypes[0].tokens, tokens);
    EXPECT_EQ(v.texts, 3);
    EXPECT_EQ(v.equal_texts, 3);
    EXPECT_THAT(v.reason, HasSubstr("transformers"));
    EXPECT_THAT(v.reference, HasSubstr("cuset-reference.json"));
}

TEST(Verification, AWrongReferenceFailsWithItsPlace) {
    const test::ModelCopy copy("smollm3");
    json wrong = own_reference();
    wrong["samples"][1]["log_probs"][7] = wrong["samples"][1]["log_probs"][7].get<double>() - 0.25;
    copy.write("cuset-reference.json", wrong.dump());
    const Verification v = verify(copy.path(), {"float32"});
    EXPECT_EQ(v.verdict, Verdict::failed);
    EXPECT_NEAR(v.dtypes[0].largest, 0.25, 1e-3);
    EXPECT_EQ(v.dtypes[0].sample, 1);
    EXPECT_EQ(v.dtypes[0].token, 7);
}

TEST(Verification, OtherTokenIdsFail) {
    const test::ModelCopy copy("smollm3");
    json wrong = own_reference();
    wrong["samples"][0]["text"] = "another text";
    copy.write("other.json", wrong.dump());
    const Verification v = verify(copy.path(), {"float32"}, copy.path() / "other.json");
    EXPECT_EQ(v.verdict, Verdict::failed);
    EXPECT_EQ(v.equal_texts, 2);
    EXPECT_THAT(v.reason, HasSubstr("1 of 3 texts give other token ids"));
}

TEST(Verification, WithoutAReferenceNothingIsShown) {
    const Verification v = verify(test::model_path("granite"), {"float32"});
    EXPECT_EQ(v.verdict, Verdict::unproven);
    EXPECT_THAT(v.reason, HasSubstr("make_reference.py"));
    EXPECT_TRUE(v.dtypes.empty());
}

TEST(Verification, QuantisedWeightsAreUnprovenNotFailed) {
    const auto reference = test::model_path("smollm3") / "cuset-reference.json";
    const auto folder = test::data_folder() / "models" / "gguf";
    const Verification whole = verify(folder / "smollm3.gguf", {"float32"}, reference);
    EXPECT_EQ(whole.verdict, Verdict::proven) << whole.reason;
    const Verification rounded = verify(folder / "smollm3-q8_0.gguf", {"float32"}, reference);
    EXPECT_EQ(rounded.verdict, Verdict::unproven);
    EXPECT_GT(rounded.dtypes[0].largest, float32_tolerance);
    EXPECT_THAT(rounded.reason, HasSubstr("Q8_0"));
}

TEST(Verification, WhereAReferenceIsLookedFor) {
    const test::ModelCopy copy("smollm3");
    EXPECT_EQ(find_reference(copy.path().string()), copy.path() / "cuset-reference.json");
    copy.write("a.gguf", "");
    EXPECT_EQ(find_reference((copy.path() / "a.gguf").string()),
              copy.path() / "cuset-reference.json");
    copy.write("a.cuset-reference.json", "");
    EXPECT_EQ(find_reference((copy.path() / "a.gguf").string()),
              copy.path() / "a.cuset-reference.json");
    EXPECT_EQ(find_reference(test::model_path("granite").string()), std::nullopt);
}

TEST(Verification, WhatIsNoReference) {
    struct Case {
        const char* text;
        const char* says;
    };
    const Case list[] = {
        {"", "no reference"},
        {"[]", "no reference"},
        {R"({"format": "other"})", "make_reference.py"},
        {R"({"format": "cuset-reference", "version": 2})", "another version"},
        {R"({"format": "cuset-reference", "version": 1, "samples": []})", "no samples"},
        {R"({"format": "cuset-reference", "version": 1, "samples": [{"ids": [1, 2]}]})",
         "sample 0: needs the lists"},
        {R"({"format": "cuset-reference", "version": 1,
             "samples": [{"ids": [1, 2], "log_probs": [-1, -1]}]})",
         "2 ids and 2 log_probs"},
        {R"({"format": "cuset-reference", "version": 1,
             "samples": [{"ids": [1, -2], "log_probs": [-1]}]})",
         "an id is no number"},
        {R"({"format": "cuset-reference", "version": 1,
             "samples": [{"ids": [1, 2], "log_probs": [0.5]}]})",
         "no number up to 0"},
    };
    for (const Case& c : list) {
        try {
            parse_reference(c.text, "r.json");
            ADD_FAILURE() << c.text;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(c.says));
            EXPECT_EQ(error.subject(), "r.json");
        }
    }
}

} // namespace
} // namespace cuset
