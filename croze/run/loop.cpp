// loop.cpp -- the turns of a loop.
#include "croze/run/loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/run/arenas.h"
#include "croze/run/launch/launch.h"
#include "croze/run/plan.h"
#include "croze/run/queue_scope.h"
#include "croze/run/trace/run_trace.h"

namespace croze {

struct BoundLoop::Bound {
  std::shared_ptr<const PreparedRun::Plan> plan;
  std::vector<std::int64_t> variables;
  std::size_t num_inputs;
  std::vector<RunArena> arenas;
  MemoryAccess access;

  // The memory of each buffer of the schedule: that of temporaries, and for the others the number
  // of their place.
  struct Views {
    std::vector<MemoryView> memory;
    std::vector<std::pair<std::size_t, std::size_t>> placed;  // buffer of the schedule, place
  };
  Views views() const;
  // Does not end the access where it throws.
  void run(std::int64_t turns, const Places& places, QueueStream queue);
};

namespace {

std::size_t result_in(const Schedule& schedule, std::size_t buffer) {
  std::size_t found = schedule.results.size();
  for (std::size_t r = 0; r < schedule.results.size(); r++) {
    if (schedule.results[r] != static_cast<int>(buffer)) continue;
    ensure(found == schedule.results.size(), "results {} and {} of a loop are one", found, r);
    found = r;
  }
  return found;
}

}  // namespace

BoundLoop::Bound::Views BoundLoop::Bound::views() const {
  const Schedule& schedule = plan->schedule;
  Views views;
  for (std::size_t i = 0; i < schedule.buffers.size(); i++) {
    const ScheduleBuffer& b = schedule.buffers[i];
    views.memory.push_back({{}, 0, b.bytes()});
    if (b.kind == ScheduleBuffer::Kind::Input) {
      views.placed.emplace_back(i, static_cast<std::size_t>(b.input));
    } else if (b.kind == ScheduleBuffer::Kind::Output) {
      views.placed.emplace_back(i, num_inputs + result_in(schedule, i));
    } else {
      views.memory[i] = view_of(b, arenas);
    }
  }
  return views;
}

BoundLoop::BoundLoop(const PreparedRun& prepared, std::span<const MemoryAccess::Use> uses) {
  for (int result : prepared.plan->schedule.results) {
    ensure(result >= 0, "a result of a loop is no computed value");
  }
  std::vector<RunArena> arenas;
  for (const ArenaPlan& a : prepared.plan->schedule.arenas) arenas.emplace_back(a.device, a.bytes);
  bound_ = std::make_shared<Bound>(prepared.plan, prepared.variables, prepared.inputs.size(),
                                   std::move(arenas), MemoryAccess(uses));
}

BoundLoop::~BoundLoop() = default;
BoundLoop::BoundLoop(BoundLoop&&) noexcept = default;

void BoundLoop::Bound::run(std::int64_t turns, const Places& places, QueueStream queue) {
  access.wait();
  if (queue.stream) queue.device->synchronize();  // what the device was given before comes first
  Views now = views();
  const tracing::RunTrace trace(plan, memory_ids(arenas), {});
  std::vector<Place> values(num_inputs + plan->schedule.results.size());
  for (std::int64_t turn = 0; turn < turns; turn++) {
    places(turn, values);
    for (const auto& [buffer, place] : now.placed) {
      MemoryView& view = now.memory[buffer];
      view.memory = access.memory()[values[place].buffer].view.memory;
      view.offset = values[place].offset;
    }
    launch_all(*plan, now.memory, variables, trace, queue);
  }
  if (queue.stream) queue.stream->finish();
  access.end();
}

void BoundLoop::launch(std::int64_t turns, Places places) {
  const std::shared_ptr<Bound> bound = std::move(bound_);
  if (Queue* const queue = QueueScope::current()) {
    queue->call(
        [bound, queue, turns, places = std::move(places),
         asked = QueuedCall()](DeviceStream& stream) {
          const CallScope scope(asked.function(), asked.where());
          bound->run(turns, places, {&queue->device(), &stream});
        },
        [bound](const std::exception_ptr& failure) { bound->access.fail(failure); });
    return;
  }
  try {
    bound->run(turns, places, {});
  } catch (...) {
    bound->access.fail(std::current_exception());
    throw;
  }
}

}  // namespace croze
