// rematerialize.cpp -- values are made again, so that less memory is needed at once.
//
// Of a training step most memory holds what the forward pass has computed and the backward pass
// wants.  Much of it follows in a few operations from other values that are kept anyway:
//
//     u = x W                 kept: a product
//     t = tanh(u)             kept, since the next product and the gradient want it
//     ...                     the rest of the network, forward and backward
//     g = h * (1 - t * t)     the gradient, from t
//
// Here the step that makes t runs once more before the gradient.  In between only u is alive:
//
//     t' = tanh(u)
//     g = h * (1 - t' * t')
//
// The steps are ordered as they would run, and the moment is found at which most is alive.  A value
// that no step uses at that moment, and that later ones read, is a candidate; it can be made again
// if what it is made of is alive then, or is small, or can be made again itself.  When enough
// candidates have been taken to lower the peak somewhat the steps are ordered anew, until they fit
// or nothing more can be gained.
#include "croze/schedule/budget/rematerialize.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>

#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/blocks/block_cost.h"
#include "croze/schedule/free_early.h"
#include "croze/schedule/liveness.h"
#include "croze/schedule/memory/make_late.h"
#include "croze/schedule/nest_facts.h"
#include "croze/schedule/order.h"

namespace croze {
namespace {

// To make one value again at most so many steps run again.
constexpr std::size_t most_steps = 8;
// What is so many times smaller than the value may be kept longer for it.
constexpr std::int64_t small_part = 8;
// Orders that are tried.
constexpr int most_rounds = 16;
// Each of them lowers the peak by an eighth: then another moment may be the peak.
constexpr std::int64_t rounds_to_nothing = 8;

// The steps in the order in which they would run.
struct Timeline {
  std::vector<int> steps;  // in order
  std::vector<int> times;  // by step
  std::int64_t most_bytes = 0;
  int peak = 0;  // when most is alive
};

// A value that a step makes and others read, in memory of its own.
struct Value {
  std::size_t maker = 0;
  UOp state, buffer;
  std::vector<std::size_t> readers;

  std::int64_t bytes() const { return buffer.elements() * size_of(buffer.dtype()); }
};

// Steps to run again, first to last, and what that gives.
struct Candidate {
  std::vector<std::size_t> makers;
  std::int64_t bytes = 0;  // not alive at the peak any more
  double cycles = 0;
  double gain() const { return static_cast<double>(bytes) / (cycles + 1); }
};

class Rematerializer {
 public:
  Rematerializer(std::vector<PendingStep>& steps, std::span<const UOp> results, Schedule& schedule)
      : steps_(steps), schedule_(schedule) {
    for (UOp r : results) results_.insert(r.node());
    look_at_steps();
    now_ = timeline();
  }

