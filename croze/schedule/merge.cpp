// merge.cpp -- loop nests that pass values to each other become one nest with several stores.
//
// Lowering gives every buffered node a nest of its own.  A nest that reads a buffer where another
// one writes it, position by position, can compute and store that value itself: the buffer is
// written and not read back, and not even written if nobody else wants it.
//
// The loops of the producer become loops of the consumer.  If they are all of them, both stores
// stand in the innermost loop.  If they are fewer, the producer stands in the outer loops and the
// consumer goes on inside: the mean of a channel, its variance, and the channel normalised are one
// nest over channels, in which a channel stays in the cache.  Such a nest is worth it only if the
// outer loops are enough to feed all threads.
//
//     for c:  m[c] = sum(x[n, c]) / N          for c:  m[c] = sum(x[n, c]) / N
//     for n, c:  y[n, c] = x[n, c] - m[c]  =>          for n:  y[n, c] = x[n, c] - m[c]
//
// Contractions stay alone: their speed is in tiles that another store would break.
#include "croze/schedule/merge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>

#include "croze/codegen/decompose/words.h"
#include "croze/codegen/edits/kernel_state.h"
#include "croze/graph/index/index_form.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/nest_facts.h"
#include "croze/schedule/step_graph.h"

namespace croze {
namespace {

// Below this many visits a nest need not feed several threads.
constexpr std::int64_t small_work = 1 << 15;

using RangeMap = std::vector<std::pair<UOp, UOp>>;

std::vector<UOp> ranges_in(UOp sink) {
  std::vector<UOp> ranges;
  for (UOp u : toposort(sink)) {
    if (u.is(Op::Range)) ranges.push_back(u);
  }
  return ranges;
}

class Merger {
 public:
  Merger(std::vector<PendingStep>& steps, std::span<const UOp> results, Schedule& schedule,
         const ScheduleContext& context)
      : steps_(steps), schedule_(schedule), context_(context), states_(steps, results) {
    for (const PendingStep& step : steps_) facts_.push_back(known_of(step));
  }

  void run() {
    for (std::size_t i = 0; i < steps_.size(); i++) propose_producers(i);
    while (!queue_.empty()) {
      const Candidate c = queue_.top();
      queue_.pop();
      if (!steps_[c.producer].nests.empty() && !steps_[c.consumer].nests.empty()) try_merge(c);
    }
    std::erase_if(steps_, [](const PendingStep& s) { return s.writes.empty(); });
  }

 private:
  // What is known of a step.
  struct Known : NestFacts {
    bool mergeable = false;  // one nest without loops in order, which overwrites nothing
  };
  static Known known_of(const PendingStep& step) {
    if (step.nests.empty() || step.supersedes || step.part != 0 || is_snapshot(step)) return {};
    const NestFacts facts = facts_of(step.nests[0]);
    return {facts, !facts.in_order};
  }

  // Ordered by what merging saves; then the earlier steps first.
  struct Candidate {
    std::int64_t bytes;
    std::size_t producer, consumer;
    UOp state;  // one that passes between them
    bool operator<(const Candidate& o) const {
      return std::tie(bytes, o.producer, o.consumer) < std::tie(o.bytes, producer, consumer);
    }
  };

  void propose_producers(std::size_t consumer) {
    for (UOp state : steps_[consumer].reads) propose(state, consumer);
  }

  void propose(UOp state, std::size_t consumer) {
    const auto makers = states_.makers(state);
    if (makers.empty()) return;
    const std::size_t producer = makers[0];
    if (producer == consumer) return;
    if (const RefusalCause cause = never_one(producer, consumer); cause != RefusalCause::None) {
      return refuse(state, {cause});
    }
    queue_.push({state.elements() * size_of(state.dtype()), producer, consumer, state});
  }

  // What forbids that two steps become one nest, however they access what they share.
  RefusalCause never_one(std::size_t producer, std::size_t consumer) const {
    for (std::size_t step : {producer, consumer}) {
      if (steps_[step].nests.empty()) return RefusalCause::OtherDevice;  // a copy
      if (!facts_[step].mergeable) return RefusalCause::InOrder;
      if (facts_[step].contraction) return RefusalCause::Contraction;
    }
    if (steps_[producer].device != steps_[consumer].device) return RefusalCause::OtherDevice;
    if (steps_[consumer].is_again && !steps_[producer].is_again) return RefusalCause::MadeLater;
    // What several steps make is whole after the last of them.
    const bool has_one_maker = std::ranges::all_of(
        steps_[producer].writes, [&](UOp w) { return states_.makers(w).size() == 1; });
    return has_one_maker ? RefusalCause::None : RefusalCause::SeveralMakers;
  }

