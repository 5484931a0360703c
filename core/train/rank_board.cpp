#include "core/train/rank_board.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace cuset {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto meet_timeout = std::chrono::minutes(5);
constexpr auto explain_timeout = std::chrono::seconds(5); // for a lost rank to be named
constexpr auto tell_timeout = std::chrono::seconds(15); // for the others to hear why a rank ends
constexpr auto poll_interval = std::chrono::milliseconds(50);
constexpr std::size_t message_limit = 2000, reason_limit = 300; // bytes

std::string key(const char* what, int rank) {
    return std::string(what) + "/" + std::to_string(rank);
}

std::string join(const std::vector<int>& ranks) {
    std::string text;
    for (const int rank : ranks)
        text += (text.empty() ? "" : ", ") + std::to_string(rank);
    return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

} // namespace

RankBoard::RankBoard(RankStore& store, int rank, int size)
    : store_(store)
    , rank_(rank)
    , size_(size) { }

void RankBoard::meet() {
    const LockHolder me = this_process();
    store_.put(key("process", rank_),
               json{{"pid", me.pid}, {"start_time", me.start_time}, {"host", me.host}}.dump());
    const auto deadline = Clock::now() + meet_timeout;
    for (std::vector<int> missing; !(missing = without("process")).empty();) {
        throw_if_ended();
        if (Clock::now() > deadline)
            throw Error(ErrorCode::failure,
                        join(missing) + " of " + std::to_string(size_)
                            + " did not come within five minutes; was each started, with the same "
                              "MASTER_ADDR and MASTER_PORT?",
                        "ranks");
        std::this_thread::sleep_for(poll_interval);
    }
    for (int rank = 0; rank < size_; ++rank) {
        const json process = json::parse(store_.find(key("process", rank)).value_or("{}"));
        processes_.push_back({process.at("pid").get<std::int64_t>(),
                              process.at("start_time").get<std::string>(),
                              process.at("host").get<std::string>()});
    }
}

void RankBoard::post_end(bool stopped, ErrorCode code, const std::string& message) noexcept {
    try {
        store_.put_first("end",
                         json{{"rank", rank_},
                              {"stopped", stopped},
                              {"code", static_cast<int>(code)},
                              {"message", message.substr(0, message_limit)}}
                             .dump(-1, ' ', false, json::error_handler_t::replace));
        store_.put(key("knows", rank_), "1");
    } catch (const std::exception&) {
        return; // the store is gone, and with it whoever could be told
    }
}

void RankBoard::wait_until_known() noexcept {
    try {
        const auto deadline = Clock::now() + tell_timeout;
        while (Clock::now() < deadline && !all_know())
            std::this_thread::sleep_for(poll_interval);
    } catch (const std::exception&) {
        return;
    }
}

void RankBoard::explain(const std::string& what) {
    bool store_lives = true;
    const auto deadline = Clock::now() + explain_timeout;
    do {
        try {
            store_.put(key("noticed", rank_), "1");
            throw_if_ended();
        } catch (const Error&) {
            throw;
        } catch (const Cancelled&) {
            throw;
        } catch (const std::exception&) {
            store_lives = false;
        }
        if (const std::vector<int> gone = gone_here(); !gone.empty())
            lost(join(gone) + " of " + std::to_string(size_) + (gone.size() == 1 ? " is" : " are")
                 + " gone (killed, or crashed)");
        std::this_thread::sleep_for(poll_interval);
    } while (store_lives && Clock::now() < deadline);
    if (!store_lives)
        lost("rank 0 of " + std::to_string(size_) + ", which keeps the store, cannot be reached");
    const std::vector<int> silent = without("noticed");
    const std::string reason = what.substr(0, std::min(what.find('\n'), reason_limit));
    lost(silent.empty()
             ? "a sum over the ranks failed: " + reason
             : join(silent) + " of " + std::to_string(size_) + " did not answer: " + reason);
}

void RankBoard::throw_if_ended() {
    const auto told = store_.find("end");
    if (!told)
        return;
    store_.put(key("knows", rank_), "1");
    const json end = json::parse(*told);
    if (end.at("stopped").get<bool>())
        throw Cancelled();
    throw Error(
        static_cast<ErrorCode>(end.at("code").get<int>()), end.at("message").get<std::string>(),
        "rank " + std::to_string(end.at("rank").get<int>()) + " of " + std::to_string(size_));
}

std::vector<int> RankBoard::without(const char* what) {
    std::vector<int> missing;
    for (int rank = 0; rank < size_; ++rank)
        if (!store_.find(key(what, rank)))
            missing.push_back(rank);
    return missing;
}

// Ranks of this machine whose process has ended.
std::vector<int> RankBoard::gone_here() const {
    std::vector<int> gone;
    const std::string host = this_process().host;
    for (std::size_t rank = 0; rank < processes_.size(); ++rank)
        if (processes_[rank].host == host && !is_alive(processes_[rank]))
            gone.push_back(static_cast<int>(rank));
    return gone;
}

bool RankBoard::all_know() {
    std::vector<int> ignorant = without("knows");
    for (const int rank : gone_here())
        std::erase(ignorant, rank);
    return ignorant.empty();
}

void RankBoard::lost(const std::string& message) {
    post_end(false, ErrorCode::failure, message);
    throw Error(ErrorCode::failure, message, "ranks");
}

} // namespace cuset
