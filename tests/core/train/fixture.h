// What the tests of this room share: the fixture models, temporary folders, configurations.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "core/train/train_config.h"

namespace cuset::test {

inline std::filesystem::path data_folder() {
    return CUSET_TEST_DATA;
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

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "cuset-train-XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw std::runtime_error("no temporary folder");
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

// The golden samples in file order, round and round, `count` of them.
inline std::string golden_data(const std::string& model, std::size_t count) {
    const nlohmann::json samples = read_json(data_folder() / "training" / model / "data.json");
    std::string lines;
    for (std::size_t i = 0; i < count; ++i)
        lines += samples[i % samples.size()].dump() + "\n";
    return lines;
}

// A LoRA run of the fixture model on golden data, float32, one thread, nothing random but dropout.
inline TrainConfig golden_config(const TemporaryFolder& folder, const std::string& model,
                                 std::size_t samples) {
    TrainConfig config;
    config.model = (data_folder() / "models" / model).string();
    config.data = {folder.write("data.jsonl", golden_data(model, samples)).string()};
    config.output = (folder.path() / "run").string();
    config.shuffle = false;
    config.epochs = 1;
    config.gradient_accumulation = 2;
    config.dtype = "float32";
    config.device = "cpu";
    config.threads = 1;
    config.lora.dropout = 0;
    return config;
}

} // namespace cuset::test
