// prefetch.cpp -- rows of the next tile are fetched while those of this one are multiplied.
//
//     for i in rows / 4:
//       for k:  sum[0..3] += a[4 i + 0..3, k] * b[k]
//
// reads four rows of a side by side, and then four others: of each the hardware notices only after
// some lines that it is read in order.  In turn k the loop over k therefore fetches a line of the
// next four: of row k % 4, at column k.  Where a turn reads more of a row than a number, a vector
// or a block of packed ones, as many rows are fetched as lines are read.  Where a reduction walks
// down the columns, each turn reads new lines anyway, and those of the next tile in the same turn
// are fetched:
//
//     for j in columns / 4:
//       for k:  sum[0..3] += a[k, 4 j + 0..3] * b[k]
//
// Where a run of the inner loop reads little, short rows or a few lines of a column, it is not what
// the next run reads that is fetched, but what a later one does.
//
// A tile that is filled with pieces of rows which lie pages apart comes to a surprise with each of
// them: while one is copied some later one is fetched.  A tile that is filled from columns of
// packed numbers reads a little of each at a time.  What the next turn of the loop around fills it
// with is fetched while the tile is used, when memory has nothing else to do.
//
// Lines of a picture with its border fill a tile by loads with masks, which come in order, but
// where masks have no registers the hardware has been seen not to learn from them.  What lies some
// way ahead is fetched.
//
// Rows whose numbers come from memory, as those of an embedding, are a surprise to the hardware
// each time:
//
//     for i in rows:
//       for k:  out[i, k] = table[number[i], k]
//
// The number of a later row is read early, and in turn k the k-th line of that row is fetched.
//
// Within a long row of that kind, as a page of a cache of keys, of which a head is some lines here
// and there, what lies some way ahead is fetched as of any other loop.
//
// Lanes that lie apart read or store what a tile has come to in a line each, all of which are a
// surprise when the loops of the tile are over, and are fetched before these.
//
// What comes in order the hardware foresees, as far as the processor looks ahead, which is some
// hundred instructions.  Of a loop that takes dozens for a vector these are a few turns: less than
// memory takes to answer, so such a loop fetches what it reads some way ahead by itself.  Where a
// row is read several times it comes with the first, which has nothing to compute: those that
// follow fetch the next row, however little they compute.
#include "croze/codegen/prefetch.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <unordered_map>

#include "croze/graph/graph.h"
#include "croze/graph/node_set.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/render/lane_form.h"
#include "croze/render/program.h"

