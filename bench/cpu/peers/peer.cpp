// peer.cpp -- the list of peers, and the turns of those in this process.
#include "cpu/peers/peer.h"

#include <cstdlib>

#include "cpu/peers/openblas.h"
#include "cpu/peers/python.h"
#include "measure.h"

namespace croze::bench {
namespace {

// What libraries are told of the vectors that they may use, by variables that they read when they
// are loaded, here or in a child.
struct VectorLimit {
  std::int64_t bytes;
  const char *aten, *onednn, *mkl, *openblas;
};
constexpr VectorLimit vector_limits[] = {
    {16, "default", "SSE41", "SSE4_2", "Nehalem"},
    {32, "avx2", "AVX2", "AVX2", "Haswell"},
};

void limit_vectors(std::int64_t bytes) {
  for (const VectorLimit& limit : vector_limits) {
    if (limit.bytes != bytes) continue;
    setenv("ATEN_CPU_CAPABILITY", limit.aten, 1);
    setenv("ONEDNN_MAX_CPU_ISA", limit.onednn, 1);
    setenv("MKL_ENABLE_INSTRUCTIONS", limit.mkl, 1);
    setenv("OPENBLAS_CORETYPE", limit.openblas, 1);
  }
}

}  // namespace

std::vector<std::unique_ptr<Peer>> make_peers(const PeerOptions& options) {
  limit_vectors(options.vector_bytes);
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
