// memory_order.cpp -- reads and writes of each piece of memory, in the order of its states.
//
// A write that covers another stands for it: what comes later and overlaps the covered one overlaps
// the covering one, which waits for it.  So a long chain of updates of one region has as many waits
// as updates, and what is looked through for each access are regions that are apart.
#include "croze/schedule/memory/memory_order.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "croze/graph/rewrite/rewrite.h"
#include "croze/schedule/memory/memory_states.h"
#include "croze/schedule/memory/region.h"

namespace croze {
namespace {

struct Access {
  int step = 0;
  std::int64_t age = 0;  // of the state that is read or made
  int part = 0;
  bool is_write = false;
  UOp state;
  std::vector<Region> regions;

  // States in order; what makes one before what reads it.
  bool operator<(const Access& o) const {
    return std::tuple(age, !is_write, part, step) < std::tuple(o.age, !o.is_write, o.part, o.step);
  }
};

bool overlap(const Access& a, const Access& b) {
  return std::ranges::any_of(a.regions, [&](const Region& r) {
    return std::ranges::any_of(b.regions, [&](const Region& s) { return !are_disjoint(r, s); });
  });
}

bool covers(const Access& whole, const Access& part) {
  return std::ranges::all_of(part.regions, [&](const Region& p) {
    return std::ranges::any_of(whole.regions, [&](const Region& w) { return covers(w, p); });
  });
}

// The accesses of one piece of memory.
class MemoryOrderer {
 public:
  explicit MemoryOrderer(MemoryWaits& waits) : waits_(waits) {}

  void add(const Access& a) {
    for (const Access* w : writes_) {
      if (w->step != a.step && overlap(*w, a)) wait(a.step, w->step);
    }
    if (!a.is_write) {
      reads_.push_back(&a);
      return;
    }
    for (const Access* r : reads_) {
      if (r->step == a.step || !overlap(*r, a)) continue;
      wait(a.step, r->step);
      waits_.overwrites.push_back({a.step, r->step, r->state});
    }
    for (auto* list : {&writes_, &reads_}) {
      std::erase_if(*list, [&](const Access* other) { return covers(a, *other); });
    }
    writes_.push_back(&a);
  }

 private:
  void wait(int step, int other) {
    waits_.waits_for[static_cast<std::size_t>(step)].push_back(other);
  }

  MemoryWaits& waits_;
  std::vector<const Access*> writes_, reads_;  // that no later write covers
};

// All that the steps do to the memory of chains of states, by buffer in the order of first use.
class Accesses {
 public:
  explicit Accesses(std::span<const PendingStep> steps) {
    for (std::size_t i = 0; i < steps.size(); i++) add(steps[i], static_cast<int>(i));
  }

  std::vector<std::vector<Access>> by_buffer;

 private:
  void add(const PendingStep& step, int number) {
    struct Touched {
      std::vector<Region> read, written;
    };
    std::map<std::int64_t, Touched> touched;  // by id of the buffer
    for (UOp nest : step.nests) {
      for (UOp u : toposort(nest)) {
        if (u.is(Op::Load)) touched[id_of(u)].read.push_back(region_of(u.src(0)));
        if (u.is(Op::Store)) touched[id_of(u)].written.push_back(region_of(u.src(0)));
      }
    }
    const auto note = [&](UOp state, bool is_write) {
      const UOp buffer = states_.buffer_of(state);
      if (!buffer) return;
      Access& a = list_of(buffer).emplace_back();
      a = {number, states_.age_of(state), step.part, is_write, state, {}};
      if (step.nests.empty()) {  // a copy
        a.regions.push_back({.axes = {{1, buffer.elements()}}});
      } else {
        const Touched& t = touched[buffer.buffer_id()];
        a.regions = is_write ? t.written : t.read;
      }
    };
    for (UOp state : step.writes) note(state, true);
    for (UOp state : step.reads) note(state, false);
  }

  static std::int64_t id_of(UOp access) { return access.src(0).src(0).buffer_id(); }

  std::vector<Access>& list_of(UOp buffer) {
    const auto [number, is_new] = numbers_.insert(buffer.node(), by_buffer.size());
    if (is_new) by_buffer.emplace_back();
    return by_buffer[*number];
  }

  MemoryStates states_;
  FlatMap<const Node*, std::size_t> numbers_;
};

}  // namespace

MemoryWaits memory_waits(std::span<const PendingStep> steps) {
  MemoryWaits waits;
  waits.waits_for.resize(steps.size());
  Accesses accesses(steps);
  for (std::vector<Access>& list : accesses.by_buffer) {
    std::ranges::stable_sort(list, std::less());
    MemoryOrderer orderer(waits);
    for (const Access& a : list) orderer.add(a);
  }
  return waits;
}

}  // namespace croze
