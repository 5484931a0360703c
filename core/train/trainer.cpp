#include "core/train/trainer.h"

#include <chrono>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/model/torch_errors.h"
#include "core/train/checkpoint.h"
#include "core/train/model_output.h"
#include "core/train/run_choice.h"
#include "core/train/run_folder.h"
#include "core/train/run_reporter.h"
#include "core/train/run_reports.h"
#include "core/train/step_engine.h"
#include "core/train/step_events.h"
#include "core/train/train_state.h"
#include "core/train/training_setup.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::uint64_t state_limit = 1u << 20;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

class Run {
public:
    Run(const TrainConfig& config, const TrainOptions& options, ProcessGroup& group,
        RunReporter& reporter, RunControl& control)
        : config_(config)
        , options_(options)
        , group_(group)
        , reporter_(reporter)
        , control_(control) { }

    TrainResult run() {
        const at::NoGradGuard no_graph;
        load();
        resume();
        announce();
        bool stopped = loop();
        if (!stopped)
            finish();
        return {stopped, group_.leads(), state_.step, config_.output};
    }

    std::int64_t step() const { return state_.step; }
    // The one to go on from after a failure.
    const std::string& good_checkpoint() const {
        return state_.bad_in_row > 0 ? good_checkpoint_ : last_checkpoint_;
    }

private:
    bool stop_requested() const {
        return control_.stop_requested()
            || (options_.stop_after && state_.step >= *options_.stop_after);
    }

    // Reports without being thrown out of a step.
    void progress(const std::string& stage, std::int64_t done, std::int64_t total,
                  const std::string& unit) {
        try {
            control_.checkpoint({stage, done, total, unit});
        } catch (const Cancelled&) {
            return; // stop_requested() tells
        }
    }

    void load() {
        place_ = choose_place(config_);
        if (const std::string note = group_.set_device(place_.device); !note.empty())
            reporter_.log("warning", note);
        loaded_ = load_files(config_);
        for (const std::string& warning : loaded_->warnings)
            reporter_.log("warning", warning);
        data_ =
            load_train_data(config_, *loaded_->encoder, options_.allow_benchmark_data, control_);
        for (const std::string& note : data_.notes)
            reporter_.log("warning", note);
        require_equal_ranks();
        if (reporter_.folder() && config_.validation_share > 0)
            write_file_atomically(reporter_.folder()->path() / "validation.json",
                                  held_out_json(config_, data_));
        check_memory();
        with_torch_errors(config_.model, [&] {
            model_.emplace(make_training_model(config_, loaded_->files, place_, control_,
                                               quantization_samples(data_.training),
                                               &quantization_));
            if (config_.objective.needs_base() && config_.method == TrainMethod::full)
                base_ = std::make_unique<CausalLM>(load_weights(loaded_->files, place_, control_));
        });
        loader_.emplace(static_cast<std::int64_t>(data_.training.size()),
                        config_.samples_per_step(), config_.seed, config_.shuffle);
        rate_.schedule = config_.schedule;
        rate_.base = config_.learning_rate;
        rate_.total_steps = config_.max_steps.value_or(loader_->steps_per_epoch() * config_.epochs);
        rate_.warmup_steps = config_.warmup_steps.value_or(
            warmup_from_ratio(config_.warmup_ratio, rate_.total_steps));
        rate_.min_ratio = config_.min_lr_ratio;
        rate_.decay_ratio = config_.decay_ratio;
        engine_.emplace(*model_, config_, group_, base_.get());
        if (reporter_.folder())
            require_space(reporter_.folder()->path(), checkpoint_bytes(*model_));
    }

    void check_memory() {
        std::int64_t longest = 0;
        for (const TrainSample& sample : data_.training)
            longest = std::max(longest, sample.length());
        const TrainingMemory memory =
            estimate_training(config_, loaded_->files.config, place_.type == at::kFloat ? 4 : 2,
                              longest * config_.batch_size);
        if (memory.total() > place_.free_bytes && !options_.ignore_memory_limit)
            throw Error(ErrorCode::out_of_memory,
                        "training needs about " + format_bytes(memory.total()) + " on "
                            + place_.device_name + ", " + format_bytes(place_.free_bytes)
                            + " are free; use gradient_checkpointing, a smaller max_length or "
                              "batch_size, or bfloat16",
                        config_.model);
    }

    // Data-parallel training of different things would go on without a word.
    void require_equal_ranks() {
        const std::string own = loaded_->model_sha256 + " " + data_.sha256;
        const std::string leading = group_.broadcast(own);
        if (own != leading)
            throw Error(ErrorCode::bad_value,
                        "rank " + std::to_string(group_.rank()) + " found another "
                            + (leading.starts_with(loaded_->model_sha256) ? "data" : "model")
                            + " than rank 0; every machine needs the same files",
                        config_.output);
    }

