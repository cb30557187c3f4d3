#include "croze/backends/cuda/stream_order.h"

#include <algorithm>

namespace croze::cuda {

StreamOrder::~StreamOrder() {
  if (!context_.try_enter()) return;
  for (EventHandle event : unused_) context_.driver().destroy_event(event);
}

StreamHandle StreamOrder::make_stream() {
  const Driver& driver = context_.driver();
  const std::lock_guard lock(mutex_);
  StreamHandle made = nullptr;
  context_.check(driver.create_stream(&made, stream_non_blocking), "making a stream");
  for (StreamHandle other : streams_) {
    const EventHandle event = mark(other);
    context_.check(driver.stream_wait(made, event, 0), "ordering streams");
    unused_.push_back(event);
  }
  streams_.push_back(made);
  return made;
}

void StreamOrder::destroy_stream(StreamHandle stream) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(streams_, stream);
  if (context_.try_enter()) context_.driver().destroy_stream(stream);
}

Fence StreamOrder::set_fence() {
  const std::lock_guard lock(mutex_);
  if (streams_.size() < 2) return {};
  Fence fence;
  for (StreamHandle stream : streams_) fence.push_back(mark(stream));
  return fence;
}

void StreamOrder::pass(Fence fence) {
  const Driver& driver = context_.driver();
  const std::lock_guard lock(mutex_);
  for (EventHandle event : fence) {
    if (driver.query_event(event) != Status::Success) {
      for (StreamHandle stream : streams_) {
        context_.check(driver.stream_wait(stream, event, 0), "ordering streams");
      }
    }
    unused_.push_back(event);
  }
}

// An event that was waited for may be recorded anew: waits are for what it was when they were made.
EventHandle StreamOrder::mark(StreamHandle stream) {
  const Driver& driver = context_.driver();
  EventHandle event = nullptr;
  if (unused_.empty()) {
    context_.check(driver.create_event(&event, event_disable_timing), "making an event");
  } else {
    event = unused_.back();
    unused_.pop_back();
  }
  context_.check(driver.record_event(event, stream), "recording an event");
  return event;
}

}  // namespace croze::cuda
