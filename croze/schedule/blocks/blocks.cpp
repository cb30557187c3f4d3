// blocks.cpp -- steps that pass values to each other run one after the other, block by block.
//
// The scores of attention are a contraction, their softmax works on rows, and the softmax times the
// values is a contraction again.  No loop nest could do all three well, since each wants tiles of
// its own.  But some rows of the last need the same rows of the others only:
//
//     for i, j:  s[i, j] = sum(q[i, d] * k[j, d])
//     for i, j:  p[i, j] = exp(s[i, j] - max(s[i, ..])) / ..
//     for i, e:  o[i, e] = sum(p[i, j] * v[j, e])
//
// So the loop over i is cut into blocks, and a thread runs the three nests, each compiled for
// itself, over one block after the other.  What they pass to each other lies in memory of the
// thread: s and p are never whole, and their block stays in the cache.
//
// Which loops can be cut follows from the places that the nests access.  A buffer that one nest
// writes has an axis for each loop of it; a loop of another nest goes with that axis if it alone is
// the position along it in every access.  Loops that go with each other through all buffers that
// the nests share are an axis of the sequence: no two blocks touch the same element of what is
// written.
//
// A nest that stores a sum goes with the axis along which it adds up, too: the gradient of the
// keys,
//
//     for j, d:  g[j, d] = sum(p[i, j] * u[i, d])
//
// is in each block what its rows come to, added to what the blocks before have stored.  These are
// then run in order, by one thread.
//
// What is small and has no axis in common with its readers is repeated by them: block_repeat.cpp.
#include "croze/schedule/blocks/blocks.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "croze/codegen/choose/machine_model.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/blocks/block_cut.h"
#include "croze/schedule/blocks/block_repeat.h"
#include "croze/schedule/blocks/led_blocks.h"
#include "croze/schedule/nest_facts.h"
#include "croze/schedule/step_graph.h"

namespace croze {
namespace {

// More nests in one sequence do not pay for the time that looking at them takes.
constexpr std::size_t most_nests = 1024;

class BlockJoiner {
 public:
  BlockJoiner(std::vector<PendingStep>& steps, std::span<const UOp> results, Schedule& schedule,
              const ScheduleContext& context)
      : steps_(steps), schedule_(schedule), context_(context), states_(steps, results) {
    for (const PendingStep& step : steps_) plans_.push_back(plan_of(step));
  }

  void run() {
    for (std::size_t i = 0; i < steps_.size(); i++) propose_producers(i);
    while (!queue_.empty()) {
      const Candidate c = queue_.top();
      queue_.pop();
      // Either may have been joined to another step since this was proposed.
      const std::size_t producer = states_.home_of(c.producer);
      const std::size_t consumer = states_.home_of(c.consumer);
      if (producer == consumer) continue;
      const Refusal refused = try_join(producer, consumer);
      ScheduleBuffer* buffer = buffer_of(c.state, states_, steps_, schedule_);
      if (refused && buffer) buffer->one_sequence = refused;
    }
    for (std::size_t i = 0; i < steps_.size(); i++) try_repeat(i);
    for (std::size_t i = 0; i < steps_.size(); i++) {
      if (steps_[i].nests.size() < 2) continue;
      const Caps& caps = context_.caps(steps_[i].device);
      cut_rows_of_softmax(steps_[i], plans_[i], schedule_, MachineModel(caps));
      cut_step(steps_[i], plans_[i], schedule_, caps);
    }
    std::erase_if(steps_, [](const PendingStep& s) { return s.writes.empty(); });
  }

 private:
  struct Candidate {
    std::int64_t bytes;
    std::size_t producer, consumer;
    UOp state;  // one that passes between them
    bool operator<(const Candidate& o) const {
      return std::tie(bytes, o.producer, o.consumer) < std::tie(o.bytes, producer, consumer);
    }
  };

  BlockPlan plan_of(const PendingStep& step) {
    BlockPlan plan;
    const Caps& caps = context_.caps(step.device);
    if (step.nests.empty() || is_snapshot(step)) return plan;
    if (!caps.joins_nests || caps.has_groups) return plan;
    plan.joinable = true;
    const UOp nest = step.nests[0];
    nests_.push_back(blocked_nest(nest));
    plan.sequence.nests = {&nests_.back()};
    for (UOp store : nest.sources()) {
      const UOp buffer = store.src(0).src(0);
      plan.written.emplace(buffer.node(), Written{buffer, 0, layout_of(store)});
    }
    for (UOp place : nests_.back().places) plan.accessed[place.src(0).node()].insert(0);
    for (UOp r : common_loops(nest)) plan.sequence.axes.push_back({r.range_size(), {r}});
    for (UOp r : summed_loops(nest)) plan.sequence.axes.push_back({r.range_size(), {r}});
    return plan;
  }

