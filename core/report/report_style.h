// The report's stylesheet: colours for light, dark and print, and the classes of token colours.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace cuset {

using Rgb = std::array<std::uint8_t, 3>;

// Token colours come in steps, classes "c0" (confidence 0) to "c23" (confidence 1).
inline constexpr int confidence_steps = 24;
int confidence_step(float confidence);

// Background of a step: cividis (Nunez et al. 2018, doi 10.1371/journal.pone.0199239) laid over the
// paper so that text on it keeps 4.5:1.
Rgb step_color(int step, bool dark);
Rgb text_color(bool dark);

std::string stylesheet();

// Of a text, as a content security policy names it: "sha256-BASE64".
std::string policy_hash(const std::string& text);

} // namespace cuset
