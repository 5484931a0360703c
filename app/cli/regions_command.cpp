// cuset regions: kernels, launches and CUDA-sensitive spans of source files.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/data_options.h"
#include "app/cli/format.h"
#include "core/base/message.h"
#include "core/cuda/structure.h"

namespace cuset::cli {
namespace {

struct RegionsOptions {
    std::vector<std::string> files;
    bool json = false;
    bool explain = false;
    bool response = false;
};

Json to_json(ByteSpan span) {
    return Json::array({span.begin, span.end});
}

Json to_json(const std::string& file, const CudaStructure& structure) {
    Json kernels = Json::array(), launches = Json::array(), dim3 = Json::array(),
         spans = Json::array(), islands = Json::array();
    for (const KernelDefinition& kernel : structure.kernels)
        kernels.push_back({{"name", kernel.name},
                           {"begin", kernel.span.begin},
                           {"end", kernel.span.end},
                           {"body", to_json(kernel.body)},
                           {"complete", kernel.complete},
                           {"in_macro", kernel.in_macro}});
    for (const KernelLaunch& launch : structure.launches) {
        Json arguments = Json::array();
        for (const ByteSpan argument : launch.arguments)
            arguments.push_back(to_json(argument));
        launches.push_back({{"kernel", launch.kernel},
                            {"begin", launch.span.begin},
                            {"end", launch.span.end},
                            {"config", to_json(launch.config)},
                            {"arguments", std::move(arguments)},
                            {"api", launch.api},
                            {"in_macro", launch.in_macro},
                            {"complete", launch.complete}});
    }
    for (const ByteSpan span : structure.dim3)
        dim3.push_back(to_json(span));
    for (const SensitiveSpan& span : structure.spans)
        spans.push_back({{"kind", sensitive_kind_names[static_cast<std::size_t>(span.kind)]},
                         {"begin", span.span.begin},
                         {"end", span.span.end},
                         {"rule", span.rule}});
    for (const Island& island : structure.islands)
        islands.push_back({{"kind", island_kind_name(island.kind)},
                           {"begin", island.span.begin},
                           {"end", island.span.end}});
    return {{"file", file},
            {"kernels", std::move(kernels)},
            {"launches", std::move(launches)},
            {"dim3", std::move(dim3)},
            {"spans", std::move(spans)},
            {"islands", std::move(islands)},
            {"placed_share", structure.placed_share},
            {"unfinished", structure.unfinished}};
}

std::int64_t line_of(std::string_view text, std::int32_t offset) {
    return 1 + std::count(text.begin(), text.begin() + offset, '\n');
}

void print_text(const std::string& file, std::string_view text, const CudaStructure& structure,
                bool explain) {
    std::printf("%s: %zu kernels, %zu launches, %zu sensitive spans, %s of the text placed%s\n",
                printable(file).c_str(), structure.kernels.size(), structure.launches.size(),
                structure.spans.size(), percent(structure.placed_share).c_str(),
                structure.unfinished ? ", cut off at the end" : "");
    for (const KernelDefinition& kernel : structure.kernels)
        std::printf("  line %lld: kernel %s%s%s\n",
                    static_cast<long long>(line_of(text, kernel.body.begin)),
                    printable(kernel.name).c_str(), kernel.complete ? "" : ", not closed",
                    kernel.in_macro ? ", in a macro" : "");
    for (const KernelLaunch& launch : structure.launches)
        std::printf("  line %lld: launch of %s, configuration %s\n",
                    static_cast<long long>(line_of(text, launch.span.begin)),
                    printable(launch.kernel).c_str(),
                    printable(text.substr(static_cast<std::size_t>(launch.config.begin),
                                          static_cast<std::size_t>(launch.config.size())),
                              80)
                        .c_str());
    if (!explain)
        return;
    std::vector<std::vector<std::string>> rows;
    for (const SensitiveSpan& span : structure.spans)
        rows.push_back({"  " + std::to_string(line_of(text, span.span.begin)),
                        std::string(sensitive_kind_names[static_cast<std::size_t>(span.kind)]),
                        std::string(text.substr(static_cast<std::size_t>(span.span.begin),
                                                static_cast<std::size_t>(span.span.size()))),
                        std::string(span.rule)});
    print_table({"  line", "kind", "text", "rule"}, rows);
}

void run(const RegionsOptions& options) {
    for (const std::string& file : options.files) {
        const std::string text = read_text(file);
        const CudaStructure structure =
            options.response ? find_cuda_structure(text) : find_cuda_structure_in_source(text);
        if (options.json)
            print_json(to_json(file, structure));
        else
            print_text(file, text, structure, options.explain);
    }
}

} // namespace

void add_regions_command(CLI::App& program) {
    auto options = std::make_shared<RegionsOptions>();
    CLI::App* command = program.add_subcommand(
        "regions", "kernels, launches and CUDA-sensitive spans of CUDA source");
    command->add_option("FILE", options->files, "source files, or - for standard input")
        ->required();
    command->add_flag("--json", options->json, "one line of JSON a file");
    command->add_flag("--explain", options->explain,
                      "list every span with the rule that marked it");
    command->add_flag("--response", options->response,
                      "the text is a model's response: look for code in Markdown, Python strings "
                      "and after reasoning");
    command->callback([options] { run(*options); });
}

} // namespace cuset::cli
