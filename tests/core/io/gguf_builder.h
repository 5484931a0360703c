// Writes GGUF files piece by piece, right and wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cuset {

class GgufBuilder {
public:
    explicit GgufBuilder(std::uint64_t tensors = 0, std::uint64_t entries = 0,
                         std::uint32_t version = 3) {
        raw("GGUF").number(version).number(tensors).number(entries);
    }

    GgufBuilder& raw(const std::string& bytes) {
        bytes_ += bytes;
        return *this;
    }
    template <typename T> GgufBuilder& number(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
        return *this;
    }
    GgufBuilder& text(const std::string& value) {
        return number<std::uint64_t>(value.size()).raw(value);
    }
    // The key and type of a metadata entry; its value must follow.
    GgufBuilder& key(const std::string& name, std::uint32_t type) {
        return text(name).number(type);
    }
    GgufBuilder& list(std::uint32_t type, std::uint64_t count) {
        return number(type).number(count);
    }
    GgufBuilder& tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                        std::uint32_t type, std::uint64_t offset) {
        text(name).number(static_cast<std::uint32_t>(shape.size()));
        for (const std::uint64_t dimension : shape)
            number(dimension);
        return number(type).number(offset);
    }
    // Pads to the alignment and adds `count` bytes of tensor data.
    GgufBuilder& data(std::size_t count, std::size_t alignment = 32) {
        bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
        bytes_.append(count, '\1');
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

} // namespace cuset
