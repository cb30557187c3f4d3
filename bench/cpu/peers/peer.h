// peer.h -- others who compute the same cases, found when the bench runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu/case.h"

namespace croze::bench {

// One who is ready to compute a case.
struct Contestant {
  std::string name;
  std::function<double(double seconds)> take_turn;  // for about so long; returns seconds per run
  std::vector<Signature> results;
};

// A source of contestants.
class Peer {
 public:
  virtual ~Peer() = default;
  // What of it is there, with its version, and what is not or could not compute a case, with the
  // reason.
  virtual Json found() const = 0;
  virtual Json missing() const = 0;
  // Those of it that can compute this case, until the next call; none if it is not theirs.
  virtual std::vector<Contestant> prepare(const Case& c) = 0;
};

struct PeerOptions {
  int threads = 1;
  std::string python = "python3";  // a command that runs a Python with PyTorch and onnxruntime
  // The widest vectors that peers may use; 0: any.  Those that cannot be told so are left out.
  std::int64_t vector_bytes = 0;
};

// All that there may be on this machine.
std::vector<std::unique_ptr<Peer>> make_peers(const PeerOptions& options);

// Versions by name, and reasons by name.
Json found_in(const std::vector<std::unique_ptr<Peer>>& peers);
Json missing_in(const std::vector<std::unique_ptr<Peer>>& peers);

// Runs a function once if that takes so long, else again and again; returns seconds per run.
double run_for(const std::function<void()>& run, double seconds);

}  // namespace croze::bench
