// RankBoard: what the ranks tell each other beside their sums: who they are, and why one of them
// ends. Free of torch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/train/run_lock.h"

namespace cuset {

// Texts by key that all ranks see. Every call throws std::exception if the store cannot be reached.
class RankStore {
public:
    virtual ~RankStore() = default;
    virtual void put(const std::string& key, const std::string& text) = 0;
    virtual void put_first(const std::string& key,
                           const std::string& text) = 0; // unless it is there
    virtual std::optional<std::string> find(const std::string& key) = 0;
};

class RankBoard {
public:
    RankBoard(RankStore& store, int rank, int size); // keeps the reference

    // Waits until all ranks are there, five minutes at most. Throws Error(failure), naming those
    // that are not; what another rank ended with.
    void meet();

    // Why this rank ends; what is told first stays.
    void post_end(bool stopped, ErrorCode code, const std::string& message) noexcept;
    // Until the other ranks have heard it, fifteen seconds at most: for the rank that keeps the
    // store.
    void wait_until_known() noexcept;

    // After a sum failed with `what`: throws what the rank to blame ended with (its Error with its
    // number as the subject, or Cancelled), or Error(failure) that names the ranks that are gone or
    // silent; five seconds at most.
    [[noreturn]] void explain(const std::string& what);

private:
    void throw_if_ended();
    std::vector<int> without(const char* what);
    std::vector<int> gone_here() const;
    bool all_know();
    [[noreturn]] void lost(const std::string& message);

    RankStore& store_;
    int rank_, size_;
    std::vector<LockHolder> processes_; // [size], once all have met
};

} // namespace cuset
