// python.h -- PyTorch and onnxruntime, in one Python process beside this one, which tells what is
// there, the results of a case that it has prepared, and the seconds per run of a turn.
#pragma once

#include <optional>
#include <string>

#include "cpu/peers/peer.h"
#include "python_process.h"

namespace croze::bench {

class PythonPeers : public Peer {
 public:
  explicit PythonPeers(const PeerOptions& options);

  Json found() const override { return found_; }
  Json missing() const override { return missing_; }
  std::vector<Contestant> prepare(const Case& c) override;

 private:
  std::optional<PythonProcess> process_;
  Json found_ = Json::object(), missing_ = Json::object();
};

}  // namespace croze::bench
