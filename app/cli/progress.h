// Progress and interruption of a command: a bar on a terminal, sparse lines elsewhere, all on
// standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/run_control.h"

namespace cuset::cli {

// One at a time. While it lives, SIGINT and SIGTERM ask its control to stop; a second signal ends
// the program at once with exit code 130.
class CommandRun {
public:
    // Not `shows`: no progress is printed, e.g. by all ranks but one.
    explicit CommandRun(bool shows = true);
    ~CommandRun();
    CommandRun(const CommandRun&) = delete;
    CommandRun& operator=(const CommandRun&) = delete;

    RunControl& control() { return control_; }
    // Ends the bar's line. The destructor does it too.
    void finish();

private:
    void show(const Progress& progress);

    RunControl control_;
    std::string stage_;
    std::chrono::steady_clock::time_point stage_start_;
    std::chrono::steady_clock::time_point last_line_;
    bool line_open_ = false;
};

// True if that stream is a terminal that wants colour (NO_COLOR, TERM=dumb are honoured).
bool wants_color(int descriptor);

} // namespace cuset::cli
