// Which rank a process is, and whether another still lives.
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/train/connections.h"
#include "core/train/rank_board.h"
#include "core/train/rank_environment.h"
#include "core/train/run_lock.h"

namespace cuset {
namespace {

using ::testing::HasSubstr;

// This process's variables of ranks: none at the beginning and at the end.
class Environment {
public:
    Environment() { clear(); }
    ~Environment() { clear(); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    Environment& set(const char* name, const char* value) {
        setenv(name, value, 1);
        return *this;
    }

private:
    static void clear() {
        for (const char* name :
             {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
              "SLURM_NTASKS", "SLURM_PROCID", "SLURM_STEP_ID", "SLURM_STEP_NODELIST",
              "SLURM_STEP_TASKS_PER_NODE", "SLURM_JOB_ID", "SLURM_LOCALID",
              "TORCHELASTIC_RESTART_COUNT"})
            unsetenv(name);
    }
};

std::string usage_error() {
    try {
        rank_environment();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        return error.what();
    }
    return {};
}

TEST(RankEnvironment, OneRankWithoutAnything) {
    Environment environment;
    EXPECT_EQ(rank_environment().size, 1);
    environment.set("SLURM_NTASKS", "4").set("SLURM_PROCID", "0"); // a batch script, not srun
    EXPECT_EQ(rank_environment().size, 1);
    EXPECT_EQ(threads_of_rank(rank_environment(), 0), 0);
}

TEST(RankEnvironment, ByTorchrunsVariables) {
    Environment environment;
    environment.set("RANK", "3").set("WORLD_SIZE", "8").set("LOCAL_RANK", "1");
    environment.set("LOCAL_WORLD_SIZE", "2").set("MASTER_ADDR", "node7").set("MASTER_PORT", "4711");
    environment.set("TORCHELASTIC_RESTART_COUNT", "2");
    const RankEnvironment found = rank_environment();
    EXPECT_EQ(found.rank, 3);
    EXPECT_EQ(found.size, 8);
    EXPECT_EQ(found.local_rank, 1);
    EXPECT_EQ(found.local_size, 2);
    EXPECT_EQ(found.master_address, "node7");
    EXPECT_EQ(found.master_port, 4711);
    EXPECT_EQ(found.restarts, 2);
    EXPECT_EQ(threads_of_rank(found, 5), 5);
    EXPECT_GE(threads_of_rank(found, 0), 1);
}

TEST(RankEnvironment, BySrunsVariables) {
    Environment environment;
    environment.set("SLURM_NTASKS", "6").set("SLURM_PROCID", "5").set("SLURM_STEP_ID", "0");
    environment.set("SLURM_STEP_NODELIST", "gpu[07-08,12]").set("SLURM_JOB_ID", "123456");
    environment.set("SLURM_STEP_TASKS_PER_NODE", "2(x3)").set("SLURM_LOCALID", "1");
    const RankEnvironment found = rank_environment();
    EXPECT_EQ(found.rank, 5);
    EXPECT_EQ(found.size, 6);
    EXPECT_EQ(found.local_rank, 1);
    EXPECT_EQ(found.local_size, 2);
    EXPECT_EQ(found.master_address, "gpu07");
    EXPECT_EQ(found.master_port, 23456);
}

TEST(RankEnvironment, FirstHostOfAList) {
    EXPECT_EQ(first_slurm_host(""), "");
    EXPECT_EQ(first_slurm_host("a"), "a");
    EXPECT_EQ(first_slurm_host("a1,b[2-3]"), "a1");
    EXPECT_EQ(first_slurm_host("n[007,9]"), "n007");
    EXPECT_EQ(first_slurm_host("n[1-2]-ib,m3"), "n1-ib");
}

TEST(RankEnvironment, WhatIsIncompleteIsNamed) {
    Environment environment;
    environment.set("RANK", "0");
    EXPECT_THAT(usage_error(), HasSubstr("WORLD_SIZE"));
    environment.set("WORLD_SIZE", "2");
    EXPECT_THAT(usage_error(), HasSubstr("MASTER_ADDR"));
    environment.set("MASTER_ADDR", "x").set("MASTER_PORT", "70000");
    EXPECT_THAT(usage_error(), HasSubstr("70000"));
    environment.set("MASTER_PORT", "http");
    EXPECT_THAT(usage_error(), HasSubstr("http"));
    environment.set("RANK", "2");
    EXPECT_THAT(usage_error(), HasSubstr("RANK < WORLD_SIZE"));
}

class MemoryStore : public RankStore {
public:
    bool lives = true;
    void put(const std::string& key, const std::string& text) override {
        check();
        texts_[key] = text;
    }
    void put_first(const std::string& key, const std::string& text) override {
        check();
        texts_.emplace(key, text);
    }
    std::optional<std::string> find(const std::string& key) override {
        check();
        const auto found = texts_.find(key);
        return found == texts_.end() ? std::nullopt : std::optional(found->second);
    }

private:
    void check() const {
        if (!lives)
            throw std::runtime_error("connection refused");
    }
    std::map<std::string, std::string> texts_;
};

std::string explanation(RankBoard& board, ErrorCode expected) {
    try {
        board.explain("Connection closed by peer\nwith a stack");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), expected);
        return error.what();
    }
}

// Both ranks are this process, so that none is gone.
struct TwoRanks {
    MemoryStore store;
    RankBoard first{store, 0, 2}, second{store, 1, 2};
    TwoRanks() {
        store.put("process/1",
                  R"({"pid":)" + std::to_string(getpid()) + R"(,"start_time":")"
                      + this_process().start_time + R"(","host":")" + this_process().host + "\"}");
        first.meet();
        second.meet();
    }
};