namespace croze {
namespace {

constexpr std::int64_t line_bytes = 64, page_bytes = 4096;
// Bytes that are read at least between the fetching of a line and its reading: what a thread reads
// in the time that memory takes to answer.  The hardware sees rows that come in order, but starts
// anew at each page.
constexpr std::int64_t stream_ahead = 2048;
// The same where a tile is filled, at most: what is fetched is still in the L2 cache when it is
// read.
constexpr std::int64_t most_ahead = 256 << 10;
// A loop with fewer instructions for each line that it reads waits for memory alone, which brings
// lines that come in order by itself; with fewer than the second number where it leaves lines out.
constexpr std::int64_t least_instructions = 16, least_instructions_apart = 4;
// A row up to which the next one fits into an L1 cache of 32 KiB beside it and what is kept of it,
// and up to which it does so into an L2 cache of 512 KiB.
constexpr std::int64_t most_row = 8 << 10, most_far_row = 128 << 10;
// Smaller buffers are in the caches of a core when they are read again, or, read in order, come
// into them soon enough.  Lines that do not follow each other are worth fetching into the first
// cache.
constexpr std::int64_t least_streamed = 1 << 20, least_streamed_apart = 1 << 16;
// A turn that reads more lines fetches none: there is more to load than to compute.  Of packed
// numbers there is more to compute, and rows of several places may be read at once.
constexpr std::size_t most_lines = 4, most_packed_lines = 32;

// What is added to an index from one turn of a range to the next; nothing if that varies.
std::optional<std::int64_t> step_over(UOp index, UOp range) {
  std::unordered_map<const Node*, std::optional<std::int64_t>> steps;
  for (UOp u : toposort(index)) {
    std::optional<std::int64_t>& step = steps[u.node()];
    if (u == range) {
      step = 1;
    } else if (!u.varies_over(range)) {
      step = 0;
    } else if (u.is(Op::Add)) {
      const auto a = steps.at(u.src(0).node()), b = steps.at(u.src(1).node());
      if (a && b) step = *a + *b;
    } else if (u.is(Op::Mul) && u.src(1).is(Op::Const)) {
      const auto a = steps.at(u.src(0).node());
      if (a) step = *a * u.src(1).arg().value;
    } else if (u.is(Op::Cast)) {
      step = steps.at(u.src(0).node());
    }
  }
  return steps.at(index.node());
}

UOp number_like(UOp u, std::int64_t value) { return u.graph().constant(u.dtype(), value); }

UOp place_after(UOp place, UOp more) {
  return place.graph().place(place.src(0), place.src(1) + more);
}

// What an index is made of, but for how often the loops among it turn.
std::vector<UOp> parts_of(UOp index) {
  std::vector<UOp> parts{index};
  NodeSet seen;
  seen.insert(index.node());
  for (std::size_t i = 0; i < parts.size(); i++) {
    if (parts[i].is(Op::Range)) continue;
    for (UOp s : parts[i].sources()) {
      if (seen.insert(s.node())) parts.push_back(s);
    }
  }
  return parts;
}

std::vector<UOp> lanes_in(UOp u) {
  std::vector<UOp> lanes;
  std::ranges::copy_if(parts_of(u), std::back_inserter(lanes), is_lane);
  return lanes;
}

// The terms of a sum, and of the sums in it.  A sum that occurs in others again and again has more
// terms than there are nodes: what would be too many stays a sum.
std::vector<UOp> terms_of(UOp index) {
  constexpr std::size_t most_terms = 256;
  std::vector<UOp> terms, pending{index};
  while (!pending.empty()) {
    const UOp u = pending.back();
    pending.pop_back();
    if (u.is(Op::Add) && terms.size() + pending.size() < most_terms) {
      for (UOp s : u.sources()) pending.push_back(s);
    } else {
      terms.push_back(u);
    }
  }
  return terms;
}

// What each lane is at, where the number of the lane says it; none where it does not.
std::vector<std::int64_t> numbers_over(UOp term, UOp lane) {
  const std::optional<std::int64_t> step = step_over(term, lane);
  if (!step) return numbers_of_lanes(term);
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 0; k < lane.range_size(); k++) numbers.push_back(k * *step);
  return numbers;
}

// How far from where they begin the lanes of an index are, if that is known: those that read at
// numbers which were loaded may lie anywhere.
std::optional<std::vector<std::int64_t>> offsets_of_lanes(UOp index) {
  std::vector<std::int64_t> offsets{0};
  for (UOp term : terms_of(index)) {
    const std::vector<UOp> lanes = lanes_in(term);
    if (lanes.empty()) continue;
    const std::vector<std::int64_t> numbers = numbers_over(term, lanes[0]);
    if (offsets.size() == 1) offsets.resize(numbers.size(), 0);
    if (lanes.size() > 1 || numbers.empty() || offsets.size() != numbers.size()) return {};
    for (std::size_t k = 0; k < numbers.size(); k++) offsets[k] += numbers[k] - numbers[0];
  }
  return offsets;
}

// Where lane 0 is, which a fetch goes by: without the lanes, if they are at no equal steps.
UOp first_place(UOp place) {
  const UOp index = place.src(1);
  std::vector<std::pair<UOp, UOp>> first;
  for (UOp lane : lanes_in(index)) {
    if (!step_over(index, lane)) first.emplace_back(lane, number_like(lane, 0));
  }
  return first.empty() ? place : place.graph().place(place.src(0), substitute(index, first));
}

// An index as a sum of other terms and a number.  Lanes are no terms: where they begin, they are 0.
struct Sum {
  std::vector<const Node*> terms;
  std::int64_t number = 0;
};

Sum sum_of(UOp index) {
  Sum sum;
  for (UOp u : terms_of(index)) {
    if (u.is(Op::Const)) {
      sum.number += u.arg().value;
    } else if (lanes_in(u).empty()) {
      sum.terms.push_back(u.node());
    }
  }
  std::ranges::sort(sum.terms);
  return sum;
}

// Places that differ by constants: what an unrolled tile reads of one operand.
struct Operand {
  UOp buffer;
  std::vector<const Node*> terms;
  std::vector<std::pair<std::int64_t, UOp>> places;  // by the constant
  std::int64_t inner_step = 0, outer_step = 0;       // in bytes