  void propose_producers(std::size_t consumer) {
    for (UOp state : steps_[consumer].reads) {
      const auto makers = states_.makers(state);
      if (makers.size() == 1) propose(state, makers[0], consumer);
    }
    for (UOp state : steps_[consumer].writes) {
      for (std::size_t maker : states_.makers(state)) {
        if (states_.are_parts_of_one(maker, consumer)) propose(state, maker, consumer);
      }
    }
  }

  void propose(UOp state, std::size_t producer, std::size_t consumer) {
    if (producer == consumer || !plans_[producer].joinable || !plans_[consumer].joinable) return;
    if (steps_[producer].device != steps_[consumer].device) return;
    const std::int64_t bytes = state.elements() * size_of(state.dtype());
    if (overwrites(producer) || (overwrites(consumer) && is_held(bytes, consumer))) return;
    queue_.push({bytes, producer, consumer, state});
  }

  // Whether it overwrites what somebody has made or wants to read: memory of which that is not so
  // is a result like others.
  bool overwrites(std::size_t step) const {
    const UOp before = steps_[step].supersedes;
    return before && !(states_.makers(before).empty() && states_.readers(before).empty());
  }

  // What overwrites memory, as the updates of all parameters do, runs at once with what others
  // overwrite: it joins those before it for what the caches do not hold, and none comes after it.
  bool is_held(std::int64_t bytes, std::size_t reader) const {
    const MachineModel machine(context_.caps(steps_[reader].device));
    return machine.fits_caches(static_cast<double>(bytes));
  }

  // Why not, if they stay apart; nothing if that has been told.
  Refusal try_join(std::size_t producer, std::size_t consumer) {
    // The base of a scatter and then the values come together before either joins another step.
    const bool parts = states_.are_parts_of_one(producer, consumer);
    if (is_later_part(producer) || (is_later_part(consumer) && !parts)) {
      return {RefusalCause::SeveralMakers};
    }
    const std::size_t nests = steps_[producer].nests.size() + steps_[consumer].nests.size();
    if (nests > most_nests) {
      return {RefusalCause::ManyNests, static_cast<std::int64_t>(nests), most_nests};
    }
    if (!tried_.emplace(producer, consumer, nests).second) return {};
    if (steps_[consumer].is_again && !steps_[producer].is_again) return {RefusalCause::MadeLater};
    if (states_.is_reached_otherwise(producer, consumer)) return {RefusalCause::Circle};
    BlockPlan joined;
    joined.joinable = true;
    joined.sequence = joined_sequence(producer, consumer);
    const MachineModel machine(context_.caps(steps_[consumer].device));
    const double before = plans_[producer].cut.gain + plans_[consumer].cut.gain;
    joined.cut = cut_into_blocks(joined.sequence, machine);
    if (joined.cut.gain <= before) {
      return {RefusalCause::NoGain, std::llround(joined.cut.gain), std::llround(before)};
    }
    join(producer, consumer, std::move(joined));
    // What did not pay with one of them alone may pay with both.
    propose_producers(consumer);
    for (UOp state : steps_[consumer].writes) {
      for (std::size_t reader : states_.readers(state)) propose(state, consumer, reader);
    }
    return {};
  }

  // Whether other steps make a part of what it makes before it.
  bool is_later_part(std::size_t step) const {
    return steps_[step].part != 0 && !makes_alone(step);
  }

  // Where that is less than a launch, the step becomes the prelude of all who read what it makes.
  void try_repeat(std::size_t producer) {
    const BlockPlan& plan = plans_[producer];
    if (!plan.joinable || steps_[producer].part != 0 || steps_[producer].nests.empty()) return;
    const MachineModel machine(context_.caps(steps_[producer].device));
    double cycles = 0;
    for (const BlockedNest* nest : plan.sequence.nests) cycles += nest->cycles;
    if (cycles > machine.launch * static_cast<double>(plan.sequence.nests.size())) return;
    const std::vector<std::size_t> readers = readers_to_repeat_in(producer);
    if (readers.empty()) return;
    std::vector<const BlockPlan*> read_by;
    double before = plan.cut.gain;
    for (std::size_t r : readers) {
      read_by.push_back(&plans_[r]);
      before += plans_[r].cut.gain;
    }
    BlockPlan joined = repeated_plan(plan, read_by, machine);
    joined.cut = cut_into_blocks(joined.sequence, machine);
    if (joined.cut.gain > before && are_independent(producer, readers)) {
      repeat(producer, readers, std::move(joined));
    }
  }

