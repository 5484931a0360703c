// Faulty tokenizer.json files and GGUF vocabularies: each is refused with its code and a message
// that names the place.
#include <functional>

#include "core/base/error.h"
#include "text_test_support.h"

namespace cuset::test {
namespace {

using nlohmann::json;

json good() {
    return json::parse(
        R"({"version":"1.0","added_tokens":[{"id":3,"content":"<e>","special":true,"normalized":false}],
        "normalizer":null,"pre_tokenizer":null,"post_processor":null,"decoder":null,
        "model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]]}})");
}

void expect_refused(const std::string& text, ErrorCode code, const std::string& part) {
    try {
        Tokenizer::from_json(text, "tokenizer.json");
        ADD_FAILURE() << "accepted: " << text.substr(0, 300);
    } catch (const Error& e) {
        EXPECT_EQ(error_code_name(e.code()), error_code_name(code)) << e.what();
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
        EXPECT_EQ(e.subject(), "tokenizer.json");
    }
}

struct Fault {
    const char* pointer; // where in the good file
    const char* value; // JSON put there
    ErrorCode code;
    const char* message; // part of it
};

const Fault faults[] = {
    {"/version", "2", ErrorCode::bad_format, "version"},
    {"/version", "\"2.0\"", ErrorCode::unsupported, "2.0"},
    {"/model", "null", ErrorCode::bad_format, "model"},
    {"/model", "[]", ErrorCode::bad_format, "model"},
    {"/model/type", "\"Unigram\"", ErrorCode::unsupported, "Unigram"},
    {"/model/type", "7", ErrorCode::bad_format, "model.type"},
    {"/model/dropout", "0.1", ErrorCode::unsupported, "dropout"},
    {"/model/vocab", "[]", ErrorCode::bad_format, "model.vocab"},
    {"/model/vocab", "{}", ErrorCode::bad_value, "merges[0]"},
    {"/model/vocab/a", "-1", ErrorCode::bad_value, "-1"},
    {"/model/vocab/a", "1.5", ErrorCode::bad_value, "1.5"},
    {"/model/vocab/a", "\"0\"", ErrorCode::bad_value, "\"a\""},
    {"/model/vocab/a", "4000000000", ErrorCode::bad_value, "4000000000"},
    {"/model/vocab/a", "18446744073709551615", ErrorCode::bad_value, "\"a\""},
    {"/model/merges", "null", ErrorCode::bad_format, "model.merges"},
    {"/model/merges/0", "[\"a\"]", ErrorCode::bad_format, "merges[0]"},
    {"/model/merges/0", "[\"a\", 1]", ErrorCode::bad_format, "merges[0]"},
    {"/model/merges/0", "\"ab\"", ErrorCode::bad_format, "merges[0]"},
    {"/model/merges/0", "\"a b c\"", ErrorCode::bad_format, "merges[0]"},
    {"/model/merges/0", "[\"a\", \"z\"]", ErrorCode::bad_value, "\"z\""},
    {"/model/merges/0", "[\"b\", \"a\"]", ErrorCode::bad_value, "\"ba\""},
    {"/model/unk_token", "\"<unk>\"", ErrorCode::bad_value, "<unk>"},
    {"/model/byte_fallback", "\"yes\"", ErrorCode::bad_format, "byte_fallback"},
    {"/added_tokens", "{}", ErrorCode::bad_format, "added_tokens"},
    {"/added_tokens/0", "3", ErrorCode::bad_format, "added_tokens[0]"},
    {"/added_tokens/0/content", "null", ErrorCode::bad_format, "content"},
    {"/added_tokens/0/id", "-3", ErrorCode::bad_value, "-3"},
    {"/added_tokens/0/special", "1", ErrorCode::bad_format, "special"},
    {"/normalizer", R"({"type":"Precompiled"})", ErrorCode::unsupported, "Precompiled"},
    {"/normalizer", R"({"type":"Nmt"})", ErrorCode::unsupported, "Nmt"},
    {"/normalizer", R"({"type":"Sequence"})", ErrorCode::bad_format, "normalizer.normalizers"},
    {"/normalizer", R"({"type":"Replace","pattern":{},"content":""})", ErrorCode::bad_format,
     "pattern"},
    {"/normalizer", R"({"type":"Replace","pattern":{"Regex":"("},"content":""})",
     ErrorCode::bad_value, "compile"},
    {"/pre_tokenizer", R"({})", ErrorCode::bad_format, "pre_tokenizer.type"},
    {"/pre_tokenizer", R"({"type":"BertPreTokenizer"})", ErrorCode::unsupported,
     "BertPreTokenizer"},
    {"/pre_tokenizer", R"({"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"X"}]})",
     ErrorCode::unsupported, "pretokenizers[1]"},
    {"/pre_tokenizer", R"({"type":"Split","behavior":"Sideways","pattern":{"String":"a"}})",
     ErrorCode::bad_value, "Sideways"},
    {"/pre_tokenizer", R"({"type":"Split","behavior":"Isolated","pattern":{"Regex":"[a&&b]"}})",
     ErrorCode::unsupported, "&&"},
    {"/pre_tokenizer", R"({"type":"Split","behavior":"Isolated","pattern":{"Regex":"[a[bc]]"}})",
     ErrorCode::unsupported, "inside another"},
    {"/pre_tokenizer", R"({"type":"Split","behavior":"Isolated","pattern":{"Regex":"(a"}})",
     ErrorCode::bad_value, "(a"},
    {"/pre_tokenizer", R"({"type":"Metaspace","replacement":"__"})", ErrorCode::bad_value,
     "one character"},
    {"/pre_tokenizer", R"({"type":"Metaspace","replacement":"_","prepend_scheme":"maybe"})",
     ErrorCode::bad_value, "maybe"},
    {"/decoder", R"({"type":"CTC"})", ErrorCode::unsupported, "CTC"},
    {"/decoder", R"({"type":"Strip","content":" ","start":-1,"stop":0})", ErrorCode::bad_value,
     "start"},
    {"/post_processor", R"({"type":"Sequence","processors":[{"type":"X"}]})",
     ErrorCode::unsupported, "processors[0]"},
    {"/post_processor", R"({"type":"TemplateProcessing","single":[],"special_tokens":{}})",
     ErrorCode::bad_value, "single"},
    {"/post_processor",
     R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<x>"}}],"special_tokens":{}})",
     ErrorCode::bad_format, "<x>"},
    {"/post_processor", R"({"type":"RobertaProcessing","cls":["<s>",99],"sep":["</s>",2]})",
     ErrorCode::bad_value, "99"},
};

