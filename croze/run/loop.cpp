// loop.cpp -- the turns of a loop.
#include "croze/run/loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/run/arenas.h"
#include "croze/run/launch.h"
#include "croze/run/plan.h"
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
  bound_ = std::make_unique<Bound>(prepared.plan, prepared.variables, prepared.inputs.size(),
                                   std::move(arenas), MemoryAccess(uses));
}

BoundLoop::~BoundLoop() = default;
BoundLoop::BoundLoop(BoundLoop&&) noexcept = default;

void BoundLoop::launch(std::int64_t turns, Places places) {
  try {
    bound_->access.wait();
    const PreparedRun::Plan& plan = *bound_->plan;
    Bound::Views views = bound_->views();
    const tracing::RunTrace trace(bound_->plan, memory_ids(bound_->arenas), {});
    std::vector<Place> now(bound_->num_inputs + plan.schedule.results.size());
    for (std::int64_t turn = 0; turn < turns; turn++) {
      places(turn, now);
      for (const auto& [buffer, place] : views.placed) {
        MemoryView& view = views.memory[buffer];
        view.memory = bound_->access.memory()[now[place].buffer].view.memory;
        view.offset = now[place].offset;
      }
      launch_all(plan, views.memory, bound_->variables, trace);
    }
    bound_->access.end();
  } catch (...) {
    bound_->access.fail(std::current_exception());
    throw;
  }
}

}  // namespace croze
