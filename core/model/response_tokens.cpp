#include "core/model/response_tokens.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/cuda/structure.h"
#include "core/cuda/token_labels.h"

namespace cuset {
namespace {

template <class Wanted>
std::vector<ByteSpan> island_spans(const CudaStructure& structure, Wanted wanted) {
    std::vector<ByteSpan> spans;
    for (const Island& island : structure.islands)
        if (wanted(island.kind) && island.span.begin < island.span.end)
            spans.push_back(island.span);
    return spans;
}

std::vector<ByteSpan> answer_spans(std::string_view response) {
    return island_spans(find_cuda_structure(response),
                        [](IslandKind kind) { return kind != IslandKind::reasoning; });
}

std::vector<ByteSpan> code_spans(std::string_view response) {
    const CudaStructure structure = find_cuda_structure(response);
    for (const IslandKind wanted : {IslandKind::cuda_source, IslandKind::triton}) {
        std::vector<ByteSpan> spans =
            island_spans(structure, [=](IslandKind kind) { return kind == wanted; });
        if (!spans.empty())
            return spans;
    }
    return {};
}

// Tokens that share a byte with a span; an empty one (the end token) counts where a span ends at
// the text's end.
std::vector<std::int32_t> rows_in(const std::vector<ByteSpan>& tokens,
                                  const std::vector<ByteSpan>& spans, std::size_t text_size) {
    std::vector<std::int32_t> rows;
    std::size_t s = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        const ByteSpan token = tokens[t];
        while (s < spans.size() && spans[s].end <= token.begin && token.begin < token.end)
            ++s;
        const bool inside = token.begin < token.end
            ? s < spans.size() && spans[s].begin < token.end
            : static_cast<std::size_t>(spans.back().end) == text_size;
        if (inside)
            rows.push_back(static_cast<std::int32_t>(t));
    }
    return rows;
}

// Makes `rows` (of the response as it is encoded now) the scored ones.
void keep_rows(const std::vector<std::int32_t>& rows, Encoding& encoding) {
    std::vector<ByteSpan> spans;
    for (const std::int32_t row : rows)
        spans.push_back(encoding.spans[static_cast<std::size_t>(row)]);
    encoding.spans = std::move(spans);
    const std::int32_t first = rows.front();
    const std::int32_t last = rows.back();
    encoding.ids.resize(static_cast<std::size_t>(encoding.response_begin + last) + 1);
    encoding.response_begin += first;
    encoding.rows.clear();
    if (last - first + 1 != static_cast<std::int32_t>(rows.size()))
        for (const std::int32_t row : rows)
            encoding.rows.push_back(row - first);
}

} // namespace

void choose_response(const Sample& sample, ResponseChoice choice, Encoding& encoding) {
    if (choice == ResponseChoice::whole || encoding.spans.empty())
        return;
    const bool answer = choice == ResponseChoice::answer;
    const std::vector<ByteSpan> spans =
        answer ? answer_spans(sample.response) : code_spans(sample.response);
    const std::vector<std::int32_t> rows = spans.empty()
        ? std::vector<std::int32_t>()
        : rows_in(encoding.spans, spans, sample.response.size());
    if (rows.empty())
        throw Error(ErrorCode::bad_value,
                    std::string(answer ? "the response is reasoning to its end"
                                       : "the response holds no CUDA, C or C++ code")
                        + "; score the whole response instead",
                    sample.origin.empty() ? sample.id : sample.origin);
    keep_rows(rows, encoding);
}

std::int64_t count_reasoning(const Sample& sample, const Encoding& encoding) {
    if (sample.response.find("think>") == std::string::npos)
        return 0;
    std::vector<ByteSpan> tokens = encoding.spans;
    std::erase_if(tokens, [](const ByteSpan& span) { return span.empty(); });
    const std::vector<ByteSpan> answer = answer_spans(sample.response);
    const std::size_t answering =
        answer.empty() ? 0 : rows_in(tokens, answer, sample.response.size()).size();
    return static_cast<std::int64_t>(tokens.size() - answering);
}

void cut_encoding(std::int32_t limit, Encoding& encoding) {
    if (encoding.ids.size() <= static_cast<std::size_t>(limit))
        return;
    const std::size_t before = encoding.spans.size();
    std::size_t kept = 0;
    while (kept < before && encoding.response_begin + encoding.row(kept) < limit)
        ++kept;
    encoding.cut_tokens = static_cast<std::int64_t>(before - kept);
    encoding.spans.resize(kept);
    if (!encoding.rows.empty())
        encoding.rows.resize(kept);
    const std::int32_t end =
        kept == 0 ? limit : encoding.response_begin + encoding.row(kept - 1) + 1;
    encoding.ids.resize(static_cast<std::size_t>(end));
}

std::vector<LabelBits> label_response(const Sample& sample, const Encoding& encoding) {
    const std::vector<std::uint8_t>& cuda = sample.prepared.cuda;
    if (cuda.empty())
        return label_tokens(find_cuda_structure(sample.response), encoding.spans);
    const std::int32_t skipped = encoding.response_begin - sample.prepared.prompt_tokens;
    std::vector<LabelBits> labels(encoding.spans.size());
    for (std::size_t t = 0; t < labels.size(); ++t) {
        const auto at = static_cast<std::size_t>(skipped + encoding.row(t));
        labels[t] = at < cuda.size() && cuda[at] ? kernel_bit : LabelBits{0};
    }
    return labels;
}

std::string prepared_response(const Sample& sample, const Tokenizer& tokenizer) {
    std::string text;
    const auto& ids = sample.prepared.ids;
    for (auto i = static_cast<std::size_t>(std::max(sample.prepared.prompt_tokens, 0));
         i < ids.size(); ++i)
        text += tokenizer.token_bytes(ids[i]);
    return text;
}

} // namespace cuset
