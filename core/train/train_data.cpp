#include "core/train/train_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/io/note_file.h"
#include "core/model/label_file.h"
#include "core/model/response_tokens.h"
#include "core/train/counter_random.h"

namespace cuset {
namespace {

constexpr std::size_t most_notes = 100;

std::string name_of(const Sample& sample) {
    return printable(sample.origin.empty() ? sample.id : sample.origin, 120);
}

class Loader {
public:
    Loader(const TrainConfig& config, const PromptEncoder& encoder, bool allow_benchmark,
           RunControl& control)
        : config_(config)
        , encoder_(encoder)
        , allow_benchmark_(allow_benchmark)
        , control_(control) {
        prompt_.chat_template = config.chat_template;
        prompt_.max_length = config.max_length;
        prompt_.response = config.response;
    }

    TrainData load() {
        data_.training = encode_all(config_.data, true);
        if (!config_.validation.empty())
            data_.validation = encode_all(config_.validation, false);
        else if (config_.validation_share > 0)
            hold_out();
        if (data_.training.empty())
            throw Error(ErrorCode::bad_value,
                        "no sample can be trained on"
                            + (data_.notes.empty() ? std::string() : "; " + data_.notes.front()),
                        config_.data.front());
        data_.sha256 = digest();
        return std::move(data_);
    }

private:
    void note(const std::string& text) {
        if (data_.notes.size() < most_notes)
            data_.notes.push_back(text);
    }

    std::vector<TrainSample> encode_all(const std::vector<std::string>& files, bool trains) {
        const Dataset dataset =
            read_samples({files.begin(), files.end()}, read_options(config_), control_);
        if (trains && dataset.benchmark_test_set && !allow_benchmark_)
            throw Error(
                ErrorCode::bad_value,
                "holds a benchmark's test set: a model trained on it cannot be judged by it; "
                "use other data, or --allow-benchmark-data if that is meant",
                files.front());
        for (const BadRecord& bad : dataset.bad_records)
            note(printable(bad.file) + ":" + std::to_string(bad.line) + ": "
                 + printable(bad.reason));
        for (const std::string& warning : dataset.warnings)
            note(printable(warning, 1000));
        data_.bad_records += static_cast<std::int64_t>(dataset.bad_records.size());
        const std::vector<std::filesystem::path> paths(files.begin(), files.end());
        corrections_ = find_corrections(paths, {});
        if (!corrections_.empty())
            note(std::to_string(corrections_.size()) + " corrections of labels beside "
                 + printable(files.front()) + " are used");
        const SampleNotes notes = find_notes(files.front());
        std::int64_t quarantined = 0;
        std::vector<TrainSample> samples;
        std::int64_t record = -1;
        std::string_view origin;
        for (const Sample& sample : dataset.samples) {
            if (!config_.every_turn || record < 0 || sample.origin != origin)
                ++record;
            origin = sample.origin;
            if (notes.leaves_out(sample.id)) {
                ++quarantined;
                continue;
            }
            control_.checkpoint({"tokenizing", static_cast<std::int64_t>(samples.size()),
                                 static_cast<std::int64_t>(dataset.samples.size()), "samples"});
            add(sample, record, samples);
        }
        data_.left_out_samples += quarantined;
        if (quarantined > 0)
            note(std::to_string(quarantined)
                 + " quarantined samples are left out, as the notes "
                   "beside "
                 + printable(files.front()) + " say");
        return samples;
    }