    // Rank 0 reads the checkpoint, and the others get it from there: they need not see its disk.
    void resume() {
        state_.model_sha256 = loaded_->model_sha256;
        state_.data_sha256 = data_.sha256;
        state_.trainable_parameters = model_->parameters().count();
        if (options_.resume.empty())
            return;
        const std::string kept = group_.broadcast(group_.leads() ? read_checkpoint() : "");
        if (kept.empty())
            return;
        state_ = parse_train_state(kept, config_.output);
        const Parameters& parameters = model_->parameters();
        for (at::Tensor values :
             {parameters.values(), parameters.first_moment(), parameters.second_moment()})
            group_.broadcast(values);
        model_->refresh();
        saved_step_ = state_.step;
        last_checkpoint_ = "checkpoints/step-" + std::to_string(state_.step);
        // The run may have died between the checkpoint and its event.
        if (reporter_.folder() && reporter_.folder()->reported_checkpoint() < state_.step)
            reporter_.event(CheckpointEvent{state_.step, last_checkpoint_});
    }

    // Its state as JSON, or "" if there is none; parameters and moments are in the model.
    std::string read_checkpoint() {
        const fs::path checkpoints = reporter_.folder()->checkpoints();
        clean_unfinished(checkpoints);
        std::vector<std::string> faults;
        const auto place = newest_checkpoint(checkpoints, faults);
        for (const std::string& fault : faults)
            reporter_.log("warning", "not resumed from " + fault);
        if (!place)
            return {};
        const fs::path file = place->path / "state.json";
        std::string text = read_file(file, state_limit);
        require_same_run(parse_train_state(text, file.string()), state_, config_.output);
        read_optimizer(place->path / "optimizer.safetensors", model_->parameters());
        if (!model_->trains_weights())
            read_adapter(place->path, *model_);
        return text;
    }

    void announce() {
        StartedEvent started;
        started.model = config_.model;
        started.objective =
            std::string(token_objective_names[static_cast<std::size_t>(config_.objective.name)]);
        started.formula = formula_text(config_.objective);
        started.method = config_.method == TrainMethod::full ? "full" : "lora";
        started.dtype = place_.dtype;
        started.device = place_.device_name;
        started.version = "CuSeT Studio";
        started.total_steps = rate_.total_steps;
        started.epochs = config_.epochs;
        started.samples = static_cast<std::int64_t>(data_.training.size());
        started.tokens = data_.tokens();
        started.cut_samples = data_.cut_samples;
        started.left_out_samples = data_.left_out_samples;
        started.validation_samples = static_cast<std::int64_t>(data_.validation.size());
        started.trainable_parameters = model_->parameters().count();
        started.resumed_from = options_.resume.empty() ? -1 : state_.step;
        started.ranks = group_.size();
        if (quantization_.tokens > 0) {
            started.unquantized_loss = quantization_.unquantized;
            started.quantized_loss = quantization_.quantized;
        }
        reporter_.event(started);
        if (quantization_.tokens > 0)
            reporter_.log("info", quantization_text(config_.quantize_base, quantization_));
        if (reporter_.folder())
            reporter_.folder()->log("started: " + started.formula);
    }

    bool any_rank(bool here) {
        double count = here;
        group_.all_reduce(std::span(&count, 1));
        return count > 0;
    }

    // True if it was stopped on request.
    bool loop() {
        start_ = Clock::now();
        first_step_ = state_.step;
        const double seconds_before = state_.seconds;
        if (state_.evaluation_due && !evaluate())
            return stop();
        bool stops = any_rank(stop_requested());
        while (state_.step < rate_.total_steps && !early_stop()) {
            if (stops)
                return stop();
            stops = train_step();
            state_.seconds = seconds_before + seconds_since(start_);
            if (evaluation_after_step() && !(state_.evaluation_due = true, evaluate()))
                return stop();
            if (config_.save_steps && state_.step % *config_.save_steps == 0
                && state_.step < rate_.total_steps && !stops && state_.bad_in_row == 0)
                save();
        }
        return false;
    }

    bool evaluation_after_step() const {
        return !data_.validation.empty()
            && ((config_.eval_steps && state_.step % *config_.eval_steps == 0)
                || state_.step == rate_.total_steps);
    }

    bool early_stop() const {
        return config_.patience && state_.without_improvement >= *config_.patience;
    }

