#include "core/model/verification.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr std::uint64_t reference_limit = 64u << 20;
constexpr const char* reference_name = "cuset-reference.json";

ReferenceSample read_sample(const json& object, std::size_t number, const std::string& subject) {
    const auto fail = [&](const std::string& what) {
        throw Error(ErrorCode::bad_value, "sample " + std::to_string(number) + ": " + what,
                    subject);
    };
    ReferenceSample sample;
    if (!object.is_object() || !object.contains("ids") || !object.contains("log_probs")
        || !object["ids"].is_array() || !object["log_probs"].is_array())
        fail("needs the lists ids and log_probs");
    for (const json& id : object["ids"]) {
        if (!id.is_number_integer() || id < 0 || id > INT32_MAX)
            fail("an id is no number from 0");
        sample.ids.push_back(id.get<std::int32_t>());
    }
    for (const json& value : object["log_probs"]) {
        if (!value.is_number() || !(value.get<double>() <= 0))
            fail("a log-probability is no number up to 0");
        sample.log_probs.push_back(value.get<double>());
    }
    if (sample.ids.size() < 2 || sample.log_probs.size() + 1 != sample.ids.size())
        fail("has " + std::to_string(sample.ids.size()) + " ids and "
             + std::to_string(sample.log_probs.size())
             + " log_probs, needed at least 2 ids and one log-probability for each but the first");
    if (const auto text = object.find("text"); text != object.end() && text->is_string())
        sample.text = text->get<std::string>();
    return sample;
}

bool is_quantised(const std::string& stored) {
    constexpr std::array exact{"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"};
    return std::ranges::find(exact, stored) == exact.end();
}

void add_difference(DtypeDifference& d, double expected, double found, std::int64_t sample,
                    std::int64_t token) {
    const double difference = std::abs(found - expected);
    const double probability = std::abs(std::exp(found) - std::exp(expected));
    if (d.tokens == 0 || !(difference <= d.largest)) {
        d.largest = difference;
        d.sample = sample;
        d.token = token;
    }
    d.largest_probability = std::max(d.largest_probability, probability);
    // Sums here, made means at the end.
    d.mean += difference;
    d.mean_probability += probability;
    ++d.tokens;
}

Verdict judge(const DtypeDifference& d, bool quantised) {
    const bool good = d.dtype == "float32" ? d.largest <= float32_tolerance
                                           : d.largest_probability <= narrow_largest_tolerance
            && d.mean_probability <= narrow_mean_tolerance;
    if (good)
        return Verdict::proven;
    return quantised ? Verdict::unproven : Verdict::failed;
}

std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2g", value);
    return text.data();
}

// The worst of the parts, and the sentence that says why.
void conclude(Verification& v) {
    v.verdict = Verdict::proven;
    for (const DtypeDifference& d : v.dtypes)
        v.verdict = std::max(v.verdict, d.verdict);
    const DtypeDifference& first = v.dtypes.front();
    v.reason = "largest difference of a log-probability " + number(first.largest) + " in "
        + first.dtype + ", over " + std::to_string(first.tokens) + " tokens of " + v.made_with;
    if (v.equal_texts < v.texts) {
        v.verdict = Verdict::failed;
        v.reason += "; " + std::to_string(v.texts - v.equal_texts) + " of "
            + std::to_string(v.texts) + " texts give other token ids than the reference's";
    }
    if (v.verdict == Verdict::unproven)
        v.reason += "; the weights are quantised (" + v.stored_dtype
            + "), the reference is of the model before that";
}

Verification merge(Verification all, Verification one) {
    if (all.dtypes.empty())
        return one;
    all.dtypes.push_back(one.dtypes.front());
    conclude(all);
    return all;
}

} // namespace

std::string_view verdict_name(Verdict verdict) noexcept {
    switch (verdict) {
    case Verdict::proven:
        return "proven";
    case Verdict::unproven:
        return "unproven";
    case Verdict::failed:
        break;
    }
    return "failed";
}