TEST(RankBoard, TheFirstErrorIsEveryonesWithItsCode) {
    TwoRanks ranks;
    ranks.second.post_end(false, ErrorCode::disk, "state.json: no space left");
    ranks.first.post_end(false, ErrorCode::failure, "something that followed from it");
    EXPECT_EQ(explanation(ranks.first, ErrorCode::disk), "rank 1 of 2: state.json: no space left");
    ranks.second.wait_until_known(); // both know: at once
}

TEST(RankBoard, AStopIsEveryones) {
    TwoRanks ranks;
    ranks.second.post_end(true, ErrorCode::failure, "stopped");
    EXPECT_THROW(ranks.first.explain("x"), Cancelled);
}

TEST(RankBoard, ASilentRankIsNamed) {
    TwoRanks ranks;
    EXPECT_EQ(explanation(ranks.first, ErrorCode::failure),
              "ranks: rank 1 of 2 did not answer: Connection closed by peer");
}

TEST(RankBoard, AStoreThatIsGoneIsRankZeros) {
    TwoRanks ranks;
    ranks.store.lives = false;
    EXPECT_EQ(explanation(ranks.second, ErrorCode::failure),
              "ranks: rank 0 of 2, which keeps the store, cannot be reached");
}

// A connection to itself over the loopback interface.
struct Loop {
    int listens = socket(AF_INET, SOCK_STREAM, 0), calls = socket(AF_INET, SOCK_STREAM, 0),
        answers = -1;
    std::uint16_t port = 0;
    Loop() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* any = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(listens, any, size) + listen(listens, 1), 0);
        EXPECT_EQ(getsockname(listens, any, &size), 0);
        port = ntohs(address.sin_port);
        EXPECT_EQ(connect(calls, any, size), 0);
        answers = accept(listens, nullptr, nullptr);
    }
    ~Loop() {
        for (const int end : {listens, calls, answers})
            close(end);
    }
    bool ended() const {
        char byte = 0;
        return recv(calls, &byte, 1, MSG_DONTWAIT) == 0;
    }
};

TEST(Connections, AllButThoseOfTheKeptPortEnd) {
    const Loop kept, other;
    EXPECT_FALSE(kept.ended() || other.ended());
    shut_down_connections(kept.port);
    EXPECT_FALSE(kept.ended());
    EXPECT_TRUE(other.ended());
}

TEST(RunLock, AProcessThatEndedAndWaitsForItsParentIsGone) {
    EXPECT_TRUE(is_alive(this_process()));
    int to_child[2], to_parent[2];
    ASSERT_EQ(pipe(to_child) + pipe(to_parent), 0);
    const pid_t child = fork();
    if (child == 0) { // says who it is, then waits
        const std::string start = this_process().start_time;
        char byte = 0;
        const bool told = write(to_parent[1], start.data(), start.size()) > 0;
        _exit(told && read(to_child[0], &byte, 1) == 1 ? 0 : 1);
    }
    char start[256] = "";
    ASSERT_GT(read(to_parent[0], start, sizeof start - 1), 0);
    const LockHolder holder{child, start, this_process().host};
    EXPECT_TRUE(is_alive(holder));
    EXPECT_FALSE(is_alive({child, "another boot:1", holder.host}));
    ASSERT_EQ(write(to_child[1], "x", 1), 1);
    siginfo_t ended{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_FALSE(is_alive(holder)); // a zombie
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_FALSE(is_alive(holder));
    for (const int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]})
        close(end);
}

} // namespace
} // namespace cuset
