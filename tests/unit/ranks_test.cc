// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/ranks/agreement.h"
#include "bench/ranks/rank_place.h"
#include "bench/ranks/rank_relay.h"
#include "bench/ranks/relay_exchange.h"
#include "reports/error.h"

namespace assay {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A rank's end of the relay, as a process that inherited it has it.
RelayExchange joined(RankRelay& relay, int rank, int size) {
  const int end = dup(relay.end_of(rank));
  relay.hand_over(rank);
  return {end, rank, size};
}

// Runs `work` as each rank of a group at once.
void as_ranks(int size, const std::function<void(Exchange& exchange)>& work) {
  RankRelay relay(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      RelayExchange exchange = joined(relay, rank, size);
      work(exchange);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// What the relay says once its thread has seen all that the ranks did, or after 5 s.
std::string complaint_with(const RankRelay& relay, const std::string& expected) {
  std::string text;
  for (int i = 0; i < 500 && text.find(expected) == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    text = relay.complaint(0.05);
  }
  return text;
}

class Ranks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OneToEight, Ranks, ::testing::Values(1, 2, 4, 8));

TEST_P(Ranks, EachGetsThePartsOfAllInTheirOrder) {
  as_ranks(GetParam(), [](Exchange& exchange) {
    for (int turn = 0; turn < 200; ++turn) {
      const std::vector<std::string> parts =
          exchange.all_gather(std::to_string(100 * turn + exchange.rank()));
      ASSERT_EQ(parts.size(), static_cast<std::size_t>(exchange.size()));
      for (int rank = 0; rank < exchange.size(); ++rank) {
        ASSERT_EQ(parts[static_cast<std::size_t>(rank)], std::to_string(100 * turn + rank));
      }
    }
  });
}

TEST_P(Ranks, PartsOfAnySizeArrive) {
  as_ranks(GetParam(), [](Exchange& exchange) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kLargestPart}) {
      const std::vector<std::string> parts = exchange.all_gather(std::string(bytes, 'x'));
      EXPECT_THAT(parts, Each(std::string(bytes, 'x')));
    }
    EXPECT_THROW((void)exchange.all_gather(std::string(kLargestPart + 1, 'x')), std::length_error);
  });
}

TEST_P(Ranks, WhatOneFoundHoldsForAll) {
  as_ranks(GetParam(), [](Exchange& exchange) {
    Agreement agreement(exchange);
    EXPECT_EQ(agreement.largest(-1.5 - exchange.rank()), -1.5);
    EXPECT_TRUE(agreement.any(exchange.rank() == exchange.size() - 1));
    EXPECT_FALSE(agreement.any(false));
    const auto times = agreement.gather(std::vector<double>{0.1, 1e-300 * exchange.rank()});
    for (int rank = 0; rank < exchange.size(); ++rank) {
      EXPECT_THAT(times[static_cast<std::size_t>(rank)], ElementsAre(0.1, 1e-300 * rank));
    }
  });
}

TEST(Agreement, WhoGivesUpIsNamedAndAllAreInStepAgain) {
  as_ranks(4, [](Exchange& exchange) {
    Agreement agreement(exchange);
    if (exchange.rank() == 2) {
      agreement.give_up("out of memory");
    } else {
      try {
        (void)agreement.largest(1);
        ADD_FAILURE() << "not told";
      } catch (const RankGaveUp& gave_up) {
        EXPECT_STREQ(gave_up.what(), "rank 2: out of memory");
      }
    }
    EXPECT_EQ(agreement.largest(exchange.rank()), 3) << "the next case";
  });
}

TEST(Agreement, ARankOfAnotherProgramIsNamed) {
  as_ranks(2, [](Exchange& exchange) {
    Agreement agreement(exchange);
    if (exchange.rank() == 1) {
      (void)agreement.gather("my version");
      return;
    }
    try {
      (void)agreement.largest(1);
      ADD_FAILURE() << "taken for a number";
    } catch (const RanksLost& lost) {
      EXPECT_THAT(lost.what(), HasSubstr("rank 1 is out of step"));
    }
  });
}

TEST(RankRelay, ARankThatDoesNotComeIsNamedAndWhyAnotherGaveUp) {
  RankRelay relay(3);
  auto silent = std::make_unique<RelayExchange>(dup(relay.end_of(1)), 1, 3);
  relay.hand_over(1);
  std::thread waits([&] {
    RelayExchange exchange = joined(relay, 0, 3);
    EXPECT_THROW((void)exchange.all_gather("x"), RanksLost);
  });
  std::thread gives_up([&] {
    RelayExchange exchange = joined(relay, 2, 3);
    Agreement agreement(exchange);
    EXPECT_THROW(agreement.give_up("did not end within 10 s"), RanksLost);
  });
  EXPECT_EQ(complaint_with(relay, "(rank 2"),
            "rank 1 did not come within 0.05 s (rank 2: did not end within 10 s)");
  EXPECT_EQ(relay.complaint(1000), "") << "nobody has waited so long";
  silent.reset();  // its process ends
  waits.join();
  gives_up.join();
}