  std::int64_t element_bytes() const { return size_of(buffer.dtype()); }
};

using Places = std::vector<std::pair<std::int64_t, UOp>>;

// Whether a turn reads all that lies between the places, which are in order, and the end.
bool are_read_whole(std::span<const Places::value_type> places, std::int64_t end) {
  const std::int64_t line = line_bytes / size_of(places[0].second.src(0).dtype());
  for (std::size_t i = 0; i < places.size(); i++) {
    const std::int64_t next = i + 1 < places.size() ? places[i + 1].first : end;
    if (next - places[i].first > line) return false;
  }
  return true;
}

// A row of which a turn reads all has each of its lines, wherever they begin; of other places that
// are in one line the first is enough.
void keep_lines(Operand& operand) {
  std::ranges::stable_sort(operand.places, {}, [](const auto& p) { return p.first; });
  const std::int64_t line = line_bytes / operand.element_bytes(),
                     step = operand.inner_step / operand.element_bytes();
  Places lines;
  for (auto row = operand.places.begin(); row != operand.places.end();) {
    const auto [first, place] = *row;
    const std::int64_t end = first + step;
    const auto next =
        std::find_if(row, operand.places.end(), [end](const auto& p) { return p.first >= end; });
    if (are_read_whole(std::span(row, next), end)) {
      for (std::int64_t at = 0; at < step; at += line) {
        const UOp more = place.src(1).graph().constant(place.src(1).dtype(), at);
        lines.emplace_back(first + at, at == 0 ? place : place_after(place, more));
      }
    } else {
      for (const auto& each : std::span(row, next)) {
        if (lines.empty() || each.first - lines.back().first >= line) lines.push_back(each);
      }
    }
    row = next;
  }
  operand.places = std::move(lines);
}

// Where the lanes of a place come to other cache lines than those before them, from 0 on.
std::vector<std::int64_t> lines_of_lanes(UOp place) {
  const std::int64_t line = line_bytes / size_of(place.src(0).dtype());
  const std::vector<std::int64_t> offsets = offsets_of_lanes(place.src(1)).value();
  std::vector<std::int64_t> lines{0};
  for (const std::int64_t offset : offsets) {
    if (std::abs(offset - lines.back()) >= line) lines.push_back(offset);
  }
  return lines;
}

std::vector<Operand> operands_of(std::span<const UOp> places, UOp inner, UOp outer) {
  std::vector<Operand> operands;
  for (UOp place : places) {
    Sum sum = sum_of(place.src(1));
    auto operand = std::ranges::find_if(operands, [&](const Operand& o) {
      return o.buffer == place.src(0) && o.terms == sum.terms;
    });
    if (operand == operands.end()) {
      const std::int64_t bytes = size_of(place.src(0).dtype());
      const auto inner_step = step_over(place.src(1), inner);
      const auto outer_step = step_over(place.src(1), outer);
      if (!inner_step || !outer_step || *inner_step == 0 || *outer_step == 0) continue;
      operands.push_back({.buffer = place.src(0),
                          .terms = std::move(sum.terms),
                          .places = {},
                          .inner_step = std::abs(*inner_step) * bytes,
                          .outer_step = *outer_step * bytes});
      operand = operands.end() - 1;
    }
    const UOp first = first_place(place);
    for (const std::int64_t offset : lines_of_lanes(place)) {
      const UOp line = offset == 0 ? first : place_after(first, number_like(inner, offset));
      operand->places.emplace_back(sum.number + offset, line);
    }
  }
  std::ranges::for_each(operands, keep_lines);
  return operands;
}

// How many of the rows are fetched in a turn: each has its turn again before a line of it is read.
std::size_t rows_in_a_turn(const Operand& operand) {
  const std::size_t rows = std::bit_ceil(operand.places.size());
  const std::int64_t bytes = operand.inner_step * static_cast<std::int64_t>(rows);
  const auto lines = static_cast<std::size_t>((bytes + line_bytes - 1) / line_bytes);
  return std::min(rows, std::bit_ceil(lines));
}

// Of all memory that is fetched for the operand in one run of `inner`: a line a turn, or as much as
// lies there in order.
std::int64_t bytes_of_run(const Operand& operand, UOp inner) {
  const auto rows = static_cast<std::int64_t>(operand.places.size());
  return std::min(operand.inner_step, line_bytes) * inner.range_size() * rows;
}

// Elements to what is read in the next run of `inner`, or a later one.
std::int64_t elements_ahead(const Operand& operand, UOp inner) {
  const std::int64_t run_bytes = bytes_of_run(operand, inner);
  const std::int64_t runs = (stream_ahead + run_bytes - 1) / run_bytes;
  return runs * operand.outer_step / operand.element_bytes();
}

// The rows, `next` elements further, or where it takes fewer at a time some of them by turns.
std::vector<UOp> rows_ahead(const Operand& operand, UOp inner, std::int64_t next) {
  const std::size_t count = rows_in_a_turn(operand);
  std::vector<UOp> result;
  for (const auto& [at, place] : operand.places | std::views::take(count)) {
    UOp more = number_like(inner, next);
    if (count < operand.places.size()) {
      const std::int64_t apart = operand.places[count].first - operand.places[0].first;
      const auto turns = static_cast<std::int64_t>(std::bit_ceil(operand.places.size()) / count);
      more = more + (inner & number_like(inner, turns - 1)) * number_like(inner, apart);
    }
    result.push_back(place_after(place, more));
  }
  return result;
}

// Vectors in the memory of the program, whose index has the dtype of the loop.
std::vector<UOp> vectors_of_memory(std::span<const UOp> places, UOp loop) {
  std::vector<UOp> result;
  std::ranges::copy_if(places, std::back_inserter(result), [&](UOp place) {
    return place.src(0).is(Op::Param) && place.src(1).dtype() == loop.dtype() &&
           offsets_of_lanes(place.src(1)).has_value();
  });
  return result;
}

// What is read in order with a mask, some way ahead.
std::vector<UOp> places_behind_masks(std::span<const UOp> vectors, UOp loop) {
  std::vector<UOp> result, masked;
  std::ranges::copy_if(vectors, std::back_inserter(masked),
                       [](UOp place) { return place.num_src() > 2; });
  for (const Operand& operand : operands_of(masked, loop, loop)) {
    const std::int64_t bytes = operand.element_bytes();
    if (operand.outer_step < 0 || operand.outer_step > line_bytes) continue;
    if (operand.buffer.buffer_elements() * bytes < least_streamed) continue;
    for (const auto& [at, place] : operand.places)
      result.push_back(place_after(place, number_like(loop, stream_ahead / bytes)));
  }
  return result;
}

// Whether a number from memory says where the place lies, one that is known before `inner` begins
// and comes in order with `outer`.
bool is_row_by_number(UOp place, UOp inner, UOp outer) {
  const UOp index = place.src(1);
  if (!place.src(0).is(Op::Param) || index.dtype() != inner.dtype()) return false;
  bool has_number = false;
  for (UOp u : parts_of(index)) {
    if (!u.is(Op::Load)) continue;
    const UOp from = u.src(0);
    const bool comes_in_order = from.is(Op::Index) && from.src(0).is(Op::Param) &&
                                step_over(from.src(1), outer).value_or(0) != 0;
    if (!comes_in_order || u.varies_over(inner)) return false;
    has_number = true;
  }
  return has_number && offsets_of_lanes(index).has_value();
}

// Where a last tile overlaps the one before it, as if it went on behind the end.
UOp without_overlap(UOp place) {
  std::vector<std::pair<UOp, UOp>> map;
  for (UOp u : toposort(place.src(1))) {
    if (u.is(Op::Min) && u.src(1).is(Op::Const)) map.emplace_back(u, u.src(0));
  }
  return place.graph().place(place.src(0), substitute(place.src(1), map));
}

// What `inner` reads in later turns of `outer`, each of which begins in another page.
std::vector<UOp> places_of_next_pages(std::span<const UOp> vectors, UOp inner, UOp outer) {
  std::vector<UOp> places, result;
  std::ranges::transform(vectors, std::back_inserter(places), without_overlap);
  for (const Operand& o : operands_of(places, inner, outer)) {
    if (o.element_bytes() == 1 || std::abs(o.outer_step) < page_bytes) continue;
    std::ranges::copy(rows_ahead(o, inner, elements_ahead(o, inner)), std::back_inserter(result));
  }
  return result.size() > most_lines ? std::vector<UOp>() : result;
}

// Bytes to rows that come so much later, of short ones that follow each other soon, or of as many
// at once as lie side by side.
std::optional<std::int64_t> later_row(std::int64_t to_next, std::int64_t rows) {
  if (to_next <= 0 || (to_next > stream_ahead && to_next != rows)) return {};
  return (stream_ahead + to_next - 1) / to_next * to_next;
}

// How many bytes ahead a stream is fetched, and into which cache; none if a few turns come to the
// end of the row and nothing is known to be read behind it soon.
struct Ahead {
  std::int64_t bytes, cache = 1;
  bool is_next_row = false;
};

std::optional<Ahead> ahead_of(const Operand& stream, UOp loop, UOp outer) {
  const std::int64_t step = stream.outer_step, row = step * loop.range_size();
  const auto lines = static_cast<std::int64_t>(stream.places.size());
  const auto next = outer ? step_over(stream.places[0].second.src(1), outer) : std::nullopt;
  const std::int64_t to_next = next.value_or(0) * stream.element_bytes();
  if (to_next == row && row > stream_ahead && row <= most_far_row) {
    return Ahead{.bytes = row, .cache = row > most_row ? 2 : 1, .is_next_row = true};
  }
  if (row < stream_ahead) {
    if (const auto later = later_row(to_next, lines * row)) return Ahead{.bytes = *later};
  }
  const std::int64_t turns = stream_ahead / std::min(step, lines * line_bytes);
  const std::int64_t in_row = std::max<std::int64_t>(turns, 1) * step;
  if (in_row >= row && loop.range_size() < long_loop) return {};
  return Ahead{.bytes = in_row};
}

}  // namespace