    bool train_step() {
        const Clock::time_point begin = Clock::now();
        const StepGroup group = loader_->group(state_.step);
        const double rate = rate_.at(state_.step);
        const StepResult result = with_torch_errors("step " + std::to_string(state_.step + 1), [&] {
            return engine_->step(
                data_.training, group, rate, state_.updates + 1,
                control_.stop_requested()
                    || (options_.stop_after && state_.step + 1 >= *options_.stop_after));
        });
        ++state_.step;
        state_.updates += result.finite;
        state_.bad_in_row = result.finite ? 0 : state_.bad_in_row + 1;
        state_.skipped += !result.finite;
        if (result.finite)
            good_checkpoint_ = last_checkpoint_; // what it holds led to a finite step
        state_.tokens += static_cast<std::int64_t>(result.sums.tokens);
        state_.last_loss = result.loss;
        report(result, group, rate, seconds_since(begin));
        if (!result.finite)
            bad_step(result);
        progress("training", state_.step, rate_.total_steps, "steps");
        return result.sums.stops > 0;
    }

    void report(const StepResult& result, const StepGroup& group, double rate, double seconds) {
        StepEvent event = step_event(state_.step, result);
        event.epoch = static_cast<double>(group.epoch)
            + static_cast<double>(group.position + static_cast<std::int64_t>(group.samples.size()))
                / static_cast<double>(data_.training.size());
        event.learning_rate = rate;
        event.tokens_per_second = result.sums.sequence_tokens / std::max(seconds, 1e-9);
        event.memory_bytes = resident_bytes();
        const auto done = static_cast<double>(state_.step - first_step_);
        event.eta_seconds =
            seconds_since(start_) / done * static_cast<double>(rate_.total_steps - state_.step);
        // A resumed run computes steps again that the file holds already.
        if (reporter_.folder() && state_.step > reporter_.folder()->reported_step())
            reporter_.event(event);
    }

    void bad_step(const StepResult& result) {
        reporter_.log("warning",
                      "step " + std::to_string(state_.step) + " was skipped: loss "
                          + std::to_string(result.loss) + ", gradient norm "
                          + std::to_string(result.grad_norm));
        if (state_.bad_in_row >= config_.max_bad_steps)
            throw Error(ErrorCode::failure,
                        std::to_string(state_.bad_in_row)
                            + " steps in a row had a loss or gradient that is not finite; the last "
                              "good checkpoint is "
                            + (good_checkpoint_.empty() ? "none" : good_checkpoint_)
                            + "; try a smaller learning rate or float32",
                        config_.output);
    }

    // False if it was stopped.
    bool evaluate() {
        const auto sums = engine_->evaluate(data_.validation, [&](std::int64_t done) {
            progress("evaluating", done, static_cast<std::int64_t>(data_.validation.size()),
                     "samples");
            return control_.stop_requested();
        });
        if (!sums)
            return false;
        state_.evaluation_due = false;
        EvaluationEvent event = evaluation_event(state_.step, *sums);
        event.best = !(event.loss >= state_.best_loss);
        if (event.best) {
            state_.best_loss = event.loss;
            state_.best_step = state_.step;
        }
        state_.without_improvement = event.best ? 0 : state_.without_improvement + 1;
        if (reporter_.folder() && state_.step > reporter_.folder()->reported_evaluation())
            reporter_.event(event);
        if (event.best && state_.step < rate_.total_steps)
            save();
        return true;
    }

    void save() {
        RunFolder* folder = reporter_.folder();
        if (!folder || saved_step_ == state_.step)
            return;
        CheckpointWriter writer(folder->checkpoints(), state_.step, checkpoint_bytes(*model_));
        write_trained(writer.folder());
        write_optimizer(writer.folder() / "optimizer.safetensors", model_->parameters(),
                        model_->trains_weights());
        write_file_atomically(writer.folder() / "state.json", train_state_json(state_));
        folder->sync();
        const CheckpointPlace place = writer.commit();
        saved_step_ = state_.step;
        last_checkpoint_ = "checkpoints/" + place.path.filename().string();
        reporter_.event(CheckpointEvent{state_.step, last_checkpoint_});
        prune_checkpoints(folder->checkpoints(), config_.keep_checkpoints, state_.best_step);
    }

    void write_trained(const fs::path& folder) {
        if (!model_->trains_weights())
            write_adapter(folder, *model_, config_.model, config_.lora.dropout,
                          config_.lora.rank_stabilized);
        else
            write_model_folder(folder, model_->weights(), loaded_->files, place_.dtype);
    }

