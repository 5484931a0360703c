#include "tests/ui/synthetic_scores.h"

#include <cctype>
#include <cmath>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QThread>

#include "core/cuda/structure.h"
#include "core/cuda/token_labels.h"

namespace cuset::test {
namespace {

bool isWordByte(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'
        || (static_cast<unsigned char>(c) & 0x80) != 0;
}

} // namespace

std::string kernelText() {
    return "__global__ void scale(float* x, int n) {\n"
           "    __shared__ float tile[256];\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    tile[threadIdx.x] = i < n ? x[i] : 0.0f;\n"
           "    __syncthreads();\n"
           "    if (i < n) x[i] = 2.0f * tile[threadIdx.x];\n"
           "}\n"
           "void run(float* x, int n) { scale<<<(n + 255) / 256, 256>>>(x, n); }\n";
}

ScoredSample scoredSample(const std::string& id, const std::string& prompt,
                          const std::string& response) {
    ScoredSample scored;
    scored.sample.id = id;
    scored.sample.prompt = prompt;
    scored.sample.response = response;
    scored.scores.top_k = 2;
    const std::size_t open = response.find('{');
    const std::size_t close = response.rfind('}');
    for (std::size_t begin = 0; begin < response.size();) {
        std::size_t end = begin + 1;
        while (isWordByte(response[begin]) && end < response.size() && isWordByte(response[end]))
            ++end;
        const auto t = static_cast<int>(scored.encoding.spans.size());
        const float confidence = 0.05f + 0.09f * static_cast<float>(t % 10);
        scored.encoding.spans.push_back(
            {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)});
        scored.encoding.ids.push_back(t % 100);
        scored.scores.log_prob.push_back(std::log(confidence));
        scored.scores.entropy.push_back(1.0f - confidence);
        scored.scores.entropy_top20.push_back(1.0f - confidence);
        scored.scores.rank.push_back(t % 10 == 9 ? 0 : 10 - t % 10);
        for (const int alternative : {t % 100, (t + 1) % 100})
            scored.scores.top_ids.push_back(alternative);
        for (const float p : {0.6f, 0.2f})
            scored.scores.top_log_probs.push_back(std::log(p));
        LabelBits labels = 0;
        if (open != std::string::npos && close != std::string::npos && begin >= open
            && end <= close + 1)
            labels |= kernel_bit;
        if (response.compare(begin, end - begin, "threadIdx") == 0)
            labels = static_cast<LabelBits>(labels | kind_bit(SensitiveKind::thread_index));
        scored.labels.push_back(labels);
        begin = end;
    }
    return scored;
}

ScoredSample labelledSample(const std::string& id, const std::string& response) {
    ScoredSample scored = scoredSample(id, "", response);
    scored.labels = label_tokens(find_cuda_structure(response), scored.encoding.spans);
    return scored;
}

std::shared_ptr<const ScoreSet> scoreSet(const std::vector<ScoredSample>& samples) {
    ScoreProvenance provenance;
    provenance.created_by = "test";
    provenance.model = "synthetic";
    provenance.dtype = "float32";
    provenance.device = "cpu";
    ScoreSetBuilder builder(provenance, 2,
                            [](std::int32_t id) { return "t" + std::to_string(id); });
    for (const ScoredSample& sample : samples)
        builder.add(sample);
    return builder.snapshot();
}

bool waitFor(const std::function<bool()>& condition, int milliseconds) {
    QElapsedTimer timer;
    timer.start();
    while (!condition()) {
        if (timer.elapsed() > milliseconds)
            return false;
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        QThread::msleep(2);
    }
    return true;
}

} // namespace cuset::test