TEST(RankRelay, ARankThatHasGoneIsNamedToTheOthersAndToTheRunner) {
  RankRelay relay(4);
  for (const int rank : {1, 3}) RelayExchange gone = joined(relay, rank, 4);
  std::vector<std::thread> threads;
  for (const int rank : {0, 2}) {
    threads.emplace_back([&relay, rank] {
      RelayExchange exchange = joined(relay, rank, 4);
      for (int turn = 0; turn < 2; ++turn) {
        try {
          (void)exchange.all_gather("x");
          ADD_FAILURE() << "answered without two of them";
        } catch (const RanksLost& lost) {
          EXPECT_THAT(lost.what(), HasSubstr("gone")) << turn;
        }
      }
    });
    // While it waits, and not after it went too.
    if (rank == 0) {
      EXPECT_EQ(complaint_with(relay, "3"), "ranks 1 and 3 have gone");
    }
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RankRelay, NothingIsWrongWhereAllHaveEnded) {
  RankRelay relay(2);
  for (const int rank : {0, 1}) RelayExchange ended = joined(relay, rank, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(relay.complaint(0), "");
}

TEST(RankRelay, WhoSpeaksAnotherLanguageIsTakenForGone) {
  RankRelay relay(2);
  const int stranger = dup(relay.end_of(1));
  relay.hand_over(1);
  ASSERT_EQ(write(stranger, "GET / HTTP/1.1", 14), 14);
  RelayExchange exchange = joined(relay, 0, 2);
  EXPECT_THROW((void)exchange.all_gather("x"), RanksLost);
  close(stranger);
}

TEST(RelayExchange, ARelayThatHasGoneEndsTheWait) {
  auto relay = std::make_unique<RankRelay>(2);
  RelayExchange exchange = joined(*relay, 0, 2);
  std::thread waits([&] { EXPECT_THROW((void)exchange.all_gather("x"), RanksLost); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  relay.reset();
  waits.join();
}

class Place : public ::testing::Test {
 protected:
  [[nodiscard]] RankPlace place() const {
    return find_rank_place([this](const char* name) -> const char* {
      const auto found = variables_.find(name);
      return found == variables_.end() ? nullptr : found->second.c_str();
    });
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)place();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      return error.what();
    }
    return "taken";
  }
  std::map<std::string, std::string> variables_;
};

TEST_F(Place, WithoutALauncherThereIsOneRank) {
  EXPECT_EQ(place().launcher, "");
  EXPECT_EQ(place().size, 1);
  EXPECT_EQ(make_exchange(place())->all_gather("mine"), std::vector<std::string>{"mine"});
}

TEST_F(Place, EveryLauncherIsReadByItsOwnVariables) {
  struct Known {
    std::string launcher;
    std::map<std::string, std::string> variables;
  };
  const std::vector<Known> all = {
      {"torchrun", {{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}}},
      {"mpirun",
       {{"OMPI_COMM_WORLD_RANK", "5"},
        {"OMPI_COMM_WORLD_SIZE", "8"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}},
      {"srun", {{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "1"}}}};
  for (const Known& known : all) {
    variables_ = known.variables;
    EXPECT_EQ(place().launcher, known.launcher);
    EXPECT_EQ(place().rank, 5);
    EXPECT_EQ(place().size, 8);
    EXPECT_EQ(place().local_rank, 1);
    EXPECT_THROW((void)make_exchange(place()), Error) << "several ranks without a way to meet";
  }
}

TEST_F(Place, WhatTheRunnerSetsIsReadBack) {
  variables_ = rank_environment(3, 4, 17);
  variables_["RANK"] = "9";  // of a launcher further out
  EXPECT_EQ(place().launcher, "assay");
  EXPECT_EQ(place().rank, 3);
  EXPECT_EQ(place().local_rank, 3);
  EXPECT_EQ(place().size, 4);
  EXPECT_EQ(place().relay, 17);
}

TEST_F(Place, ATaskOfOneRankNeedsNobody) {
  variables_ = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_LOCALID", "0"}};
  EXPECT_EQ(make_exchange(place())->size(), 1);
}

TEST_F(Place, ABadVariableIsRefusedByName) {
  variables_ = {{"RANK", "8"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "0"}};
  EXPECT_EQ(refusal(), "RANK='8': expected a number from 0 to 7");
  variables_["RANK"] = "1x";
  EXPECT_THAT(refusal(), HasSubstr("RANK='1x'"));
  variables_["WORLD_SIZE"] = "0";
  EXPECT_THAT(refusal(), HasSubstr("WORLD_SIZE='0': expected a number from 1 to 65536"));
  variables_.erase("WORLD_SIZE");
  EXPECT_EQ(refusal(), "RANK is set and WORLD_SIZE is not: not a rank that torchrun started");
  variables_ = {{"ASSAY_RANK", "0"}, {"ASSAY_RANKS", "1"}, {"ASSAY_RANK_FD", "1"}};
  EXPECT_THAT(refusal(), HasSubstr("ASSAY_RANK_FD='1': expected a number from 3"));
}

}  // namespace
}  // namespace assay
