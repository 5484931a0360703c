// cuset: the command line. Everything the window does can be done here.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/files.h"
#include "core/base/error.h"
#include "core/base/message.h"

namespace {

int exit_with(cuset::ExitCode code, const char* text) {
    std::fprintf(stderr, "cuset: %s\n", cuset::printable(text, 4000).c_str());
    return static_cast<int>(code);
}

// Why the first word is no command; "" if it is one, or an option.
std::string unknown_command(const CLI::App& program, const std::string& word) {
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands({}))
        names.push_back(command->get_name());
    if (word.empty() || word.front() == '-'
        || std::find(names.begin(), names.end(), word) != names.end())
        return "";
    const std::string near = cuset::nearest_name(word, names.data(), names.size());
    return "there is no command \"" + cuset::printable(word, 60) + "\""
        + (near.empty() ? "" : ", perhaps \"" + near + "\"") + "; cuset --help lists them";
}

} // namespace

int main(int argc, char** argv) {
    CLI::App program("CuSeT Studio: which tokens of a CUDA kernel a model is sure of, and which "
                     "training would see.",
                     "cuset");
    program.set_version_flag("--version", "cuset " CUSET_VERSION);
    program.require_subcommand(1);
    program.get_formatter()->column_width(38);
    cuset::cli::add_model_commands(program);
    cuset::cli::add_verify_command(program);
    cuset::cli::add_regions_command(program);
    cuset::cli::add_score_commands(program);
    cuset::cli::add_analysis_commands(program);
    cuset::cli::add_sweep_command(program);
    cuset::cli::add_compare_command(program);
    cuset::cli::add_report_command(program);
    cuset::cli::add_train_commands(program);
    cuset::cli::add_queue_command(program);
    if (const std::string wrong = unknown_command(program, argc > 1 ? argv[1] : ""); !wrong.empty())
        return exit_with(cuset::ExitCode::usage, wrong.c_str());
    try {
        program.parse(argc, argv);
        cuset::cli::finish_output();
    } catch (const CLI::RuntimeError& error) {
        return error.get_exit_code(); // a command that ended with a code of its own
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? 0 : static_cast<int>(cuset::ExitCode::usage);
    } catch (const cuset::Cancelled&) {
        return exit_with(cuset::ExitCode::cancelled, "stopped");
    } catch (const cuset::Error& error) {
        return exit_with(cuset::exit_code(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        return exit_with(cuset::ExitCode::no_memory_or_device, "out of memory");
    } catch (const std::exception& error) {
        return exit_with(cuset::ExitCode::failure, error.what());
    }
    return 0;
}