  // Until so many bytes or fewer are alive at once, for so many cycles or fewer.
  bool run(std::int64_t bytes, double cycles) {
    bool changed = false;
    cycles_left_ = cycles;
    for (int round = 0; round < most_rounds && now_.most_bytes > bytes; round++) {
      const std::vector<PendingStep> before = steps_;
      const std::int64_t lower = now_.most_bytes - now_.most_bytes / rounds_to_nothing;
      if (!lower_peak(std::max(bytes, lower))) break;
      look_at_steps();
      const Timeline next = timeline();
      if (next.steps.empty() || next.most_bytes >= now_.most_bytes) {
        steps_ = before;
        look_at_steps();
        break;
      }
      now_ = next;
      changed = true;
    }
    return changed;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  // ---- when things happen ----

  Timeline timeline() const {
    std::vector<PendingStep> numbered = steps_;
    for (std::size_t i = 0; i < numbered.size(); i++) {
      PendingStep& step = numbered[i];
      if (step.steps.empty()) step.steps.push_back({.buffers = buffers_[i]});
      for (ScheduleStep& s : step.steps) s.sequence = static_cast<int>(i);  // to know it again
    }
    StepOrder order = order_steps(std::move(numbered));
    if (order.blocking) return {};
    order = free_early(make_late(std::move(order), schedule_), schedule_);
    Timeline line;
    line.times.resize(steps_.size());
    Liveness live(order, schedule_);
    for (std::size_t t = 0; t < order.steps.size(); t++) {
      const int time = static_cast<int>(t), step = order.steps[t][0].sequence;
      line.steps.push_back(step);
      line.times[index(step)] = time;
      live.begin(time);
      if (live.bytes() > line.most_bytes) {
        line.most_bytes = live.bytes();
        line.peak = time;
      }
      live.end(time);
    }
    return line;
  }

  // ---- what there is ----

  void look_at_steps() {
    values_.clear();
    buffers_.assign(steps_.size(), {});
    std::map<const Node*, std::vector<std::size_t>> makers;
    for (std::size_t i = 0; i < steps_.size(); i++) {
      for (UOp state : steps_[i].writes) makers[state.node()].push_back(i);
      std::set<int> used;
      for (UOp nest : steps_[i].nests) {
        for (UOp u : toposort(nest)) {
          if (u.is(Op::Buffer)) used.insert(static_cast<int>(u.buffer_id()));
        }
      }
      buffers_[i].assign(used.begin(), used.end());
    }
    for (std::size_t i = 0; i < steps_.size(); i++) {
      const PendingStep& step = steps_[i];
      for (std::size_t o = 0; o < step.outputs.size(); o++) {
        const UOp state = step.writes[o];
        if (makers.at(state.node()).size() != 1 || results_.contains(state.node())) continue;
        values_[state.node()] = {i, state, step.outputs[o], {}};
      }
    }
    for (std::size_t i = 0; i < steps_.size(); i++) {
      for (UOp state : steps_[i].reads) {
        const auto value = values_.find(state.node());
        if (value == values_.end() || value->second.maker == i) continue;
        std::vector<std::size_t>& readers = value->second.readers;
        if (readers.empty() || readers.back() != i) readers.push_back(i);
      }
    }
  }

  bool can_run_again(const PendingStep& step) const {
    return step.nests.size() == 1 && !step.supersedes && step.part == 0 && !is_snapshot(step) &&
           !facts_of(step.nests[0]).in_order;
  }

  // Those that run after the peak.
  std::vector<std::size_t> late_readers(const Value& value) const {
    std::vector<std::size_t> late;
    for (std::size_t r : value.readers) {
      if (now_.times[r] > now_.peak) late.push_back(r);
    }
    return late;
  }

  // Whether it is alive at the peak, where nobody uses it.
  bool is_idle(const Value& value) const {
    if (now_.times[value.maker] >= now_.peak) return false;
    bool wanted = false;
    for (std::size_t r : value.readers) {
      if (steps_[r].nests.empty() || now_.times[r] == now_.peak) return false;  // a copy, or in use
      wanted = wanted || now_.times[r] > now_.peak;
    }
    return wanted;
  }

  // ---- candidates ----

  // All idle values of a step are made again together.
  Candidate candidate(std::size_t maker) const {
    Candidate c;
    int first = static_cast<int>(steps_.size());
    for (UOp state : steps_[maker].writes) {
      const auto value = values_.find(state.node());
      if (value == values_.end() || !is_idle(value->second)) continue;
      c.bytes += value->second.bytes();
      for (std::size_t r : late_readers(value->second)) first = std::min(first, now_.times[r]);
    }
    if (c.bytes == 0 || !add_makers(maker, first, c)) return {};
    std::ranges::sort(c.makers, {}, [&](std::size_t m) { return now_.times[m]; });
    return c;
  }

  // The step and those that make what it reads and what will not be there at the time.
  bool add_makers(std::size_t maker, int time, Candidate& c) const {
    std::vector<std::size_t> pending{maker};
    while (!pending.empty()) {
      const std::size_t m = pending.back();
      pending.pop_back();
      if (std::ranges::find(c.makers, m) != c.makers.end()) continue;
      if (!can_run_again(steps_[m]) || c.makers.size() == most_steps) return false;
      c.makers.push_back(m);
      c.cycles += blocked_nest(steps_[m].nests[0]).cycles;
      for (UOp state : steps_[m].reads) {
        const auto value = values_.find(state.node());
        if (value == values_.end()) {
          if (!is_state(state) && !results_.contains(state.node())) return false;
          continue;
        }
        const Value& v = value->second;
        const bool lives =
            std::ranges::any_of(v.readers, [&](std::size_t r) { return now_.times[r] >= time; });
        if (lives || v.bytes() * small_part <= c.bytes) continue;
        pending.push_back(v.maker);
      }
    }
    return true;
  }

  // Whether anything was done.
  bool lower_peak(std::int64_t bytes) {
    const std::size_t known = steps_.size();
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < steps_.size(); i++) {
      if (!can_run_again(steps_[i])) continue;
      Candidate c = candidate(i);
      if (c.bytes > 0) candidates.push_back(std::move(c));
    }
    std::ranges::stable_sort(candidates, std::greater(), &Candidate::gain);
    std::set<std::size_t> taken;  // steps that run again, or whose values others count on
    std::int64_t excess = now_.most_bytes - bytes;
    for (const Candidate& c : candidates) {
      if (excess <= 0) break;
      if (c.cycles > cycles_left_) continue;
      if (std::ranges::any_of(c.makers, [&](std::size_t m) { return taken.contains(m); })) continue;
      if (!are_sources_left(c, taken)) continue;
      run_again(c);
      taken.insert(c.makers.begin(), c.makers.end());
      for (std::size_t m : c.makers) {
        for (UOp state : steps_[m].reads) {
          if (const auto v = values_.find(state.node()); v != values_.end()) {
            counted_on_.insert(v->second.maker);
          }
        }
      }
      excess -= c.bytes;
      cycles_left_ -= c.cycles;
    }
    counted_on_.clear();
    drop_unread();
    // Steps that come first in the list run last, just before whoever waits for them (order.cpp).
    std::ranges::rotate(steps_, steps_.begin() + static_cast<std::ptrdiff_t>(known));
    return !taken.empty();
  }