    void add(const Sample& sample, std::int64_t record, std::vector<TrainSample>& samples) {
        Encoding encoding;
        try {
            encoding = encoder_.encode(sample, prompt_);
        } catch (const Error& error) {
            if (config_.over_long == OverLong::refuse)
                throw;
            ++data_.left_out_samples;
            note("left out " + name_of(sample) + ": " + printable(error.message(), 300));
            return;
        }
        const bool cut = encoding.cut_tokens > 0;
        if (cut && config_.over_long == OverLong::refuse)
            throw Error(ErrorCode::bad_value,
                        "is " + std::to_string(encoding.cut_tokens)
                            + " tokens longer than max_length " + std::to_string(config_.max_length)
                            + ", and over_long is \"refuse\"; use \"cut\" or \"drop\"",
                        name_of(sample));
        if (cut && config_.over_long == OverLong::drop) {
            ++data_.left_out_samples;
            note("left out " + name_of(sample) + ": longer than max_length");
            return;
        }
        data_.cut_samples += cut;
        TrainSample train;
        train.id = sample.id;
        train.response_begin = encoding.response_begin;
        train.labels = label_response(sample, encoding);
        apply_corrections(corrections_, sample.id, encoding.spans, train.labels);
        train.ids = std::move(encoding.ids);
        train.rows = std::move(encoding.rows);
        train.cut = cut;
        train.record = record;
        samples.push_back(std::move(train));
    }

    // Whole records: a prompt that is held out must not contain a trained response.
    void hold_out() {
        std::vector<std::int64_t> records; // those with a sample, rising
        for (const TrainSample& sample : data_.training)
            if (records.empty() || records.back() != sample.record)
                records.push_back(sample.record);
        const auto count = static_cast<std::int64_t>(records.size());
        const auto held = static_cast<std::int64_t>(
            std::ceil(config_.validation_share * static_cast<double>(count)));
        if (held >= count)
            throw Error(ErrorCode::bad_value, "leaves no sample to train on", "validation_share");
        std::set<std::int64_t> held_records;
        const auto order =
            random_permutation(count, random_key(RandomUse::validation, {config_.seed}));
        for (std::int64_t i = 0; i < held; ++i)
            held_records.insert(
                records[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
        std::vector<TrainSample> kept;
        for (TrainSample& sample : data_.training)
            (held_records.contains(sample.record) ? data_.validation : kept)
                .push_back(std::move(sample));
        data_.training = std::move(kept);
    }

    std::string digest() const {
        Sha256 sha;
        for (const auto* samples : {&data_.training, &data_.validation}) {
            sha.update("samples " + std::to_string(samples->size()) + "\n");
            for (const TrainSample& sample : *samples) {
                sha.update(std::to_string(sample.length()) + " "
                           + std::to_string(sample.response_begin) + "\n");
                sha.update(std::as_bytes(std::span(sample.ids)));
                sha.update(std::as_bytes(std::span(sample.rows)));
                sha.update(std::as_bytes(std::span(sample.labels)));
            }
        }
        return sha.hex_digest();
    }

    const TrainConfig& config_;
    const PromptEncoder& encoder_;
    bool allow_benchmark_;
    RunControl& control_;
    PromptOptions prompt_;
    std::vector<LabelCorrection> corrections_; // a person's, beside the files being read
    TrainData data_;
};

} // namespace

std::int64_t TrainData::tokens() const {
    std::int64_t sum = 0;
    for (const TrainSample& sample : training)
        sum += sample.response_tokens();
    return sum;
}

std::int64_t TrainData::sequence_tokens() const {
    std::int64_t sum = 0;
    for (const TrainSample& sample : training)
        sum += sample.length();
    return sum;
}

ReadOptions read_options(const TrainConfig& config) {
    ReadOptions options;
    options.prompt_field = config.prompt_field;
    options.response_field = config.response_field;
    options.every_turn = config.every_turn;
    return options;
}

TrainData load_train_data(const TrainConfig& config, const PromptEncoder& encoder,
                          bool allow_benchmark, RunControl& control) {
    return Loader(config, encoder, allow_benchmark, control).load();
}

std::string held_out_json(const TrainConfig& config, const TrainData& data) {
    nlohmann::ordered_json ids = nlohmann::ordered_json::array();
    for (const TrainSample& sample : data.validation)
        ids.push_back(sample.id);
    return nlohmann::ordered_json{
               {"seed", config.seed}, {"share", config.validation_share}, {"ids", std::move(ids)}}
               .dump(1, ' ', false, nlohmann::json::error_handler_t::replace)
        + "\n";
}

} // namespace cuset
