// contest.h -- one case: croze, its peers and the processor's own speed, measured in turns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cpu/case.h"
#include "cpu/peers/peer.h"
#include "croze/base/thread_pool.h"

namespace croze::bench {

// Seconds per run, one number a turn.
struct Timing {
  std::string name;
  std::vector<double> seconds;

  double middle() const { return at(2); }
  double lower() const { return at(1); }
  double upper() const { return at(3); }
  double spread() const { return (upper() - lower()) / middle(); }

 private:
  double at(int quarter) const;  // a quartile
};

struct Outcome {
  Timing kept, fresh;  // fresh may have no turns
  std::vector<Timing> peers;
  double work = 0;             // operations, bytes or runs of a run
  double bytes = 0;            // of inputs and results
  double peak = 0;             // operations or bytes a second that the processor can do, or 0
  double compile_seconds = 0;  // until the first result
  std::int64_t kernels = 0;

  const Timing* best_peer() const;  // null without peers
  double times_best_peer() const;   // our speed relative to it
  double rate() const { return work / kept.middle(); }
  double times_kept() const { return fresh.middle() / kept.middle(); }
};

struct ContestOptions {
  int rounds = 5;         // three times as many where turns differ much
  double seconds = 0.02;  // of a turn
};

// Throws Error if a peer computes something else than we do.
Outcome contest(const Case& c, Work work, const std::vector<std::unique_ptr<Peer>>& peers,
                ThreadPool& pool, const ContestOptions& options);

}  // namespace croze::bench