  // The buffer of a state remembers why its maker stays a step of its own.
  void refuse(UOp state, Refusal why) {
    if (ScheduleBuffer* buffer = buffer_of(state, states_, steps_, schedule_)) {
      buffer->one_nest = why;
    }
  }

  void try_merge(const Candidate& c) {
    const auto refused = [&](Refusal why) { refuse(c.state, why); };
    // Either may have grown since this was proposed.
    if (facts_[c.producer].contraction || facts_[c.consumer].contraction) {
      return refused({RefusalCause::Contraction});
    }
    const RangeMap map = shared_loops(steps_[c.producer], steps_[c.consumer]);
    if (map.empty()) return refused({RefusalCause::OtherLoops});
    if (states_.is_reached_otherwise(c.producer, c.consumer)) {
      return refused({RefusalCause::Circle});
    }
    const Merged merged = merged_sink(c, map);
    if (!merged.sink) return refused(merged.refused);
    if (const Refusal why = why_not_worth(c, merged.sink)) return refused(why);
    merge(c, merged.sink);
  }

  // The loops of the producer's stores, each with the loop of the consumer that takes its place, if
  // every read is at the position of the write.  Empty if they do not fit.
  RangeMap shared_loops(const PendingStep& producer, const PendingStep& consumer) const {
    RangeMap map;
    for (UOp u : toposort(consumer.nests[0])) {
      if (!u.is(Op::Load)) continue;
      for (UOp store : producer.nests[0].sources()) {
        if (store.src(0).src(0) != u.src(0).src(0)) continue;
        const RangeMap one = matched(store, u, consumer.nests[0]);
        if (one.empty() || (!map.empty() && one != map)) return {};
        map = one;
      }
    }
    // All stores of the producer must be placed by what is known of one.
    for (UOp r : loops_of(producer.nests[0])) {
      if (std::ranges::find(map, r, &std::pair<UOp, UOp>::first) == map.end()) return {};
    }
    return map;
  }

  static std::vector<UOp> loops_of(UOp sink) {
    std::vector<UOp> loops;
    for (UOp store : sink.sources()) {
      for (UOp r : closed_ranges(store)) {
        if (std::ranges::find(loops, r) == loops.end()) loops.push_back(r);
      }
    }
    return loops;
  }

  static RangeMap matched(UOp store, UOp load, UOp consumer) {
    if (load.src(0).num_src() > 2 || store.src(0).num_src() > 2) return {};  // gated
    const auto written = strides_of(store.src(0).src(1)), read = strides_of(load.src(0).src(1));
    if (!written || !read || written->size() != read->size()) return {};
    RangeMap map;
    for (const auto& [stride, range] : *written) {
      const auto other = read->find(stride);
      if (other == read->end() || other->second.trip_count() != range.trip_count()) return {};
      if (stores_in(consumer, other->second) == 0) return {};
      map.emplace_back(range, other->second);
    }
    return closed_ranges(store).size() == map.size() ? map : RangeMap{};
  }

