// idle_barriers.cpp -- what items of a group do to the tiles that they share, from barrier to
// barrier.
//
// linearize() lets all items meet before a tile is filled and after that, whatever stands around
// it.  Where two tiles are filled one behind the other nobody reads between them, and all can go on
// from the first to the second.  So each barrier is looked at: which tiles have been touched on the
// ways to it since other barriers, and which are touched on the ways from it to others.  The ways
// lead around the loops, too.  If no tile is read on the one side and written on the other, or
// written on both, it goes.
//
// Boxes that are copied to a tile are parts of it of their own: nobody waits between them.
//
// Of a tile that is filled ahead (edits/warps/fill_ahead.h) a turn of the loop fills another slot
// than it reads: there only what is touched in different turns is the same memory.
#include "croze/codegen/idle_barriers.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "croze/base/flat_map.h"
#include "croze/codegen/edits/warps/fill_ahead.h"
#include "croze/graph/op.h"
#include "croze/render/program.h"

namespace croze {
namespace {

// How a tile has been touched, in bits: in the turn at hand, and `earlier` bits higher before it.
// What has no turns is touched before.
enum Touch : std::uint8_t { is_read = 1, is_written = 2, is_boxed = 4 };
constexpr int earlier = 3;
constexpr std::uint8_t in_turn = is_read | is_written | is_boxed;

// What matters here of an instruction.
struct Event {
  enum class Kind : std::uint8_t { Begin, End, Meet, Access };
  Kind kind = Kind::Meet;
  std::size_t instruction = 0;
  UOp loop;                // Begin, End
  std::size_t tile = 0;    // Access
  std::uint8_t touch = 0;  // Access
};

using Touches = std::vector<std::uint8_t>;  // of each tile

bool add(Touches& touches, const Touches& more) {
  bool grows = false;
  for (std::size_t i = 0; i < touches.size(); i++) {
    grows = grows || (more[i] & ~touches[i]) != 0;
    touches[i] |= more[i];
  }
  return grows;
}

bool conflict(std::uint8_t before, std::uint8_t after) {
  const auto is_conflict = [](int a, int b) {
    a &= in_turn;
    b &= in_turn;
    const bool is_changed = ((a | b) & (is_written | is_boxed)) != 0;
    return a != 0 && b != 0 && is_changed && (a != is_boxed || b != is_boxed);
  };
  return is_conflict(before >> earlier, after | after >> earlier) ||
         is_conflict(before | before >> earlier, after >> earlier);
}

bool conflict(const Touches& before, const Touches& after) {
  for (std::size_t i = 0; i < before.size(); i++) {
    if (conflict(before[i], after[i])) return true;
  }
  return false;
}

bool may_be_empty(UOp loop) { return loop.is_open() || loop.range_size() < 1; }

// Where a turn of the loop begins or ends.
void cross(Touches& touches, UOp loop, const std::vector<RangeSet>& turns) {
  for (std::size_t i = 0; i < touches.size(); i++) {
    if (!turns[i].contains(loop.range_id())) continue;
    const int before = touches[i] >> earlier | touches[i];
    touches[i] = static_cast<std::uint8_t>((before & in_turn) << earlier);
  }
}

// For each event, what has been touched since the last barriers on the ways to it.  `turns`: of
// each tile the loops, if it is filled ahead.
std::vector<Touches> touched_before(const std::vector<Event>& events,
                                    const std::vector<RangeSet>& turns) {
  const Touches nothing(turns.size(), 0);
  std::vector<Touches> before(events.size(), nothing);
  std::vector<Touches> turned(events.size(), nothing);  // by Begin: what a turn leaves behind
  for (bool grows = true; grows;) {
    grows = false;
    std::vector<std::size_t> open;
    Touches now = nothing;
    for (std::size_t i = 0; i < events.size(); i++) {
      before[i] = now;
      switch (events[i].kind) {
        case Event::Kind::Begin:
          open.push_back(i);
          cross(now, events[i].loop, turns);
          add(now, turned[i]);
          break;
        case Event::Kind::End:
          cross(now, events[i].loop, turns);
          grows = add(turned[open.back()], now) || grows;
          if (may_be_empty(events[i].loop)) {
            add(now, before[open.back()]);
            cross(now, events[i].loop, turns);
          }
          open.pop_back();
          break;
        case Event::Kind::Meet: now = nothing; break;
        case Event::Kind::Access: now[events[i].tile] |= events[i].touch; break;
      }
    }
  }
  return before;
}

// The events as one sees them who walks from the end to the start.
std::vector<Event> backward(std::vector<Event> events) {
  std::ranges::reverse(events);
  for (Event& e : events) {
    if (e.kind == Event::Kind::Begin) {
      e.kind = Event::Kind::End;
    } else if (e.kind == Event::Kind::End) {
      e.kind = Event::Kind::Begin;
    }
  }
  return events;
}

class IdleBarriers {
 public:
  explicit IdleBarriers(const std::vector<UOp>& instructions) : instructions_(instructions) {
    for (std::size_t i = 0; i < instructions.size(); i++) add_event(instructions[i], i);
  }

  // The place of one in the list of instructions, which it is not in any more from then on.
  bool take_one(std::size_t& instruction) {
    const std::vector<Touches> before = touched_before(events_, turns_);
    std::vector<Touches> after = touched_before(backward(events_), turns_);
    std::ranges::reverse(after);
    for (std::size_t i = 0; i < events_.size(); i++) {
      if (events_[i].kind != Event::Kind::Meet || conflict(before[i], after[i])) continue;
      instruction = events_[i].instruction;
      events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

 private:
  void add_event(UOp u, std::size_t i) {
    switch (u.op()) {
      case Op::Barrier: events_.push_back({.instruction = i}); return;
      case Op::Loop: return add_loop(Event::Kind::Begin, u.src(0));
      case Op::EndLoop: return add_loop(Event::Kind::End, u.src(0));
      case Op::Load:
      case Op::LoadMatrix: return add_access(u.src(0), is_read);
      case Op::Store: return add_access(u.src(0), is_written);
      case Op::CopyBox: return add_access(u.src(0), is_boxed);
      default: return;
    }
  }

  void add_loop(Event::Kind kind, UOp range) { events_.push_back({.kind = kind, .loop = range}); }

  void add_access(UOp place, std::uint8_t touch) {
    const UOp tile = buffer_of(place);
    if (!is_group_tile(tile)) return;
    const auto [number, is_new] = tiles_.insert(tile.node(), turns_.size());
    const bool has_slots = slots_of(tile) > 1;
    if (is_new) turns_.push_back(has_slots ? turns_of_slots(tile, instructions_) : RangeSet());
    const auto bits = static_cast<std::uint8_t>(has_slots ? touch : touch << earlier);
    events_.push_back({.kind = Event::Kind::Access, .tile = *number, .touch = bits});
  }

  const std::vector<UOp>& instructions_;
  std::vector<Event> events_;
  FlatMap<const Node*, std::size_t> tiles_;  // their numbers
  std::vector<RangeSet> turns_;              // of each tile
};

}  // namespace

std::vector<UOp> without_idle_barriers(std::vector<UOp> instructions) {
  if (std::ranges::none_of(instructions, [](UOp u) { return u.is(Op::Barrier); }))
    return instructions;
  IdleBarriers idle(instructions);
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; idle.take_one(i);) taken.push_back(i);
  std::ranges::sort(taken, std::greater());
  for (std::size_t i : taken) {
    instructions.erase(instructions.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return instructions;
}

}  // namespace croze
