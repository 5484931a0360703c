// What the tests of this room share: where the fixture models are, and text files.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

namespace cuset::test {

inline std::filesystem::path data_folder() {
    return CUSET_TEST_DATA;
}

inline std::filesystem::path model_path(const std::string& name) {
    return data_folder() / "models" / name;
}

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("no " + path.string());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
    return nlohmann::json::parse(read_text(path));
}

// A copy of a fixture model that a test may spoil; removed at the end.
class ModelCopy {
public:
    explicit ModelCopy(const std::string& name) {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "cuset-model-XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw std::runtime_error("no temporary folder");
        path_ = pattern;
        std::filesystem::copy(model_path(name), path_, std::filesystem::copy_options::recursive);
    }
    ~ModelCopy() { std::filesystem::remove_all(path_); }
    ModelCopy(const ModelCopy&) = delete;
    ModelCopy& operator=(const ModelCopy&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void write(const std::string& file, const std::string& text) const {
        std::ofstream(path_ / file, std::ios::binary) << text;
    }
    // Changes config.json: `change` gets the parsed object.
    template <class F> void change_config(F change) const {
        nlohmann::json config = read_json(path_ / "config.json");
        change(config);
        write("config.json", config.dump());
    }

private:
    std::filesystem::path path_;
};

} // namespace cuset::test
