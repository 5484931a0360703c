#include "core/base/error.h"

#include <gtest/gtest.h>

#include <set>

namespace cuset {
namespace {

TEST(Error, SaysSubjectThenMessage) {
    const Error error(ErrorCode::bad_value, "shape [2048], config.json needs [4096]",
                      "model.norm.weight");
    EXPECT_STREQ(error.what(), "model.norm.weight: shape [2048], config.json needs [4096]");
    EXPECT_STREQ(Error(ErrorCode::failure, "no subject").what(), "no subject");
}

// The table of house.md: 1 failure, 2 usage, 3 bad input, 4 out of memory or no device, 5 disk.
TEST(Error, EveryCodeHasItsExitCodeAndItsOwnName) {
    const std::pair<ErrorCode, int> table[] = {
        {ErrorCode::failure, 1},     {ErrorCode::usage, 2},         {ErrorCode::not_found, 3},
        {ErrorCode::unreadable, 3},  {ErrorCode::bad_format, 3},    {ErrorCode::bad_value, 3},
        {ErrorCode::unsupported, 3}, {ErrorCode::out_of_memory, 4}, {ErrorCode::no_device, 4},
        {ErrorCode::disk, 5},        {ErrorCode::limit, 3},
    };
    std::set<std::string_view> names;
    for (const auto& [code, exit] : table) {
        EXPECT_EQ(static_cast<int>(exit_code(code)), exit) << error_code_name(code);
        names.insert(error_code_name(code));
    }
    EXPECT_EQ(names.size(), std::size(table));
}

} // namespace
} // namespace cuset