std::vector<UOp> places_of_later_rows(std::span<const UOp> places, UOp inner, UOp outer) {
  std::vector<UOp> result;
  // How often an open loop turns may follow from `outer`: for a later row it is another loop.
  if (outer.is_open() || inner.is_open() || outer.dtype() != inner.dtype()) return result;
  for (UOp place : places) {
    const auto step = step_over(place.src(1), inner);
    if (step.value_or(0) == 0 || !is_row_by_number(place, inner, outer)) continue;
    const std::int64_t step_bytes = std::abs(*step) * size_of(place.src(0).dtype()),
                       row_bytes = step_bytes * inner.range_size();
    // That leaves lines out: a stream by itself.
    if (row_bytes > most_row && step_bytes > line_bytes) continue;
    const std::int64_t ahead = (stream_ahead + row_bytes - 1) / row_bytes;
    const UOp later = outer.graph().alu(
        Op::Min, {outer + number_like(outer, ahead), number_like(outer, outer.range_size() - 1)});
    const std::pair<UOp, UOp> then[] = {{outer, later}};
    result.push_back(
        outer.graph().place(place.src(0), substitute(first_place(place).src(1), then)));
  }
  if (result.size() > most_lines) result.clear();
  return result;
}

std::vector<UOp> places_of_next_turn(std::span<const UOp> places, UOp inner, UOp outer) {
  const bool is_used_again =
      std::ranges::any_of(places, [&](UOp place) { return !place.src(1).varies_over(outer); });
  std::vector<UOp> result;
  if (!is_used_again) return result;
  bool is_packed = true;
  for (const Operand& operand : operands_of(vectors_of_memory(places, inner), inner, outer)) {
    is_packed = is_packed && operand.element_bytes() == 1;
    const std::vector<UOp> rows = rows_ahead(operand, inner, elements_ahead(operand, inner));
    result.insert(result.end(), rows.begin(), rows.end());
  }
  return result.size() > (is_packed ? most_packed_lines : most_lines) ? std::vector<UOp>() : result;
}