  // Loops that only some stores or reductions need stand inside those that all need, and these
  // feed the threads.
  Refusal why_not_worth(const Candidate& c, UOp merged) const {
    const Caps& caps = context_.caps(steps_[c.consumer].device);
    const std::vector<UOp> loops = loops_of(merged);
    RangeSet all;
    for (UOp r : loops) all = all | r.ranges();
    std::vector<RangeSet> needed;
    std::int64_t buffers = 0, size = 0;
    for (UOp u : toposort(merged)) {
      buffers += u.is(Op::Buffer);
      if (is_elementwise(u.op()) && u.num_src() > 0 && u.dtype() != DType::Index)
        size += needs_words(caps) ? length_in_words(u) : 1;
      if (u.is(Op::Reduce)) needed.push_back(u.ranges() - (u.ranges() - all));
      if (!u.is(Op::Store)) continue;
      needed.emplace_back();
      for (UOp r : closed_ranges(u)) needed.back() = needed.back() | r.ranges();
    }
    if (buffers > caps.max_buffers) return {RefusalCause::ManyBuffers, buffers, caps.max_buffers};
    if (size > FusionPlan::max_size) return {RefusalCause::LargeNest, size, FusionPlan::max_size};
    std::ranges::sort(needed, {}, &RangeSet::count);
    for (std::size_t i = 1; i < needed.size(); i++) {
      if (!needed[i].contains_all(needed[i - 1])) return {RefusalCause::LoopsDoNotNest};
    }
    if (needed.front() == all) return {};
    std::int64_t outer = 1;
    for (UOp r : loops) outer *= needed.front().contains(r.range_id()) ? r.range_size() : 1;
    const std::int64_t work = std::max(facts_[c.producer].work, facts_[c.consumer].work);
    if (caps.runs_warps()) return {RefusalCause::LoopsDoNotNest};
    if (work <= small_work) return {};
    if (outer < 2 * caps.threads) return {RefusalCause::FewOuterLoops, outer, 2 * caps.threads};
    // A producer without a loop of its own inside would only lose its lanes.
    return facts_[c.producer].work > outer ? Refusal{} : Refusal{RefusalCause::LoopsDoNotNest};
  }

  struct Merged {
    UOp sink;  // null: refused
    Refusal refused;
  };

  // The stores of both, the producer's values in place of the consumer's loads of them.
  Merged merged_sink(const Candidate& c, const RangeMap& map) const {
    const UOp producer = steps_[c.producer].nests[0];
    const UOp consumer = steps_[c.consumer].nests[0];
    Graph& g = consumer.graph();
    std::int64_t next = 0;
    for (UOp r : ranges_in(consumer)) next = std::max(next, r.range_id() + 1);
    RangeMap renamed = map;
    for (UOp r : ranges_in(producer)) {
      if (std::ranges::find(map, r, &std::pair<UOp, UOp>::first) != map.end()) continue;
      renamed.emplace_back(r, g.range(next++, Extent(r.trip_count()), r.loop_kind()));
    }
    if (next > most_nest_ranges) return {{}, {RefusalCause::ManyRanges, next, most_nest_ranges}};
    const UOp placed = substitute(producer, renamed);
    RangeMap values;  // loads of the consumer, and what they would load
    for (UOp u : toposort(consumer)) {
      if (!u.is(Op::Load)) continue;
      for (UOp store : placed.sources()) {
        if (store.src(0) == u.src(0)) values.emplace_back(u, store.src(1));
      }
    }
    const UOp fed = substitute(consumer, values);
    if (reads_any(fed, placed)) return {{}, {RefusalCause::OtherLoops}};
    std::vector<UOp> stores;
    for (UOp store : placed.sources()) {
      if (wanted(store, c)) stores.push_back(store);
    }
    for (UOp store : fed.sources()) stores.push_back(store);
    return {g.sink(stores), {}};
  }

  // Whether the kernel still loads what the other one stores.
  static bool reads_any(UOp kernel, UOp other) {
    for (UOp u : toposort(kernel)) {
      if (!u.is(Op::Load)) continue;
      for (UOp store : other.sources()) {
        if (store.src(0).src(0) == u.src(0).src(0)) return true;
      }
    }
    return false;
  }

  // Whether anybody but the consumer wants what the producer stores.
  bool wanted(UOp store, const Candidate& c) const {
    const PendingStep& producer = steps_[c.producer];
    for (std::size_t i = 0; i < producer.writes.size(); i++) {
      if (producer.outputs[i] == store.src(0).src(0))
        return states_.is_wanted_beside(producer.writes[i], c.consumer);
    }
    return true;
  }

  void merge(const Candidate& c, UOp merged) {
    states_.join(c.producer, c.consumer, [](UOp) { return true; });
    PendingStep& consumer = steps_[c.consumer];
    consumer.nests = {merged};
    facts_[c.consumer] = known_of(consumer);
    propose_producers(c.consumer);
    for (UOp w : consumer.writes) {
      for (std::size_t reader : states_.readers(w)) propose(w, reader);
    }
  }

  std::vector<PendingStep>& steps_;
  Schedule& schedule_;
  const ScheduleContext& context_;
  StepGraph states_;
  std::vector<Known> facts_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

void merge_steps(std::vector<PendingStep>& steps, std::span<const UOp> results, Schedule& schedule,
                 const ScheduleContext& context) {
  Merger(steps, results, schedule, context).run();
}

}  // namespace croze