  // All readers of what the step makes, one that overwrites memory last; none if somebody else
  // wants it, or one of them cannot be joined to it.
  std::vector<std::size_t> readers_to_repeat_in(std::size_t producer) const {
    std::set<std::size_t> readers;
    const PendingStep& step = steps_[producer];
    for (std::size_t i = 0; i < step.writes.size(); i++) {
      const UOp state = step.writes[i];
      if (states_.is_result(state) || states_.makers(state).size() != 1) return {};
      if (plans_[producer].written.at(step.outputs[i].node()).layout.empty()) return {};
      const std::set<std::size_t>& of_state = states_.readers(state);
      readers.insert(of_state.begin(), of_state.end());
    }
    readers.erase(producer);  // nests of it pass on memory that they assign to
    std::vector<std::size_t> sorted(readers.begin(), readers.end());
    const auto overwriting =
        std::ranges::stable_partition(sorted, [&](std::size_t r) { return !steps_[r].supersedes; });
    const bool fit = std::ranges::all_of(sorted, [&](std::size_t r) {
      const BlockSequence& sequence = plans_[r].sequence;
      return !sequence.nests.empty() && (sequence.prelude == 0 || sorted.size() == 1) &&
             steps_[r].device == step.device && steps_[r].is_again == step.is_again &&
             (steps_[r].supersedes || makes_alone(r));
    });
    return fit && overwriting.size() <= 1 ? sorted : std::vector<std::size_t>();
  }

  bool makes_alone(std::size_t step) const {
    return std::ranges::all_of(steps_[step].writes,
                               [&](UOp state) { return states_.makers(state).size() == 1; });
  }

  bool are_independent(std::size_t producer, std::span<const std::size_t> readers) const {
    return std::ranges::none_of(readers, [&](std::size_t r) {
      return states_.is_reached_otherwise(producer, r) ||
             std::ranges::any_of(readers,
                                 [&](std::size_t s) { return r != s && states_.waits(r, s); });
    });
  }

  void repeat(std::size_t producer, std::span<const std::size_t> readers, BlockPlan joined) {
    const std::size_t home = readers.back();
    std::vector<UOp> nests = steps_[producer].nests;
    for (std::size_t r : readers) {
      nests.insert(nests.end(), steps_[r].nests.begin(), steps_[r].nests.end());
    }
    const auto may_vanish = [&](UOp buffer) { return joined.sequence.is_inner(buffer); };
    for (std::size_t r : readers.first(readers.size() - 1)) states_.join(r, home, may_vanish);
    states_.join(producer, home, may_vanish);
    steps_[home].nests = std::move(nests);
    for (std::size_t r : readers) plans_[r] = {};
    plans_[producer] = {};
    joined.joinable = !steps_[home].supersedes;
    plans_[home] = std::move(joined);
  }

  // The nests of both, the axes that they have in common, and what would be memory of a block.
  BlockSequence joined_sequence(std::size_t producer, std::size_t consumer) const {
    const BlockSequence &a = plans_[producer].sequence, &b = plans_[consumer].sequence;
    BlockSequence joined{a.nests, {}, {}};
    joined.nests.insert(joined.nests.end(), b.nests.begin(), b.nests.end());
    const std::vector<const Written*> between = passed_between(producer, consumer);
    joined.passed = passed_within(producer, consumer, between);
    std::set<const BlockAxis*> taken;  // a diagonal is along two axes with one loop
    for (const BlockAxis& axis : a.axes) {
      const BlockAxis* same = axis_along(axis, between, consumer);
      if (!same || !taken.insert(same).second) continue;
      joined.axes.push_back(axis);
      std::vector<UOp>& loops = joined.axes.back().loops;
      loops.insert(loops.end(), same->loops.begin(), same->loops.end());
    }
    std::ranges::stable_partition(joined.axes, std::not_fn(&BlockAxis::is_in_order));
    return joined;
  }

  // What nests of both pass on to each other, of which `between` goes from one step to the other.
  std::vector<PassedBuffer> passed_within(std::size_t producer, std::size_t consumer,
                                          std::span<const Written* const> between) const {
    const BlockSequence &a = plans_[producer].sequence, &b = plans_[consumer].sequence;
    const std::size_t count = a.nests.size();
    std::map<std::int64_t, PassedBuffer> passed;  // by number
    for (const PassedBuffer& p : a.passed) passed.emplace(p.buffer.buffer_id(), p);
    for (PassedBuffer p : b.passed) {
      p.first += count;
      p.last += count;
      passed.emplace(p.buffer.buffer_id(), p);
    }
    for (const Written* w : between) {
      const std::size_t last = *plans_[consumer].accessed.at(w->buffer.node()).rbegin();
      const bool inner = becomes_inner(*w, producer, consumer);
      passed.insert_or_assign(w->buffer.buffer_id(),
                              PassedBuffer{w->buffer, w->nest, last + count, inner});
    }
    std::vector<PassedBuffer> sorted;
    for (const auto& [number, p] : passed) sorted.push_back(p);
    return sorted;
  }

