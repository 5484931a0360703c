// The program cuset-studio: its command line, its window, its exit code.
#pragma once

namespace cuset {

// Runs until the window is closed or the picture is saved. Returns an exit code of
// core/base/exit_code.h.
int runStudio(int argc, char** argv);

} // namespace cuset
