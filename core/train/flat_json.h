// FlatJson: the members of one JSON object without nesting, read in place. A long run's
// events.jsonl has 100,000 such lines; a document of each would cost ten times the reading.
// It takes a part of JSON only and says so: whatever is unusual (an escape, a nested value, a
// number out of range) is left to the general parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuset {

class FlatJson {
public:
    explicit FlatJson(std::string_view text);

    // The present member's name; "" at the end of the object.
    std::string_view key() const { return key_; }
    // False once something was met that is not taken here: the values read so far do not count.
    bool ok() const { return ok_; }
    // True if the object was read to its end and nothing but blanks follows it.
    bool at_end() const { return ok_ && done_; }

    // Takes the present member's value and goes on to the next member. Values of another type
    // leave `value` alone; a double becomes NaN.
    void take(double& value);
    void take(std::int64_t& value);
    void take(int& value);
    void take(bool& value);
    void take(std::string& value);
    void take(std::string_view& value); // into the text
    void skip();

private:
    enum class Kind : std::uint8_t { none, text, integer, real, boolean, null };
    struct Value {
        Kind kind = Kind::none;
        std::string_view text;
    };
    template <typename Integer> void take_integer(Integer& to);
    Value value();
    Value number();
    std::string_view quoted();
    bool word(std::string_view expected);
    void blanks();
    void next();
    void fail() {
        ok_ = false;
        key_ = {};
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string_view key_;
    bool ok_ = true;
    bool done_ = false;
    bool first_ = true;
};

} // namespace cuset
