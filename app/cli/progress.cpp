#include "app/cli/progress.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "core/base/exit_code.h"
#include "core/base/message.h"

namespace cuset::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<RunControl*> interrupted_run{nullptr};

void on_signal(int) {
    RunControl* control = interrupted_run.load();
    if (!control || control->stop_requested())
        _exit(static_cast<int>(ExitCode::cancelled));
    control->request_stop();
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string format_duration(double seconds) {
    std::array<char, 32> text{};
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 3600)
        std::snprintf(text.data(), text.size(), "%ld:%02ld", whole / 60, whole % 60);
    else
        std::snprintf(text.data(), text.size(), "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60,
                      whole % 60);
    return text.data();
}

std::string amount(const Progress& progress) {
    if (progress.unit == "bytes")
        return format_bytes(static_cast<std::uint64_t>(progress.done)) + " of "
            + format_bytes(static_cast<std::uint64_t>(progress.total));
    return format_count(progress.done) + " of " + format_count(progress.total) + " "
        + progress.unit;
}

std::string rate_and_time_left(const Progress& progress, double seconds) {
    if (seconds < 0.5 || progress.done <= 0)
        return {};
    const double rate = static_cast<double>(progress.done) / seconds;
    const double left = static_cast<double>(progress.total - progress.done) / rate;
    std::string text;
    if (progress.unit == "tokens")
        text = ", " + format_count(static_cast<std::int64_t>(rate)) + " tokens/s";
    if (progress.done < progress.total)
        text += ", " + format_duration(left) + " left";
    return text;
}

} // namespace

CommandRun::CommandRun(bool shows)
    : control_(shows ? RunControl::Report([this](const Progress& progress) { show(progress); })
                     : RunControl::Report(),
               std::chrono::milliseconds(100)) {
    assert(!interrupted_run.load());
    interrupted_run = &control_;
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
}

CommandRun::~CommandRun() {
    finish();
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    interrupted_run = nullptr;
}

void CommandRun::finish() {
    if (line_open_)
        std::fputc('\n', stderr);
    line_open_ = false;
}

void CommandRun::show(const Progress& progress) {
    static constexpr int bar_width = 24;
    static constexpr double seconds_between_lines = 10;
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const bool new_stage = progress.stage != stage_;
    if (new_stage) {
        finish();
        stage_ = progress.stage;
        stage_start_ = Clock::now();
    }
    const bool ended = progress.total > 0 && progress.done >= progress.total;
    if (!terminal && !ended && (new_stage || seconds_since(last_line_) < seconds_between_lines))
        return;
    last_line_ = Clock::now();
    std::string line = progress.stage;
    if (progress.total > 0) {
        if (terminal) {
            const auto filled = static_cast<std::size_t>(
                std::min<std::int64_t>(bar_width, progress.done * bar_width / progress.total));
            line += " [" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "]";
        }
        line += " " + amount(progress) + rate_and_time_left(progress, seconds_since(stage_start_));
    }
    if (terminal)
        std::fprintf(stderr, "\r%s\x1b[K", printable(line).c_str());
    else
        std::fprintf(stderr, "%s\n", printable(line).c_str());
    std::fflush(stderr);
    line_open_ = terminal;
    if (ended)
        finish();
}

bool wants_color(int descriptor) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return isatty(descriptor) && !(no_color && *no_color) && terminal
        && std::string_view(terminal) != "dumb";
}

} // namespace cuset::cli