Reference parse_reference(std::string_view text, const fs::path& path) {
    const std::string subject = path.string();
    const json object = json::parse(text, nullptr, false);
    const auto text_of = [&](const char* key) {
        const auto it = object.find(key);
        return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
    };
    if (!object.is_object() || text_of("format") != "cuset-reference")
        throw Error(ErrorCode::bad_format,
                    "is no reference: a JSON object with format \"cuset-reference\" is needed; "
                    "packaging/make_reference.py makes one",
                    subject);
    const auto version = object.find("version");
    if (version == object.end() || !version->is_number_integer() || version->get<int>() != 1)
        throw Error(ErrorCode::bad_format, "is a reference of another version, needed 1", subject);
    Reference reference;
    reference.path = path;
    reference.made_with = printable(text_of("made_with"), 200);
    const auto samples = object.find("samples");
    if (samples == object.end() || !samples->is_array() || samples->empty())
        throw Error(ErrorCode::bad_value, "has no samples", subject);
    for (std::size_t i = 0; i < samples->size(); ++i)
        reference.samples.push_back(read_sample((*samples)[i], i, subject));
    return reference;
}

Reference read_reference(const fs::path& path) {
    return parse_reference(read_file(path, reference_limit), path);
}

std::optional<fs::path> find_reference(const std::string& path) {
    const fs::path model = path;
    std::error_code ignored;
    std::vector<fs::path> places;
    if (fs::is_directory(model, ignored))
        places = {model / reference_name};
    else
        places = {model.parent_path() / (model.stem().string() + "." + reference_name),
                  model.parent_path() / reference_name};
    for (const fs::path& place : places)
        if (fs::is_regular_file(place, ignored))
            return place;
    return std::nullopt;
}

Verification verify_session(InferenceSession& session, const Reference& reference,
                            RunControl& control) {
    Verification v;
    v.reference = reference.path.string();
    v.made_with = reference.made_with.empty() ? "an unnamed program" : reference.made_with;
    v.stored_dtype = session.info().stored_dtype;
    DtypeDifference d;
    d.dtype = session.info().dtype;
    std::int64_t total = 0;
    for (const ReferenceSample& sample : reference.samples)
        total += static_cast<std::int64_t>(sample.log_probs.size());
    ScoreOptions options;
    options.top_k = 0;
    for (std::size_t i = 0; i < reference.samples.size(); ++i) {
        const ReferenceSample& expected = reference.samples[i];
        if (!expected.text.empty()) {
            ++v.texts;
            v.equal_texts += session.tokenizer().encode(expected.text).ids == expected.ids ? 1 : 0;
        }
        Sample sample;
        sample.id = "reference " + std::to_string(i);
        sample.prepared.ids = expected.ids;
        sample.prepared.prompt_tokens = 1;
        options.prompt.max_length = static_cast<std::int32_t>(expected.ids.size());
        const ScoredSample scored = session.score(sample, session.encode(sample, options.prompt),
                                                  options, d.tokens, total, control);
        for (std::size_t t = 0; t < expected.log_probs.size(); ++t)
            add_difference(d, expected.log_probs[t], static_cast<double>(scored.scores.log_prob[t]),
                           static_cast<std::int64_t>(i), static_cast<std::int64_t>(t));
    }
    d.mean /= static_cast<double>(d.tokens);
    d.mean_probability /= static_cast<double>(d.tokens);
    d.verdict = judge(d, is_quantised(v.stored_dtype));
    v.dtypes.push_back(d);
    conclude(v);
    return v;
}

Verification verify_model(const std::string& name_or_path, const SessionOptions& options,
                          const std::vector<std::string>& dtypes, const std::string& reference,
                          RunControl& control) {
    std::optional<fs::path> path;
    if (reference.empty())
        path = find_reference(inspect_model(name_or_path).path);
    else
        path = reference;
    Verification all;
    if (!path) {
        all.reason = "the model has no reference (cuset-reference.json beside it); "
                     "packaging/make_reference.py makes one with transformers";
        return all;
    }
    const Reference expected = read_reference(*path);
    for (const std::string& dtype : dtypes) {
        SessionOptions own = options;
        own.dtype = dtype;
        InferenceSession session(name_or_path, own, control);
        all = merge(std::move(all), verify_session(session, expected, control));
    }
    return all;
}

} // namespace cuset
