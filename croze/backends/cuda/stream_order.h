// stream_order.h -- the streams of a device, and what has to happen before memory is used anew.
//
// Streams are at work side by side, and memory that is released may still be in use by any of them.
// Who gets it next must come after that on whichever stream he works.  With one stream that is so
// by itself.  With more, a mark is set on each of them when memory is released, and all wait for
// these marks before they use it again: on the device, the host waits for nothing.
#pragma once

#include <mutex>
#include <vector>

#include "croze/backends/cuda/context.h"

namespace croze::cuda {

// What all streams had been given at a moment; none if there was one stream.
using Fence = std::vector<EventHandle>;

// Any number of threads.
class StreamOrder {
 public:
  explicit StreamOrder(Context& context) : context_(context) {}
  ~StreamOrder();
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;

  // A stream whose work comes after all that the others were given before.
  StreamHandle make_stream();
  void destroy_stream(StreamHandle stream) noexcept;

  Fence set_fence();
  // What any stream is given from now on comes after it.
  void pass(Fence fence);

  // Nobody sets marks on a stream while it is captured.
  std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }

 private:
  EventHandle mark(StreamHandle stream);

  Context& context_;
  std::mutex mutex_;
  std::vector<StreamHandle> streams_;
  std::vector<EventHandle> unused_;
};

}  // namespace croze::cuda
