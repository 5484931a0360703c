// What is to be scored of a corpus: its samples encoded, those that cannot be left out and listed.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/run_control.h"
#include "core/data/sample.h"
#include "core/model/inference_session.h"

namespace cuset {

struct ScoreWork {
    const Sample* sample = nullptr; // not owned
    Encoding encoding;
};

// In the samples' order; adds to the run's skipped and cut samples. Stage "tokenizing". Throws
// Cancelled.
std::vector<ScoreWork> encode_samples(InferenceSession& session, const std::vector<Sample>& samples,
                                      const ScoreOptions& options, ScoreRun& run,
                                      RunControl& control);

// True for an error that ends a run rather than one sample.
bool ends_scoring(const Error& error);
// How messages name a sample.
std::string name_of(const Sample& sample);

} // namespace cuset