std::vector<UOp> places_of_next_fill(std::span<const UOp> places, std::span<const UOp> filling,
                                     bool is_blind_to_masks) {
  const UOp inner = filling.back();
  const std::vector<UOp> vectors = vectors_of_memory(places, inner);
  std::vector<UOp> result;
  if (filling.size() > 1) result = places_of_next_pages(vectors, inner, filling.rbegin()[1]);
  if (is_blind_to_masks && result.empty()) result = places_behind_masks(vectors, inner);
  return result;
}

std::vector<UOp> places_of_later_fill(std::span<const UOp> places, UOp inner,
                                      std::span<const UOp> around) {
  const std::vector<UOp> vectors = vectors_of_memory(places, inner);
  std::vector<UOp> result;
  for (UOp outer : around) {
    std::vector<Operand> operands = operands_of(vectors, inner, outer);
    // What is copied as it is comes as fast as it is stored, but for new pages.
    std::erase_if(operands, [](const Operand& o) { return o.element_bytes() > 1; });
    const auto is_near = [](const Operand& o) { return std::abs(o.outer_step) <= most_ahead; };
    if (operands.empty() || !std::ranges::all_of(operands, is_near)) continue;
    for (const Operand& o : operands)
      std::ranges::copy(rows_ahead(o, inner, o.outer_step), std::back_inserter(result));
    break;
  }
  return result;
}