  // Whether what the candidate reads beside what it makes is not to be gone, and nobody counts on
  // what it makes.
  bool are_sources_left(const Candidate& c, const std::set<std::size_t>& taken) const {
    for (std::size_t m : c.makers) {
      if (counted_on_.contains(m)) return false;
      for (UOp state : steps_[m].reads) {
        const auto v = values_.find(state.node());
        if (v == values_.end()) continue;
        const std::size_t maker = v->second.maker;
        if (taken.contains(maker) && std::ranges::find(c.makers, maker) == c.makers.end()) {
          return false;
        }
      }
    }
    return true;
  }

  // ---- making it so ----

  void run_again(const Candidate& c) {
    std::vector<std::pair<UOp, UOp>> states, memory;  // and what takes their place
    for (std::size_t m : c.makers) {
      PendingStep again = copy_of(m, memory);
      for (UOp& state : again.reads) state = replaced(state, states);
      const PendingStep& step = steps_[m];
      for (std::size_t o = 0; o < step.outputs.size(); o++) {
        if (!values_.contains(step.writes[o].node())) continue;  // other steps make it, too
        states.emplace_back(step.writes[o], again.writes[o]);
        memory.emplace_back(step.outputs[o], again.outputs[o]);
      }
      steps_.push_back(std::move(again));
    }
    for (const auto& [state, other] : states) {
      const auto value = values_.find(state.node());
      if (value == values_.end()) continue;
      for (std::size_t r : late_readers(value->second)) {
        for (UOp& nest : steps_[r].nests) nest = substitute(nest, memory);
        // What is read first is made last (order.cpp).
        std::vector<UOp>& reads = steps_[r].reads;
        std::erase(reads, state);
        reads.insert(reads.begin(), other);
      }
    }
  }

  static UOp replaced(UOp state, std::span<const std::pair<UOp, UOp>> by) {
    const auto found = std::ranges::find(by, state, &std::pair<UOp, UOp>::first);
    return found == by.end() ? state : found->second;
  }

