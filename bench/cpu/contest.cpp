// contest.cpp -- turns: whatever else the machine does slows all of them.
#include "cpu/contest.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "croze/base/error.h"
#include "measure.h"
#include "yardstick/yardstick.h"

namespace croze::bench {
namespace {

// Threads of a peer (OpenMP's) look for more work for some milliseconds after its turn.
constexpr std::chrono::milliseconds pause_before_turn{10};

// Something else has run during some turns if their quartiles are so far apart.
constexpr double most_spread = 0.15;
constexpr int times_as_many_rounds = 3;

bool is_disturbed(const Outcome& o) {
  return o.kept.spread() > most_spread ||
         std::ranges::any_of(o.peers, [](const Timing& t) { return t.spread() > most_spread; });
}

// Work a second that the processor can do, as one turn.
class Peak {
 public:
  Peak(Work work, ThreadPool& pool) : work_(work), pool_(pool) {
    if (work == Work::Bytes) copy_ = std::make_unique<CopyRun>();
  }

  double turn(double seconds) {
    if (work_ == Work::Runs) return 0;
    if (copy_) return 2.0 * CopyRun::bytes / run_for([&] { copy_->run(pool_); }, seconds);
    return multiply_add_operations(pool_) / run_for([&] { run_multiply_adds(pool_); }, seconds);
  }

 private:
  Work work_;
  ThreadPool& pool_;
  std::unique_ptr<CopyRun> copy_;
};

std::vector<Contestant> ready_peers(const Case& c, const std::vector<std::unique_ptr<Peer>>& peers,
                                    const std::vector<Tensor>& results) {
  std::vector<Contestant> all;
  std::vector<Signature> ours;
  for (const auto& peer : peers) {
    for (Contestant& contestant : peer->prepare(c)) {
      if (ours.empty()) {
        for (const Tensor& r : results) ours.push_back(signature_of(r));
      }
      check_same(c, ours, contestant.name, contestant.results);
      all.push_back(std::move(contestant));
    }
  }
  return all;
}

double bytes_of(const std::vector<Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const Tensor& t : tensors) bytes += t.numel() * size_of(t.dtype());
  return static_cast<double>(bytes);
}

double work_of(const Case& c, Work work, double bytes) {
  if (work == Work::Runs) return 1;
  return c.work > 0 ? c.work : bytes;
}

// One round after the other; returns the median of the peak.
double take_turns(Peak& peak, const Runs& runs, const std::vector<Contestant>& peers,
                  const ContestOptions& options, Outcome& outcome) {
  std::vector<double> peaks;
  const auto take_turn = [&](auto&& turn) {
    std::this_thread::sleep_for(pause_before_turn);
    return turn();
  };
  const auto goes_on = [&](int round) {
    return round < options.rounds ||
           (round < times_as_many_rounds * options.rounds && is_disturbed(outcome));
  };
  for (int round = 0; goes_on(round); round++) {
    peaks.push_back(take_turn([&] { return peak.turn(options.seconds); }));
    outcome.kept.seconds.push_back(take_turn([&] { return run_for(runs.kept, options.seconds); }));
    if (runs.fresh) {
      outcome.fresh.seconds.push_back(
          take_turn([&] { return run_for(runs.fresh, options.seconds); }));
    }
    for (std::size_t p = 0; p < peers.size(); p++) {
      outcome.peers[p].seconds.push_back(
          take_turn([&] { return peers[p].take_turn(options.seconds); }));
    }
  }
  return median(std::move(peaks));
}

}  // namespace

// Between neighbours in order, as far as the quartile lies between them.
double Timing::at(int quarter) const {
  ensure(!seconds.empty(), "the quartile of nothing");
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const double place = static_cast<double>(sorted.size() - 1) * quarter / 4;
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

const Timing* Outcome::best_peer() const {
  const auto best = std::ranges::min_element(peers, {}, &Timing::middle);
  return best == peers.end() ? nullptr : &*best;
}

double Outcome::times_best_peer() const {
  const Timing* best = best_peer();
  ensure(best != nullptr, "a ratio without a peer");
  return best->middle() / kept.middle();
}

Outcome contest(const Case& c, Work work, const std::vector<std::unique_ptr<Peer>>& peers,
                ThreadPool& pool, const ContestOptions& options) {
  const std::vector<Tensor> inputs = input_tensors(c);
  const Stopwatch compile;
  const Runs runs = c.prepare(inputs);
  const double bytes = bytes_of(inputs) + bytes_of(runs.results);
  Outcome outcome{.work = work_of(c, work, bytes),
                  .bytes = bytes,
                  .compile_seconds = compile.seconds(),
                  .kernels = runs.kernels};
  const std::vector<Contestant> contestants = ready_peers(c, peers, runs.results);
  for (const Contestant& p : contestants) outcome.peers.push_back({p.name, {}});

  Peak peak(work, pool);
  outcome.peak = take_turns(peak, runs, contestants, options, outcome);
  return outcome;
}

}  // namespace croze::bench