std::vector<Fetch> places_of_stream(std::span<const UOp> places, UOp loop, UOp outer,
                                    std::int64_t instructions, bool is_read_again) {
  std::vector<Fetch> result;
  std::int64_t instructions_wanted = 0;
  std::vector<UOp> vectors = vectors_of_memory(places, loop);
  std::erase_if(vectors, [&](UOp place) { return !is_fetchable(place, loop); });
  for (const Operand& operand : operands_of(vectors, loop, loop)) {
    const std::int64_t bytes = operand.element_bytes(), step = operand.outer_step;
    const auto lines = static_cast<std::int64_t>(operand.places.size());
    const bool leaves_out = step > lines * line_bytes;
    const std::int64_t least = leaves_out ? least_streamed_apart : least_streamed;
    if (step < 0 || operand.buffer.buffer_elements() * bytes < least) continue;
    const std::optional<Ahead> ahead = ahead_of(operand, loop, outer);
    if (!ahead) continue;
    const std::int64_t of_line = leaves_out ? least_instructions_apart : least_instructions;
    if (!is_read_again || !ahead->is_next_row) instructions_wanted += lines * of_line;
    for (const auto& [at, place] : operand.places)
      result.push_back({place_after(place, number_like(loop, ahead->bytes / bytes)), ahead->cache});
  }
  return instructions < instructions_wanted ? std::vector<Fetch>() : result;
}

std::vector<UOp> lines_of(std::span<const UOp> places) {
  struct Line {
    UOp buffer;
    std::vector<const Node*> terms;
    std::int64_t number;
    bool operator==(const Line&) const = default;
  };
  std::vector<Line> seen;
  std::vector<UOp> result;
  for (UOp place : places) {
    const UOp first = first_place(place);
    const Sum sum = sum_of(place.src(1));
    const std::int64_t line = line_bytes / size_of(place.src(0).dtype());
    for (const std::int64_t offset : lines_of_lanes(place)) {
      Line at{place.src(0), sum.terms, (sum.number + offset) / line};
      if (std::ranges::find(seen, at) != seen.end()) continue;
      seen.push_back(std::move(at));
      result.push_back(offset == 0 ? first : place_after(first, number_like(first.src(1), offset)));
    }
  }
  return result;
}

bool is_scattered(UOp place) {
  if (!place.is(Op::Index) || !place.src(0).is(Op::Param)) return false;
  const UOp buffer = place.src(0);
  if (buffer.buffer_elements() * size_of(buffer.dtype()) < least_streamed_apart) return false;
  const auto is_load = [](UOp u) { return u.is(Op::Load); };
  if (std::ranges::any_of(parts_of(place.src(1)), is_load)) return false;
  const std::optional<std::vector<std::int64_t>> offsets = offsets_of_lanes(place.src(1));
  const auto are_near = [](std::int64_t a, std::int64_t b) { return std::abs(a - b) <= 1; };
  return offsets && std::ranges::adjacent_find(*offsets, are_near) == offsets->end() &&
         lines_of_lanes(place).size() > 1;
}

std::int64_t vector_instructions(UOp u, bool is_vector) {
  if (is_elementwise(u.op())) return is_vector ? 1 : 0;
  if (!u.is(Op::Reduce) || !is_lane(u.src(1))) return 0;
  return 2 * std::bit_width(static_cast<std::uint64_t>(u.src(1).range_size() - 1));
}

bool is_fetchable(UOp place, UOp loop) {
  if (!place.is(Op::Index) || !place.src(0).is(Op::Param)) return false;
  bool has_lanes = false;
  for (UOp term : terms_of(place.src(1))) {
    has_lanes = has_lanes || is_lane(term);
    const bool may_be_loaded = loop && !term.varies_over(loop);
    const auto is_unknown = [&](UOp u) { return is_lane(u) || (u.is(Op::Load) && !may_be_loaded); };
    if (!is_lane(term) && std::ranges::any_of(parts_of(term), is_unknown)) return false;
  }
  return has_lanes;
}

}  // namespace croze
