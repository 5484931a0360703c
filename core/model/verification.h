// How far a model's log-probabilities lie from a reference that another program made. The reference
// is a small JSON file beside the model (packaging/make_reference.py writes it with transformers).
// No header of this room that others include mentions torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/model/inference_session.h"

namespace cuset {

struct ReferenceSample {
    std::string text; // what `ids` were made of, or "" if the reference does not say
    std::vector<std::int32_t> ids; // [S]
    std::vector<double> log_probs; // [S - 1] ln p(ids[i + 1] | ids[0 .. i]), <= 0
};

struct Reference {
    std::filesystem::path path;
    std::string made_with; // e.g. "transformers 5.24.0, torch 2.15.0, float32"
    std::vector<ReferenceSample> samples;
};

// `json` is the file's text: {"format": "cuset-reference", "version": 1, "made_with": "...",
// "samples": [{"text", "ids", "log_probs"}]}. Throws Error: bad_format, bad_value (a sample named).
Reference parse_reference(std::string_view json, const std::filesystem::path& path);
Reference read_reference(const std::filesystem::path& path);

// cuset-reference.json in a model's folder; for a GGUF file STEM.cuset-reference.json, then
// cuset-reference.json, beside it. Nothing if there is none. `path` is ModelInfo::path.
std::optional<std::filesystem::path> find_reference(const std::string& path);

enum class Verdict { proven, unproven, failed };
std::string_view verdict_name(Verdict verdict) noexcept;

// The differences of one dtype, over all tokens of the reference.
struct DtypeDifference {
    std::string dtype; // as computed with
    std::int64_t tokens = 0;
    double largest = 0; // of |difference of ln p|, nats
    double mean = 0;
    double largest_probability = 0; // of |difference of p|, [0, 1]
    double mean_probability = 0;
    std::int64_t sample = 0, token = 0; // where the largest is, from 0
    Verdict verdict = Verdict::unproven;
};

struct Verification {
    Verdict verdict = Verdict::unproven; // the worst of the dtypes'
    std::string reason; // a sentence: what was compared, or why nothing was shown
    std::string reference; // file, "" if there is none
    std::string made_with;
    std::string stored_dtype;
    std::int64_t texts = 0, equal_texts = 0; // texts of the reference, and how many gave its ids
    std::vector<DtypeDifference> dtypes;
};

// float32 may differ by this, as sums in another order do; the narrow types by these.
inline constexpr double float32_tolerance = 1e-3; // largest |difference of ln p|
inline constexpr double narrow_largest_tolerance = 0.15; // largest |difference of p|
inline constexpr double narrow_mean_tolerance = 0.02; // mean |difference of p|

// With the loaded session, in its dtype. Quantised weights that differ by more than the tolerance
// are unproven, not failed: the reference is of the unquantised model. Progress: stage "scoring",
// unit "tokens". Throws Error(bad_value) for ids outside of the vocabulary, Cancelled.
Verification verify_session(InferenceSession& session, const Reference& reference,
                            RunControl& control);
// Loads the model once for each of `dtypes`. An empty `reference` means the model's own; without
// one the verdict is unproven. Throws Error like the session's constructor, Cancelled.
Verification verify_model(const std::string& name_or_path, const SessionOptions& options,
                          const std::vector<std::string>& dtypes, const std::string& reference,
                          RunControl& control);

} // namespace cuset
