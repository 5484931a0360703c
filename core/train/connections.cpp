#include "core/train/connections.h"

#include <arpa/inet.h>
#include <charconv>
#include <filesystem>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace cuset {
namespace {

// 0 for what is not a TCP address.
std::uint16_t port_of(const sockaddr_storage& address) {
    if (address.ss_family == AF_INET)
        return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
    if (address.ss_family == AF_INET6)
        return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    return 0;
}

std::vector<int> open_descriptors() {
    std::vector<int> descriptors;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const std::string name = entry.path().filename().string();
        int descriptor = -1;
        std::from_chars(name.data(), name.data() + name.size(), descriptor);
        descriptors.push_back(descriptor);
    }
    return descriptors;
}

} // namespace

void shut_down_connections(std::uint16_t kept_port) noexcept {
    try {
        for (const int descriptor : open_descriptors()) {
            sockaddr_storage here{}, there{};
            socklen_t here_size = sizeof here, there_size = sizeof there;
            if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&here), &here_size) != 0
                || ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&there), &there_size) != 0)
                continue; // no socket, or one that only listens
            const std::uint16_t from = port_of(here), to = port_of(there);
            if (from != 0 && from != kept_port && to != kept_port)
                ::shutdown(descriptor, SHUT_RDWR);
        }
    } catch (const std::exception&) {
        return; // they end with the process
    }
}

} // namespace cuset