  // The step with outputs of its own, over other memory.
  PendingStep copy_of(std::size_t i, std::span<const std::pair<UOp, UOp>> memory) {
    const PendingStep step = steps_[i];
    Graph& g = step.nests[0].graph();
    PendingStep again;
    again.device = step.device;
    again.is_again = true;
    again.reads = step.reads;
    std::vector<std::pair<UOp, UOp>> map(memory.begin(), memory.end());
    for (UOp buffer : step.outputs) {
      const ScheduleBuffer of = schedule_.buffers[static_cast<std::size_t>(buffer.buffer_id())];
      again.outputs.push_back(add_temporary(schedule_, g, buffer.dtype(), buffer.element_count(),
                                            step.device, {BufferCause::OverBudget}));
      schedule_.buffers.back().shape = of.shape;
      schedule_.buffers.back().value = of.value;
      again.writes.push_back(g.make(Op::Contiguous, buffer.dtype(), {again.outputs.back()}));
      map.emplace_back(buffer, again.outputs.back());
    }
    again.nests = {substitute(step.nests[0], map)};
    return again;
  }

  // What nobody reads any more is not stored.
  void drop_unread() {
    std::unordered_set<const Node*> read;
    for (const PendingStep& step : steps_) {
      for (UOp state : step.reads) read.insert(state.node());
    }
    for (PendingStep& step : steps_) {
      if (!can_run_again(step)) continue;
      std::unordered_set<const Node*> dropped;
      for (std::size_t o = step.outputs.size(); o-- > 0 && step.outputs.size() > 1;) {
        const Node* state = step.writes[o].node();
        if (read.contains(state) || results_.contains(state)) continue;
        dropped.insert(step.outputs[o].node());
        step.writes.erase(step.writes.begin() + static_cast<std::ptrdiff_t>(o));
        step.outputs.erase(step.outputs.begin() + static_cast<std::ptrdiff_t>(o));
      }
      if (dropped.empty()) continue;
      std::vector<UOp> stores;
      for (UOp store : step.nests[0].sources()) {
        if (!dropped.contains(store.src(0).src(0).node())) stores.push_back(store);
      }
      step.nests = {step.nests[0].graph().sink(stores)};
    }
  }

  std::vector<PendingStep>& steps_;
  Schedule& schedule_;
  Timeline now_;
  double cycles_left_ = 0;  // for making values again
  std::unordered_set<const Node*> results_;
  std::map<const Node*, Value> values_;    // by state
  std::vector<std::vector<int>> buffers_;  // by step
  std::set<std::size_t> counted_on_;       // steps whose values are read once more
};

// Whether all temporaries together are more: only then can more be alive at once.
bool makes_more_than(double bytes, const Schedule& schedule) {
  double all = 0;
  for (const ScheduleBuffer& b : schedule.buffers) {
    if (b.kind != ScheduleBuffer::Kind::Temporary) continue;
    all += static_cast<double>(b.elements * size_of(b.dtype));
  }
  return all > bytes;
}

// Of the arithmetic of all steps, on one thread.
double cycles_of(std::span<const PendingStep> steps) {
  double cycles = 0;
  for (const PendingStep& step : steps) {
    for (UOp nest : step.nests) cycles += blocked_nest(nest).cycles;
  }
  return cycles;
}

}  // namespace

bool rematerialize(std::vector<PendingStep>& steps, const CanonicalGraph& graph, Schedule& schedule,
                   const ScheduleContext& context) {
  constexpr double any = std::numeric_limits<double>::infinity();
  const double caches = MachineModel(main_caps(graph, context)).all_caches();
  if (context.memory_budget <= 0 && !makes_more_than(caches, schedule)) return false;
  Rematerializer rematerializer(steps, graph.roots, schedule);
  bool changed = false;
  if (context.recompute_percent > 0) {
    const double part = static_cast<double>(context.recompute_percent) / 100;
    changed = rematerializer.run(static_cast<std::int64_t>(caches), part * cycles_of(steps));
  }
  if (context.memory_budget > 0) {
    changed = rematerializer.run(context.memory_budget, any) || changed;
  }
  return changed;
}

}  // namespace croze
