// Drives a Tokenizer from another process, for comparison with the reference library.
//   tokenize_tool FILE               records on stdin and stdout, see below
//   tokenize_tool FILE --bench N     tokenises the texts of stdin N times and prints bytes, tokens
//   and seconds of processor time
// FILE is a tokenizer.json, or a JSON object with "ggml": what a GGUF file's metadata says
// (GgufVocabulary's members). A record in: uint32 flags (1 special tokens are recognised, 2 the
// post-processor runs, 4 decode too, 8 write all answers out), uint32 bytes, the text. A record
// out: uint32 status (0 right, else 1 + ErrorCode), uint32 tokens, uint32 dropped bytes, int32 ids,
// int32 begin and end of each span; with flag 4 uint32 bytes and the decoded text.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/tokenizer.h"

namespace {

using cuset::TokenizedText;
using cuset::Tokenizer;
using nlohmann::json;

cuset::GgufVocabulary read_gguf_vocabulary(const json& in) {
    cuset::GgufVocabulary out;
    out.model = in.at("model");
    out.pre = in.at("pre");
    out.tokens = in.at("tokens").get<std::vector<std::string>>();
    out.scores = in.value("scores", std::vector<double>());
    out.token_types = in.value("token_types", std::vector<std::int64_t>());
    out.merges = in.value("merges", std::vector<std::string>());
    const auto number = [&](const char* name, std::optional<std::int64_t>& place) {
        if (in.contains(name))
            place = in.at(name).get<std::int64_t>();
    };
    const auto flag = [&](const char* name, std::optional<bool>& place) {
        if (in.contains(name))
            place = in.at(name).get<bool>();
    };
    number("bos_id", out.bos_id);
    number("eos_id", out.eos_id);
    number("unknown_id", out.unknown_id);
    flag("add_bos", out.add_bos);
    flag("add_eos", out.add_eos);
    flag("add_space_prefix", out.add_space_prefix);
    return out;
}

Tokenizer load(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!text.starts_with("{\"ggml\""))
        return Tokenizer::from_json(text, path);
    return Tokenizer::from_gguf(read_gguf_vocabulary(json::parse(text).at("ggml")), path);
}

bool read_exact(void* to, std::size_t size) {
    return std::fread(to, 1, size, stdin) == size;
}
void write_u32(std::size_t value) {
    const auto word = static_cast<std::uint32_t>(value);
    std::fwrite(&word, 4, 1, stdout);
}

bool read_record(std::uint32_t& flags, std::string& text) {
    std::uint32_t head[2];
    if (!read_exact(head, sizeof head))
        return false;
    flags = head[0];
    text.resize(head[1]);
    return read_exact(text.data(), text.size());
}

void answer(const Tokenizer& tokenizer, std::uint32_t flags, const std::string& text) {
    TokenizedText out;
    std::uint32_t status = 0;
    try {
        out = tokenizer.encode(
            text, {.parse_special = (flags & 1) != 0, .add_special_tokens = (flags & 2) != 0});
    } catch (const cuset::Error& e) {
        status = 1 + static_cast<std::uint32_t>(e.code());
        std::fprintf(stderr, "%s\n", e.what());
    }
    write_u32(status);
    write_u32(out.ids.size());
    write_u32(static_cast<std::size_t>(out.dropped_bytes));
    std::fwrite(out.ids.data(), 4, out.ids.size(), stdout);
    std::fwrite(out.spans.data(), sizeof(cuset::ByteSpan), out.spans.size(), stdout);
    if ((flags & 4) != 0) {
        const std::string back = tokenizer.decode(out.ids);
        write_u32(back.size());
        std::fwrite(back.data(), 1, back.size(), stdout);
    }
    if ((flags & 8) != 0)
        std::fflush(stdout);
}

void bench(const Tokenizer& tokenizer, int rounds) {
    std::vector<std::string> texts;
    std::uint32_t flags = 0;
    std::size_t bytes = 0;
    for (std::string text; read_record(flags, text);) {
        bytes += text.size();
        texts.push_back(text);
    }
    for (int round = 0; round < rounds; ++round) {
        std::size_t tokens = 0;
        // Processor time: one thread, so it is the time of a machine that does nothing else.
        const std::clock_t begin = std::clock();
        for (const std::string& text : texts)
            tokens += tokenizer.encode(text).ids.size();
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        std::printf("{\"bytes\":%zu,\"tokens\":%zu,\"seconds\":%.6f}\n", bytes, tokens, seconds);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2 && !(argc == 4 && std::strcmp(argv[2], "--bench") == 0)) {
        std::fprintf(stderr, "usage: tokenize_tool FILE [--bench N]\n");
        return 2;
    }
    try {
        const Tokenizer tokenizer = load(argv[1]);
        if (argc == 4) {
            bench(tokenizer, std::atoi(argv[3]));
            return 0;
        }
        std::uint32_t flags = 0;
        for (std::string text; read_record(flags, text);)
            answer(tokenizer, flags, text);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