  // What the producer writes and the consumer accesses, in order of their numbers.
  std::vector<const Written*> passed_between(std::size_t producer, std::size_t consumer) const {
    const auto& written = plans_[producer].written;
    const auto& accessed = plans_[consumer].accessed;
    std::vector<const Written*> passed;
    if (written.size() < accessed.size()) {
      for (const auto& [buffer, w] : written) {
        if (accessed.contains(buffer)) passed.push_back(&w);
      }
    } else {
      for (const auto& [buffer, nests] : accessed) {
        const auto w = written.find(buffer);
        if (w != written.end()) passed.push_back(&w->second);
      }
    }
    std::ranges::sort(passed, {}, [](const Written* w) { return w->buffer.buffer_id(); });
    return passed;
  }

  // Whether only the two steps want the buffer: not one that came in, of which more than what is
  // written may be wanted.
  bool becomes_inner(const Written& w, std::size_t producer, std::size_t consumer) const {
    const PendingStep& step = steps_[producer];
    const auto output = std::ranges::find(step.outputs, w.buffer);
    if (output == step.outputs.end() || w.layout.empty()) return false;
    const UOp state = step.writes[static_cast<std::size_t>(output - step.outputs.begin())];
    return !is_state(state) && !states_.is_wanted_beside(state, consumer) &&
           states_.makers(state).size() == 1;
  }

  // The axis of the consumer that goes with one of the producer in all buffers that pass between
  // them; null if none does.
  const BlockAxis* axis_along(const BlockAxis& axis, std::span<const Written* const> passed,
                              std::size_t consumer) const {
    const BlockAxis* found = nullptr;
    for (const Written* w : passed) {
      const auto along = std::ranges::find(w->layout, axis.loops[w->nest], &LayoutAxis::loop);
      if (along == w->layout.end()) return nullptr;
      for (std::size_t n : plans_[consumer].accessed.at(w->buffer.node())) {
        const UOp loop = loop_along(plans_[consumer].sequence.nests[n]->places, w->buffer, *along);
        const BlockAxis* other = loop ? axis_of(consumer, n, loop) : nullptr;
        if (!other || (found && found != other)) return nullptr;
        found = other;
      }
    }
    return found;
  }

  const BlockAxis* axis_of(std::size_t step, std::size_t nest, UOp loop) const {
    for (const BlockAxis& axis : plans_[step].sequence.axes) {
      if (axis.loops[nest] == loop) return &axis;
    }
    return nullptr;
  }

  void join(std::size_t producer, std::size_t consumer, BlockPlan joined) {
    const std::size_t count = steps_[producer].nests.size();
    joined.written = std::move(plans_[producer].written);
    for (auto& [buffer, w] : plans_[consumer].written) {
      w.nest += count;
      joined.written.emplace(buffer, std::move(w));  // unless the producer does, which comes first
    }
    joined.accessed = std::move(plans_[producer].accessed);
    for (const auto& [buffer, by] : plans_[consumer].accessed) {
      for (std::size_t n : by) joined.accessed[buffer].insert(n + count);
    }
    std::vector<UOp> nests = steps_[producer].nests;
    nests.insert(nests.end(), steps_[consumer].nests.begin(), steps_[consumer].nests.end());
    states_.join(producer, consumer, [&](UOp buffer) { return joined.sequence.is_inner(buffer); });
    steps_[consumer].nests = std::move(nests);
    steps_[consumer].part = 0;
    plans_[consumer] = std::move(joined);
    plans_[producer] = {};
  }

  std::vector<PendingStep>& steps_;
  Schedule& schedule_;
  const ScheduleContext& context_;
  StepGraph states_;
  std::deque<BlockedNest> nests_;                                      // of all steps
  std::vector<BlockPlan> plans_;                                       // by step
  std::set<std::tuple<std::size_t, std::size_t, std::size_t>> tried_;  // two steps of so many nests
  std::priority_queue<Candidate> queue_;
};

}  // namespace

void join_by_blocks(std::vector<PendingStep>& steps, std::span<const UOp> results,
                    Schedule& schedule, const ScheduleContext& context) {
  BlockJoiner(steps, results, schedule, context).run();
}

}  // namespace croze
