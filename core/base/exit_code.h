// Exit codes of our programs: the command line sets them, the window's run follower reads them.
#pragma once

namespace cuset {

enum class ExitCode : int {
    ok = 0,
    failure = 1,
    usage = 2,
    bad_input = 3,
    no_memory_or_device = 4, // out of memory, or the device asked for is not there
    disk = 5,
    can_resume = 75, // stopped on request, saved, `--resume` goes on
    cancelled = 130,
};

} // namespace cuset
