// python.h -- PyTorch and onnxruntime, in one Python process beside this one.
//
// The process is given the scripts of this folder as its program, so that it may run in a root
// folder of its own (chroot).  It answers each line of JSON with one: what is there, the results of
// a case that it has prepared, the seconds per run of a turn.
#pragma once

#include <sys/types.h>

#include <string>

#include "cpu/peers/peer.h"

namespace croze::bench {

class PythonPeers : public Peer {
 public:
  explicit PythonPeers(const PeerOptions& options);
  ~PythonPeers() override;
  PythonPeers(const PythonPeers&) = delete;
  PythonPeers& operator=(const PythonPeers&) = delete;

  Json found() const override { return found_; }
  Json missing() const override { return missing_; }
  std::vector<Contestant> prepare(const Case& c) override;

 private:
  void start(const PeerOptions& options);
  Json ask(const Json& request);
  // Empty: the process has ended.
  std::string read_line();

  pid_t child_ = 0;
  int socket_ = -1;
  std::string unread_;
  Json found_ = Json::object(), missing_ = Json::object();
};

}  // namespace croze::bench
