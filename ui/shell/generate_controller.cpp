#include "ui/shell/generate_controller.h"

#include <cmath>
#include <utility>

#include "core/model/generate_answer.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

const QString channel = QStringLiteral("generate");
constexpr int shownUnits = 24;

AnswerToken shownToken(const InferenceSession& session, const GeneratedToken& token) {
    AnswerToken shown;
    shown.bytes = visible_bytes(session, token);
    shown.confidence = std::exp(token.log_prob);
    shown.entropy = token.entropy;
    shown.rank = token.rank;
    for (std::size_t k = 0; k < token.top_ids.size(); ++k)
        shown.alternatives.push_back(
            {visibleText(session.tokenizer().token_bytes(token.top_ids[k]), shownUnits)
                 .replace(QLatin1Char(' '), QChar(0x00b7)),
             std::exp(token.top_log_probs[k])});
    return shown;
}

} // namespace

struct GenerateController::Run {
    std::string model;
    ScoringOptions options;
    GenerateRequest request;
    std::function<void(int, const QString&)> started;
    std::function<void(int, AnswerToken)> token;
    std::function<void(int, const QString&)> ended;
};

GenerateController::GenerateController(ModelLane* lane, QObject* parent)
    : QObject(parent)
    , lane_(lane) { }

bool GenerateController::isRunning() const {
    return lane_->isRunning(channel);
}

void GenerateController::stop() {
    lane_->stop(channel);
}

void GenerateController::deliver(quint64 request, const std::function<void()>& emission) {
    QMetaObject::invokeMethod(
        this,
        [this, request, emission] {
            if (request == request_)
                emission();
        },
        Qt::QueuedConnection);
}

bool GenerateController::work(ModelLane::Holder& holder, const Run& run, RunControl& control) {
    for (int variant = 0; variant < static_cast<int>(run.request.variants.size()); ++variant) {
        const GenerateRequest::Variant& each =
            run.request.variants[static_cast<std::size_t>(variant)];
        run.started(variant, each.title);
        SessionOptions options = run.options.session;
        options.adapter = nativePath(each.adapter).string();
        InferenceSession& session = holder.open(run.model, options, control);
        const GeneratedAnswer answer = generate_answer(
            session, run.request.sample, run.options.score.prompt, run.request.options,
            [&](const GeneratedToken& token) {
                run.token(variant, shownToken(session, token));
                return true;
            },
            control);
        run.ended(variant, answer.ended ? tr("ended by the model") : tr("cut at the token limit"));
    }
    return true;
}

void GenerateController::start(const QString& modelPath, const ScoringOptions& options,
                               const GenerateRequest& request) {
    if (modelPath.isEmpty() || request.variants.empty())
        return;
    Run run{nativePath(modelPath).string(), options, request, {}, {}, {}};
    const quint64 number = ++request_;
    run.started = [this, number](int variant, const QString& title) {
        deliver(number, [this, variant, title] {
            runningVariant_ = variant;
            emit variantStarted(variant, title);
        });
    };
    run.token = [this, number](int variant, AnswerToken token) {
        deliver(number,
                [this, variant, token = std::move(token)] { emit tokenCame(variant, token); });
    };
    run.ended = [this, number](int variant, const QString& why) {
        deliver(number, [this, variant, why] {
            runningVariant_ = -1;
            emit variantEnded(variant, why);
        });
    };
    lane_->start(
        channel,
        [run = std::move(run)](ModelLane::Holder& holder, RunControl& control) {
            return work(holder, run, control);
        },
        [this](JobOutcome<bool> outcome) {
            // Tokens were handed over before: this comes after the last of them.
            const bool stopped = std::holds_alternative<Cancelled>(outcome);
            if (const auto* error = std::get_if<1>(&outcome)) {
                failed_ = true;
                lastError_ = error->code();
                emit message(MessageKind::Error, QString::fromUtf8(error->what()));
            }
            if (const int variant = std::exchange(runningVariant_, -1); variant >= 0)
                emit variantEnded(variant, stopped ? tr("stopped") : tr("failed"));
            emit finished();
        });
}

} // namespace cuset
