// queue_scope.cpp -- which queue the runs of a thread go to.
#include "croze/run/queue_scope.h"

#include <utility>

#include "croze/base/error.h"
#include "croze/run/devices.h"

namespace croze {
namespace {

// Of each thread: named in docs/architecture.md as global state.
thread_local Queue* queue_here = nullptr;

}  // namespace

Queue make_queue(std::string_view name) {
  return Queue(device(name.empty() ? default_device() : device_index(name)));
}

QueueScope::QueueScope(Queue& queue) : queue_(queue) {
  check(queue.claim(),
        "a queue of {} takes the runs of another thread: make a queue for each thread",
        queue.device().name());
  around_ = std::exchange(queue_here, &queue);
}

QueueScope::~QueueScope() {
  queue_here = around_;
  queue_.let_go();
}

Queue* QueueScope::current() { return queue_here; }

}  // namespace croze
