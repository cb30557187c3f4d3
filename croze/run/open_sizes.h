// open_sizes.h -- plans that serve all sizes of a recorded function.
//
// Kernels are compiled for sizes, and a function that is called with texts of a hundred lengths
// would be compiled a hundred times.  Where the program says which sizes are open, recordings of
// the function are compared (schedule/sizes/open_graph.h): what two of them have in common is
// compiled once more, and serves every further recording that is found to be an instance of it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "croze/run/execute.h"
#include "croze/schedule/sizes/open_graph.h"

namespace croze {

// Of one function.  May be used by several threads at once.
class OpenSizes {
 public:
  // While it lives, what this thread prepares is recorded at these sizes.
  class Scope {
   public:
    Scope(OpenSizes& plans, std::span<const std::int64_t> sizes);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend class OpenSizes;
    OpenSizes& plans_;
    const std::vector<std::int64_t> sizes_;
    Scope* around_;
  };
  // prepare() in the scope of the calling thread; null if there is none.
  static std::shared_ptr<const PreparedRun> prepare_in_scope(const CanonicalGraph& graph);

  // `closed`: lists of sizes that are compiled for themselves first.
  explicit OpenSizes(std::vector<OpenBounds> bounds, int closed = 1);
  ~OpenSizes();

  std::span<const OpenBounds> bounds() const { return bounds_; }

  // prepare() of a recording of the function, in which the open sizes were `sizes`, within their
  // bounds.
  std::shared_ptr<const PreparedRun> prepare(const CanonicalGraph& graph,
                                             std::span<const std::int64_t> sizes);
  // Whether enough lists of sizes have been compiled for themselves.
  bool will_open();
  // Keeps a recording to compare others with, and compiles nothing.
  void keep(const CanonicalGraph& graph, std::span<const std::int64_t> sizes);

 private:
  struct Kept;
  struct Open;

  std::shared_ptr<const PreparedRun> find(const CanonicalGraph& graph,
                                          const SizedRecording& recording) const;
  void open(const SizedRecording& recording);
  void add(const SizedRecording& recording);

  const std::vector<OpenBounds> bounds_;
  const int closed_;
  std::mutex mutex_;
  int compiled_ = 0;        // for themselves
  std::vector<Kept> kept_;  // the last
  std::vector<Open> open_;
};

}  // namespace croze