TEST(Malformed, TheGoodFileIsAccepted) {
    EXPECT_EQ(Tokenizer::from_json(good().dump(), "x").vocabulary_size(), 4);
}

TEST(Malformed, EachFaultHasItsCode) {
    for (const Fault& fault : faults) {
        json file = good();
        file[json::json_pointer(fault.pointer)] = json::parse(fault.value);
        SCOPED_TRACE(std::string(fault.pointer) + " = " + fault.value);
        expect_refused(file.dump(), fault.code, fault.message);
    }
}

TEST(Malformed, TextThatIsNotTheFormat) {
    expect_refused("", ErrorCode::bad_format, "JSON ends before it is complete");
    expect_refused("{", ErrorCode::bad_format, "JSON ends before it is complete");
    expect_refused("version https://git-lfs.github.com/spec/v1\n", ErrorCode::bad_format,
                   "not JSON");
    expect_refused("[]", ErrorCode::bad_format, "object");
    expect_refused(std::string("{\"a\":\"\xff\"}"), ErrorCode::bad_format, "not JSON");
    expect_refused(std::string(100000, '['), ErrorCode::limit, "nested");
    json file = good();
    file["added_tokens"][0]["content"] = std::string(5000, 'x');
    expect_refused(file.dump(), ErrorCode::limit, "5000");
}

TEST(Malformed, APatternThatRunsAwayIsALimit) {
    json file = good();
    file["pre_tokenizer"] =
        json::parse(R"({"type":"Split","behavior":"Isolated","pattern":{"Regex":"^(a+)+$"}})");
    const Tokenizer tokenizer = Tokenizer::from_json(file.dump(), "tokenizer.json");
    try {
        tokenizer.encode(std::string(40, 'a') + "b");
        ADD_FAILURE() << "no limit";
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::limit);
        EXPECT_NE(std::string(e.what()).find("^(a+)+$"), std::string::npos) << e.what();
    }
}

GgufVocabulary good_gguf() {
    GgufVocabulary out;
    out.model = "gpt2";
    out.pre = "gpt-2";
    out.tokens = {"a", "b", "ab", "<e>"};
    out.token_types = {1, 1, 1, 3};
    out.merges = {"a b"};
    return out;
}

TEST(Malformed, GgufVocabularies) {
    const std::pair<std::function<void(GgufVocabulary&)>, ErrorCode> cases[] = {
        {[](auto& v) { v.model = "t5"; }, ErrorCode::unsupported},
        {[](auto& v) { v.pre = "unheard-of"; }, ErrorCode::unsupported},
        {[](auto& v) { v.pre = ""; }, ErrorCode::unsupported},
        {[](auto& v) { v.tokens.clear(); }, ErrorCode::bad_value},
        {[](auto& v) { v.token_types.pop_back(); }, ErrorCode::bad_value},
        {[](auto& v) { v.merges = {"ab"}; }, ErrorCode::bad_value},
        {[](auto& v) { v.merges = {"a z"}; }, ErrorCode::bad_value},
        {[](auto& v) { v.merges = {""}; }, ErrorCode::bad_value},
        {[](auto& v) { v.add_bos = true; }, ErrorCode::bad_value},
        {[](auto& v) { v.add_bos = true, v.bos_id = 4; }, ErrorCode::bad_value},
        {[](auto& v) { v.model = "llama"; }, ErrorCode::bad_value},
        {[](auto& v) {
             v.model = "llama", v.scores = {1, 2};
         },
         ErrorCode::bad_value},
    };
    EXPECT_EQ(Tokenizer::from_gguf(good_gguf(), "x").encode("ab").ids,
              std::vector<std::int32_t>{2});
    for (std::size_t k = 0; k < std::size(cases); ++k) {
        GgufVocabulary vocabulary = good_gguf();
        cases[k].first(vocabulary);
        try {
            Tokenizer::from_gguf(vocabulary, "m.gguf");
            ADD_FAILURE() << k;
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), cases[k].second) << k << ": " << e.what();
        }
    }
}

} // namespace
} // namespace cuset::test