    bool stop() {
        save();
        if (reporter_.folder())
            reporter_.folder()->log("stopped at step " + std::to_string(state_.step));
        reporter_.event(finished("stopped"));
        return true;
    }

    FinishedEvent finished(const std::string& reason) const {
        FinishedEvent event;
        event.reason = reason;
        event.step = state_.step;
        event.loss = state_.last_loss;
        event.best_step = state_.best_step;
        event.best_loss = state_.best_loss;
        event.skipped_steps = state_.skipped;
        event.seconds = state_.seconds;
        return event;
    }

    void finish() {
        save();
        if (reporter_.folder())
            write_final(early_stop() ? "early_stopping" : "completed");
        // All ranks end with what rank 0 met while it wrote.
        group_.barrier();
    }

    void write_final(const std::string& reason) {
        const fs::path final_folder = reporter_.folder()->final_folder();
        const fs::path aside = reporter_.folder()->path() / ".unfinished-final";
        require_space(reporter_.folder()->path(), checkpoint_bytes(*model_));
        std::error_code error;
        fs::remove_all(aside, error);
        fs::create_directories(aside, error);
        write_trained(aside);
        FinishedEvent event = finished(reason);
        event.logit_difference = saved_difference(aside);
        fs::remove_all(final_folder, error);
        fs::rename(aside, final_folder, error);
        if (error)
            throw Error(ErrorCode::disk, "cannot be renamed: " + error.message(), aside.string());
        reporter_.event(event);
        write_run_reports(reporter_.folder()->path(), config_);
    }

    // The largest difference between the logits of the trained model and of what was saved, read
    // anew. An adapter is read into this model: a second base might not fit.
    double saved_difference(const fs::path& folder) {
        const TrainSample& sample = data_.training.front();
        const at::Tensor trained = engine_->probe_logits(sample);
        const auto largest = [&](StepEngine& engine) {
            return (engine.probe_logits(sample) - trained).abs().max().item<double>();
        };
        if (model_->trains_weights()) {
            RunControl quiet;
            const ModelFiles files = open_model_files(folder.string());
            TrainingModel saved(load_weights(files, place_, quiet), false);
            StepEngine engine(saved, config_, group_, nullptr);
            return largest(engine);
        }
        const at::Tensor values = model_->parameters().values().clone();
        read_adapter(folder, *model_);
        model_->refresh();
        const double difference = largest(*engine_);
        model_->parameters().values().copy_(values);
        model_->refresh();
        return difference;
    }

    const TrainConfig& config_;
    const TrainOptions& options_;
    ProcessGroup& group_;
    RunReporter& reporter_;
    RunControl& control_;
    ComputePlace place_;
    std::unique_ptr<LoadedFiles> loaded_;
    TrainData data_;
    QuantizationLoss quantization_;
    std::optional<TrainingModel> model_;
    std::unique_ptr<CausalLM> base_;
    std::optional<BatchLoader> loader_;
    LearningRate rate_;
    std::optional<StepEngine> engine_;
    TrainState state_;
    std::int64_t first_step_ = 0, saved_step_ = -1;
    std::string last_checkpoint_, good_checkpoint_;
    Clock::time_point start_;
};

// `stopped` gets what there is to say where a stop ends it before the first step.
TrainResult train_as_rank(const RunChoice& choice, ProcessGroup& group, RunControl& control,
                          TrainResult& stopped) {
    const auto& [config, options] = choice;
    std::optional<RunFolder> folder;
    if (group.leads())
        folder.emplace(options.resume.empty() ? RunFolder::create(config)
                                              : RunFolder::reopen(config.output));
    RunReporter reporter(std::move(folder), options.on_event);
    Run run(config, options, group, reporter, control);
    try {
        return run.run();
    } catch (const Cancelled&) {
        FinishedEvent event;
        event.reason = "stopped";
        event.step = run.step();
        reporter.event(event);
        stopped = {true, group.leads(), run.step(), config.output};
        throw;
    } catch (const Error& error) {
        reporter.failure(error, run.step(), run.good_checkpoint());
        throw;
    } catch (const std::exception& error) {
        reporter.failure(Error(ErrorCode::failure, error.what()), run.step(),
                         run.good_checkpoint());
        throw;
    }
}

} // namespace

TrainResult train(const std::optional<TrainConfig>& given, const TrainOptions& options,
                  RunControl& control) {
    TrainResult stopped;
    stopped.stopped = true;
    try {
        const auto group = open_process_group();
        return with_ranks(*group, [&] {
            return train_as_rank(choose_run(given, options, *group), *group, control, stopped);
        });
    } catch (const Cancelled&) {
        return stopped;
    }
}

} // namespace cuset
