// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/tune.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "reports/statistics.h"

namespace assay {
namespace {

constexpr double kBatch_s = 0.005;  // of launches at a time

struct Candidate {
  Json algorithm;
  double screened_s = 0;       // a launch, mean of two passes
  std::vector<double> turn_s;  // a launch, one a round
  [[nodiscard]] std::vector<double> ratios(const Candidate& first) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < turn_s.size(); ++i) all.push_back(first.turn_s[i] / turn_s[i]);
    return all;
  }
};

class Search {
 public:
  Search(Case& tuned_case, Power power, Bench& bench, const TuneRule& rule)
      : case_(tuned_case), sustained_(power == Power::kSustained), bench_(bench), rule_(rule) {}

  Tuned run() {
    std::vector<Candidate> all;
    for (Json& algorithm : case_.candidates()) all.push_back({std::move(algorithm), 0, {}});
    if (all.empty()) throw std::runtime_error("nothing to tune: the case has no algorithms");
    const std::size_t offered = all.size();
    if (sustained_ && usable(all.front())) load(rule_.settle_s);
    const Json first = all.front().algorithm;
    screen(all);
    Json screened = Json::array();
    for (const Candidate& one : all) {
      Json row = one.algorithm;
      row["screened_s"] = one.screened_s;
      screened.push_back(std::move(row));
    }
    std::vector<Candidate> finalists = choose_finalists(std::move(all));
    if (finalists.empty() || finalists.front().algorithm != first) {
      throw std::runtime_error(
          "the algorithm that the library offers first does not run, or is wrong");
    }
    for (int round = 0; round < rule_.rounds; ++round) take_turns(finalists, round % 2 == 1);
    Tuned tuned = decide(finalists);
    tuned.report["candidates"] = offered;
    tuned.report["refused"] = refused_;
    tuned.report["wrong"] = wrong_;
    tuned.report["screened"] = std::move(screened);
    return tuned;
  }

 private:
  [[nodiscard]] LaunchFunction launcher() {
    return [this](int) { case_.launch(next_slot_++ % case_.slots()); };
  }

  // Whether the library runs it for this case.
  bool usable(const Candidate& one) {
    try {
      case_.choose(one.algorithm);
      bench_.timer.run(1, launcher());
      return true;
    } catch (const ProcessLost&) {
      throw;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  [[nodiscard]] int batch(double launch_s) const {
    const double launches = kBatch_s / std::max(launch_s, 1e-7);
    return std::clamp(static_cast<int>(launches), 1, bench_.timer.capacity());
  }

  double one_launch_s() { return bench_.timer.sample(1, 1, launcher()).front(); }

  void load(double seconds) {
    const double start = bench_.clock.now_s();
    const int launches = batch(one_launch_s());
    while (bench_.clock.now_s() - start < seconds) bench_.timer.run(launches, launcher());
  }

  // The median time of a launch over about `seconds`.
  double timed_s(double seconds) {
    const double start = bench_.clock.now_s();
    const int launches = batch(one_launch_s());
    std::vector<double> samples;
    do {
      samples.push_back(bench_.timer.sample(1, launches, launcher()).front());
    } while (bench_.clock.now_s() - start < seconds);
    return median(samples);
  }

  // Twice, in opposite order: in the mean a steady drift of the clock weighs on all alike.
  void screen(std::vector<Candidate>& all) {
    std::erase_if(all, [this](const Candidate& one) {
      const bool drop = !usable(one);
      if (drop) ++refused_;
      return drop;
    });
    for (int pass = 0; pass < 2; ++pass) {
      for (Candidate& one : all) {
        case_.choose(one.algorithm);
        if (!sustained_) bench_.clock.sleep_s(rule_.burst_rest_s);
        one.screened_s += timed_s(rule_.screen_s) / 2;
      }
      std::reverse(all.begin(), all.end());
    }
  }

  // The first, then the fastest of the others that give the right result.
  std::vector<Candidate> choose_finalists(std::vector<Candidate> all) {
    if (all.empty()) return all;
    std::stable_sort(all.begin() + 1, all.end(), [](const Candidate& a, const Candidate& b) {
      return a.screened_s < b.screened_s;
    });
    std::vector<Candidate> finalists;
    for (Candidate& one : all) {
      if (static_cast<int>(finalists.size()) == rule_.finalists) break;
      if (sound(one)) {
        finalists.push_back(std::move(one));
      } else {
        ++wrong_;
      }
    }
    return finalists;
  }

  bool sound(const Candidate& one) {
    case_.choose(one.algorithm);
    case_.poison(0);
    case_.launch(0);
    bench_.timer.wait();
    return case_.verify(0, attempt_++).status == VerificationStatus::kVerified;
  }

  void take_turns(std::vector<Candidate>& finalists, bool backwards) {
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      Candidate& one = finalists[backwards ? finalists.size() - 1 - i : i];
      case_.choose(one.algorithm);
      if (!sustained_) bench_.clock.sleep_s(bench_.budget.idle_s);
      load(sustained_ ? rule_.warm_s : rule_.burst_warm_s);
      one.turn_s.push_back(timed_s(sustained_ ? rule_.turn_s : rule_.burst_turn_s));
    }
  }

  [[nodiscard]] static Tuned decide(const std::vector<Candidate>& finalists) {
    const Candidate& first = finalists.front();
    const Candidate* best = &first;
    double gain = 1;
    Json shown = Json::array();
    for (const Candidate& one : finalists) {
      const std::vector<double> ratios = one.ratios(first);
      const double middle = median(ratios);
      const bool every = std::ranges::all_of(ratios, [](double ratio) { return ratio > 1; });
      if (every && middle > kLeastGain && middle > gain) {
        best = &one;
        gain = middle;
      }
      Json row = one.algorithm;
      row["turn_s"] = one.turn_s;
      shown.push_back(std::move(row));
    }
    return {best->algorithm, {{"gain", gain}, {"finalists", std::move(shown)}}};
  }

  Case& case_;
  bool sustained_;
  Bench& bench_;
  TuneRule rule_;
  int next_slot_ = 0;
  int attempt_ = 0;
  int refused_ = 0;
  int wrong_ = 0;
};

}  // namespace

Tuned tune(Case& tuned_case, Power power, Bench& bench, const TuneRule& rule) {
  return Search(tuned_case, power, bench, rule).run();
}

}  // namespace assay
