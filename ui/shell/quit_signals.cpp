#include "ui/shell/quit_signals.h"

#include <array>
#include <csignal>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include <QSocketNotifier>

namespace cuset {
namespace {

// A signal handler may do little more than write to a descriptor.
std::array<int, 2> channel{-1, -1};
constexpr std::array<int, 3> handled{SIGTERM, SIGINT, SIGHUP};

extern "C" void forwardSignal(int) {
    const char byte = 1;
    [[maybe_unused]] const ssize_t written = ::write(channel[0], &byte, 1);
}

} // namespace

void QuitSignals::listen() {
    if (channel[0] >= 0
        || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel.data()) != 0)
        return;
    struct sigaction action { };
    action.sa_handler = forwardSignal;
    action.sa_flags = SA_RESTART;
    for (const int number : handled)
        ::sigaction(number, &action, nullptr);
}

QuitSignals::QuitSignals(std::function<void()> quit, QObject* parent)
    : QObject(parent)
    , quit_(std::move(quit)) {
    if (channel[1] < 0)
        return;
    auto* notifier = new QSocketNotifier(channel[1], QSocketNotifier::Read, this);
    connect(notifier, &QSocketNotifier::activated, this, [this] {
        char byte = 0;
        [[maybe_unused]] const ssize_t got = ::read(channel[1], &byte, 1);
        quit_();
    });
}

} // namespace cuset
