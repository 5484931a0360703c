// The network connections of this process. Free of torch.
#pragma once

#include <cstdint>

namespace cuset {

// Ends every TCP connection of this process but those from or to `kept_port`, so that whoever waits
// at the other end wakes. For a process that is about to end: c10d keeps its groups, and their
// connections, beyond our last reference to them.
void shut_down_connections(std::uint16_t kept_port) noexcept;

} // namespace cuset
