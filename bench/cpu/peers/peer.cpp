// peer.cpp -- the list of peers, and the turns of those in this process.
#include "cpu/peers/peer.h"

#include "cpu/peers/openblas.h"
#include "cpu/peers/python.h"
#include "measure.h"

namespace croze::bench {

std::vector<std::unique_ptr<Peer>> make_peers(const PeerOptions& options) {
  std::vector<std::unique_ptr<Peer>> peers;
  peers.push_back(std::make_unique<OpenBlas>(options.threads));
  peers.push_back(std::make_unique<PythonPeers>(options));
  return peers;
}

namespace {

Json joined(const std::vector<std::unique_ptr<Peer>>& peers, Json (Peer::*texts)() const) {
  Json all = Json::object();
  for (const auto& peer : peers) {
    const Json some = ((*peer).*texts)();
    for (const std::string& name : some.names()) all[name] = some[name];
  }
  return all;
}

}  // namespace

Json found_in(const std::vector<std::unique_ptr<Peer>>& peers) {
  return joined(peers, &Peer::found);
}

Json missing_in(const std::vector<std::unique_ptr<Peer>>& peers) {
  return joined(peers, &Peer::missing);
}

// The first run warms caches, and wakes threads.
double run_for(const std::function<void()>& run, double seconds) {
  const Stopwatch first;
  run();
  const double once = first.seconds();
  if (once >= seconds) return once;
  const Stopwatch all;
  std::int64_t runs = 0;
  do {
    run();
    runs++;
  } while (all.seconds() < seconds);
  return all.seconds() / static_cast<double>(runs);
}

}  // namespace croze::bench
