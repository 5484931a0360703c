#include "core/io/columnar_file.h"

#include <array>
#include <string>
#include <system_error>
#include <utility>

#include <dlfcn.h>

#include "core/base/error.h"
#include "core/io/columnar_module.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

// build/bin/cuset -> build/lib/cuset/, and the same below an installation's prefix.
fs::path module_path() {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    return program.parent_path().parent_path() / "lib" / "cuset" / columnar_module::file_name;
}

columnar_module::OpenFunction* load_module() {
    const fs::path path = module_path();
    std::error_code failed;
    if (!fs::exists(path, failed))
        throw Error(ErrorCode::unsupported,
                    "Parquet and Arrow files are not readable by this build: run "
                    "`packaging/setup --arrow` and `packaging/build`, or save the data as JSON "
                    "Lines (pandas: to_json(path, orient=\"records\", lines=True))");
    // The handle stays open as long as the program: the rows' code lies in it.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* open = handle == nullptr ? nullptr : dlsym(handle, columnar_module::open_name);
    if (open == nullptr)
        throw Error(ErrorCode::unsupported,
                    std::string("the reader of Parquet and Arrow files cannot be loaded: ")
                        + dlerror(),
                    path.string());
    return reinterpret_cast<columnar_module::OpenFunction*>(open);
}

// Gives the module's errors their file.
class NamedRows : public ColumnarRows {
public:
    NamedRows(std::unique_ptr<ColumnarRows> rows, std::string file)
        : rows_(std::move(rows))
        , file_(std::move(file)) { }

    std::int64_t row_count() const override { return rows_->row_count(); }

    std::optional<ColumnarRow> next() override {
        try {
            return rows_->next();
        } catch (const std::exception& error) {
            throw Error(ErrorCode::bad_format, error.what(), file_);
        }
    }

private:
    std::unique_ptr<ColumnarRows> rows_;
    std::string file_;
};

} // namespace

std::optional<ColumnarFormat> columnar_format(std::string_view start) {
    constexpr std::array<std::pair<std::string_view, ColumnarFormat>, 3> magics{{
        {"PAR1", ColumnarFormat::parquet},
        {"ARROW1", ColumnarFormat::arrow_file},
        {"\xff\xff\xff\xff", ColumnarFormat::arrow_stream},
    }};
    for (const auto& [magic, format] : magics)
        if (start.starts_with(magic))
            return format;
    return std::nullopt;
}

std::unique_ptr<ColumnarRows> open_columnar(const fs::path& path, ColumnarFormat format,
                                            std::size_t max_bytes) {
    static columnar_module::OpenFunction* const open = load_module();
    try {
        return std::make_unique<NamedRows>(
            std::unique_ptr<ColumnarRows>(open(path.c_str(), format, max_bytes)), path.string());
    } catch (const std::exception& error) {
        throw Error(ErrorCode::bad_format, error.what(), path.string());
    }
}

bool has_columnar_reader() {
    std::error_code failed;
    return fs::exists(module_path(), failed);
}

} // namespace cuset
