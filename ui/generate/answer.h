// Answer: what a model has written so far, token by token, with the figures behind its colours.
#pragma once

#include <string>
#include <vector>

#include <QString>

#include "core/base/byte_span.h"
#include "core/data/token_labels.h"

namespace cuset {

struct AnswerToken {
    std::string bytes; // what it adds to the text; "" for a special token
    float confidence = 0; // [0, 1], of the model's own distribution, whatever the sampling
    float entropy = 0; // nats
    int rank = 0;
    struct Alternative {
        QString text; // made visible
        float probability = 0;
    };
    std::vector<Alternative> alternatives; // most probable first
};

struct Answer {
    QString title; // "without adapter", or the adapter's name
    std::string text;
    std::vector<AnswerToken> tokens; // [T]
    std::vector<ByteSpan> spans; // [T], bytes of the text
    std::vector<LabelBits> labels; // of the first tokens; the rest is not looked at yet
    double seconds = 0; // since its first token
    QString ending; // why it ended, "" while it goes on

    void add(AnswerToken token);
    int tokenAt(int byte) const; // -1 for none
    // Means of c over all tokens, and over those that are CUDA-sensitive or not as far as labels
    // are there; NaN without such tokens.
    struct Means {
        double all = 0, sensitive = 0, neutral = 0;
    };
    Means means() const;
};

} // namespace cuset
