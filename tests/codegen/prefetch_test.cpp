// prefetch_test.cpp -- what is fetched for the next turn, counted out.
#include "croze/codegen/prefetch.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

constexpr std::int64_t line_bytes = 64;

class Prefetch : public testing::Test {
 protected:
  UOp number(std::int64_t n) { return graph.constant(DType::Int64, n); }
  UOp typed(UOp range) { return graph.make(Op::Range, DType::Int64, {}, range.arg()); }
  UOp place(UOp buffer, UOp index) { return graph.place(buffer, index); }

  // The lines that are touched in all turns of a loop while another stands at a turn.
  static std::set<std::int64_t> lines(const std::vector<UOp>& places, UOp inner, UOp outer,
                                      std::int64_t turn) {
    std::set<std::int64_t> result;
    for (std::int64_t k = 0; k < inner.range_size(); k++) {
      const std::pair<UOp, UOp> at[] = {
          {inner, inner.graph().constant(inner.dtype(), k)},
          {outer, inner.graph().constant(inner.dtype(), turn)},
      };
      for (UOp p : places) {
        const std::int64_t bytes = size_of(p.src(0).dtype());
        result.insert(substitute(p.src(1), at).arg().value * bytes / line_bytes);
      }
    }
    return result;
  }

  // How far one place is from another in the first turn of all loops.
  static std::int64_t apart(UOp place, UOp from) {
    const auto first = [](UOp index) {
      std::vector<std::pair<UOp, UOp>> at;
      for (UOp u : toposort(index)) {
        if (u.is(Op::Range)) at.emplace_back(u, index.graph().constant(u.dtype(), std::int64_t{0}));
      }
      return substitute(index, at).const_int();
    };
    return first(place.src(1)) - first(from.src(1));
  }

  Graph graph;
  UOp outer = typed(graph.range(0, 32, LoopKind::Parallel));
  UOp inner = typed(graph.range(1, 64, LoopKind::Reduce));
  UOp a = graph.param(DType::Float32, 0, 1 << 16), b = graph.param(DType::Float32, 1, 1 << 16);
  UOp kept = place(b, inner);
};

// Four rows of 256 bytes a turn: what is read two turns later.
TEST_F(Prefetch, AllLinesOfLaterRowsAreFetchedOneATurn) {
  std::vector<UOp> places{kept};
  for (std::int64_t row = 0; row < 4; row++) {
    places.push_back(place(a, (outer * number(4 * 64) + inner) + number(row * 64)));
  }
  const std::vector<UOp> fetched = places_of_next_turn(places, inner, outer);
  ASSERT_EQ(fetched.size(), 1u);
  places.erase(places.begin());
  EXPECT_EQ(lines(fetched, inner, outer, 2), lines(places, inner, outer, 4));
}

// Rows of 256 bytes, one by one: that which lies 2 KiB ahead.
TEST_F(Prefetch, ShortRowsThatFollowEachOtherAreFetchedSomeRowsAhead) {
  const std::vector<UOp> row{place(a, outer * number(64) + inner)};
  const std::vector<UOp> fetched = places_of_next_turn({{kept, row[0]}}, inner, outer);
  ASSERT_EQ(fetched.size(), 1u);
  EXPECT_EQ(lines(fetched, inner, outer, 2), lines(row, inner, outer, 2 + 8));
}

TEST_F(Prefetch, ColumnsAreFetchedWhereTheNextTileReadsThemInTheSameTurn) {
  std::vector<UOp> places{kept};
  for (std::int64_t column = 0; column < 32; column++) {
    places.push_back(place(a, (inner * number(512) + outer * number(32)) + number(column)));
  }
  const std::vector<UOp> fetched = places_of_next_turn(places, inner, outer);
  EXPECT_EQ(fetched.size(), 2u);
  places.erase(places.begin());
  EXPECT_EQ(lines(fetched, inner, outer, 2), lines(places, inner, outer, 3));
}

// As where sums of 16 columns wait while others are added to: eight lines a turn.
TEST_F(Prefetch, OfShortColumnsThoseOfALaterTileAreFetched) {
  const UOp few = typed(graph.range(3, 8, LoopKind::Reduce));
  const UOp column = place(a, few * number(512) + outer * number(16));
  const std::vector<UOp> fetched = places_of_next_turn({{place(b, few), column}}, few, outer);
  ASSERT_EQ(fetched.size(), 1u);
  EXPECT_EQ(lines(fetched, few, outer, 2), lines({column}, few, outer, 2 + 4));
}

TEST_F(Prefetch, OfVectorsThatFillHalfALineTwoRowsAreFetchedATurn) {
  const UOp halves = graph.param(DType::Float16, 2, 1 << 16);
  const UOp lane = typed(graph.range(2, 16, LoopKind::Lane));
  std::vector<UOp> places, firsts;
  for (std::int64_t row = 0; row < 4; row++) {
    const UOp first = (outer * number(4 * 1024) + inner * number(16)) + number(row * 1024);
    places.push_back(place(halves, first + lane));
    firsts.push_back(place(halves, first));
  }
  places.push_back(kept);
  std::vector<UOp> fetched = places_of_next_turn(places, inner, outer);
  ASSERT_EQ(fetched.size(), 2u);
  for (UOp& p : fetched) {
    const std::pair<UOp, UOp> at[] = {{lane, number(0)}};
    p = place(halves, substitute(p.src(1), at));
  }
  EXPECT_EQ(lines(fetched, inner, outer, 2), lines(firsts, inner, outer, 3));
}

// Four blocks of 18 bytes a turn are a line and an eighth.
TEST_F(Prefetch, OfOneRowTheLineBehindThoseOfATurnIsFetchedToo) {
  constexpr std::int64_t block = 18, turn_bytes = 4 * block, row_bytes = 64 * turn_bytes;
  const UOp bytes = graph.param(DType::UInt8, 2, 1 << 20);
  const UOp at = outer * number(row_bytes) + inner * number(turn_bytes);
  std::vector<UOp> places{kept}, all;
  for (std::int64_t i = 0; i < turn_bytes; i++) {
    all.push_back(place(bytes, at + number(i)));
    if (i % block <= 2) places.push_back(all.back());  // a scale, and where a vector begins
  }
  const std::vector<UOp> fetched = places_of_next_turn(places, inner, outer);
  EXPECT_EQ(fetched.size(), 2u);
  EXPECT_EQ(lines(fetched, inner, outer, 2), lines(all, inner, outer, 3));
}

TEST_F(Prefetch, OfPackedBlocksEachLineIsFetchedOnceForAllThatIsReadOfIt) {
  constexpr std::int64_t block = 34, row_bytes = 64 * block;  // a scale, and 32 numbers
  const UOp bytes = graph.param(DType::UInt8, 2, 1 << 20);
  std::vector<UOp> places{kept};
  for (std::int64_t row = 0; row < 4; row++) {
    const UOp at = outer * number(4 * row_bytes) + inner * number(block);
    for (std::int64_t part : {0, 1, 2, 18}) {
      places.push_back(place(bytes, at + number(row * row_bytes + part)));
    }
  }
  const std::vector<UOp> fetched = places_of_next_turn(places, inner, outer);
  EXPECT_EQ(fetched.size(), 4u);
  places.erase(places.begin());
  EXPECT_EQ(lines(fetched, inner, outer, 2), lines(places, inner, outer, 3));
}

// Rows of four places of a matrix, three lines of each a turn: of bytes, of which there is as much
// to compute, and of others.
TEST_F(Prefetch, OfPackedRowsFarApartMoreLinesAreFetched) {
  constexpr std::int64_t turn_bytes = 144, row_bytes = 64 * turn_bytes,
                         place_bytes = 32 * row_bytes;
  for (const DType t : {DType::UInt8, DType::Int16}) {
    const std::int64_t size = size_of(t);
    const UOp packed = graph.param(t, 2, 4 * place_bytes / size);
    const UOp at = outer * number(row_bytes / size) + inner * number(turn_bytes / size);
    std::vector<UOp> places{kept};
    for (std::int64_t row = 0; row < 4; row++) {
      for (std::int64_t byte = 0; byte < turn_bytes; byte += 16)
        places.push_back(place(packed, at + number((row * place_bytes + byte) / size)));
    }
    const std::vector<UOp> fetched = places_of_next_turn(places, inner, outer);
    EXPECT_EQ(fetched.size(), t == DType::UInt8 ? 12u : 0u);
    if (fetched.empty()) continue;
    places.erase(places.begin());
    EXPECT_EQ(lines(fetched, inner, outer, 2), lines(places, inner, outer, 3));
  }
}

// A block of 144 bytes begins anywhere in a line: vectors of 32 bytes behind its scales touch all
// lines between, also those in which none begins.  Of scales alone the first line is enough.
TEST_F(Prefetch, OfBlocksThatAreReadWholeEachLineIsFetched) {
  constexpr std::int64_t block = 144;
  const UOp packed = graph.param(DType::UInt8, 2, 1 << 20);
  const UOp at = outer * number(64 * block) + inner * number(block);
  for (const bool is_whole : {true, false}) {
    std::vector<UOp> places{kept, place(packed, at), place(packed, at + number(4))};
    for (std::int64_t byte = 16; is_whole && byte < block; byte += 32)
      places.push_back(place(packed, at + number(byte)));
    const std::vector<UOp> fetched = places_of_next_turn(places, inner, outer);
    ASSERT_EQ(fetched.size(), is_whole ? 3u : 1u);
    for (std::size_t i = 0; i < fetched.size(); i++)
      EXPECT_EQ(apart(fetched[i], places[1]), 64 * block + static_cast<std::int64_t>(i) * 64);
  }
}

// Of each lane another row, of a number that was loaded: there is no vector to fetch.
TEST_F(Prefetch, NothingIsFetchedWhereLanesReadApart) {
  const UOp lane = typed(graph.range(2, 8, LoopKind::Lane));
  const UOp row = graph.load(place(graph.param(DType::Int64, 2, 64), lane));
  const UOp at = (row * number(1024) + outer * number(64)) + inner;
  EXPECT_TRUE(places_of_next_turn(std::vector{kept, place(a, at)}, inner, outer).empty());
  const UOp even = (lane * number(1024) + outer * number(64)) + inner;
  EXPECT_EQ(places_of_next_turn(std::vector{kept, place(a, even)}, inner, outer).size(), 1u);
}

TEST_F(Prefetch, NothingIsFetchedWhereNothingIsUsedAgain) {
  const std::vector<UOp> places{place(a, outer * number(64) + inner),
                                place(b, outer * number(64) + inner)};
  EXPECT_TRUE(places_of_next_turn(places, inner, outer).empty());
}

TEST_F(Prefetch, NothingIsFetchedOfATileNorWhereTheNextPlaceIsNotKnown) {
  const UOp tile = graph.local(DType::Float32, 0, 4096, Space::Thread);
  const UOp loaded = graph.load(place(graph.param(DType::Int64, 2, 64), outer));
  const std::vector<UOp> places{kept, place(tile, outer * number(64) + inner),
                                place(a, loaded * number(64) + inner)};
  EXPECT_TRUE(places_of_next_turn(places, inner, outer).empty());
}

// Four bytes of each of four columns a turn, 256 bytes apart, that fill a tile: those of the next
// four, of which a turn takes one.
TEST_F(Prefetch, ATileFetchesWhatItIsFilledWithNext) {
  const UOp packed = graph.param(DType::UInt8, 2, 1 << 16);
  std::vector<UOp> places;
  for (std::int64_t column = 0; column < 4; column++)
    places.push_back(
        place(packed, (outer * number(4 * 256) + inner * number(4)) + number(column * 256)));
  const std::vector<UOp> fetched = places_of_later_fill(places, inner, {{outer}});
  EXPECT_EQ(fetched.size(), 1u);
  EXPECT_EQ(lines(fetched, inner, outer, 2), lines(places, inner, outer, 3));
}

// In the turns of the outermost loop that leaves what is fetched in a cache until then.
TEST_F(Prefetch, ATileFetchesAsFarAheadAsACacheHolds) {
  const UOp packed = graph.param(DType::UInt8, 2, std::int64_t{1} << 30);
  const UOp far = typed(graph.range(3, 8, LoopKind::Parallel));
  for (const std::int64_t step : {1 << 17, 1 << 19}) {
    const UOp read =
        place(packed, (far * number(step) + outer * number(64 * 64)) + inner * number(64));
    const std::vector<UOp> fetched = places_of_later_fill({{read}}, inner, std::vector{far, outer});
    ASSERT_EQ(fetched.size(), 1u);
    EXPECT_EQ(apart(fetched[0], read), step < 1 << 18 ? step : 64 * 64);
  }
}

// Where the hardware does not see what masks read in order, 2 KiB ahead; not what lies apart, nor
// what the caches hold.
TEST_F(Prefetch, ATileFetchesWhatItReadsInOrderBehindMasks) {
  const UOp picture = graph.param(DType::Float32, 2, 1 << 20),
            small = graph.param(DType::Float32, 3, 1 << 10);
  const UOp lane = typed(graph.range(3, 8, LoopKind::Lane));
  const auto masked = [&](UOp buffer, std::int64_t step) {
    const UOp at = (outer * number(512) + inner * number(step)) + lane;
    return graph.place(buffer, at, graph.alu(Op::Lt, {lane + inner, number(12)}));
  };
  const UOp read = masked(picture, 8);
  const std::vector<UOp> fetched = places_of_next_fill({{read}}, {{inner}}, true);
  ASSERT_EQ(fetched.size(), 1u);
  EXPECT_EQ(apart(fetched[0], read), 2048 / 4);
  EXPECT_TRUE(places_of_next_fill({{read}}, {{inner}}, false).empty());
  EXPECT_TRUE(places_of_next_fill({{masked(picture, 512)}}, {{inner}}, true).empty());
  EXPECT_TRUE(places_of_next_fill({{masked(small, 8)}}, {{inner}}, true).empty());
  const UOp open = place(picture, (outer * number(512) + inner * number(8)) + lane);
  EXPECT_TRUE(places_of_next_fill({{open}}, {{inner}}, true).empty());
}

// Of lanes in four runs of 16 bytes, a row apart each.
TEST_F(Prefetch, LanesInRunsReadALineOfEach) {
  const UOp packed = graph.param(DType::UInt8, 2, 1 << 16);
  const UOp lane = typed(graph.range(3, 64, LoopKind::Lane));
  const UOp run = graph.alu(Op::Shr, {lane, number(4)}),
            in_run = graph.alu(Op::And, {lane, number(15)});
  const UOp read =
      place(packed, ((outer * number(2048) + inner * number(64)) + run * number(512)) + in_run);
  const std::vector<UOp> fetched = places_of_later_fill({{read}}, inner, {{outer}});
  ASSERT_EQ(fetched.size(), 4u);
  for (std::size_t row = 0; row < 4; row++)
    EXPECT_EQ(apart(fetched[row], read), 2048 + static_cast<std::int64_t>(row) * 512);
}

// A fetch is of one place.
TEST_F(Prefetch, LanesAtNoEqualStepsAreLeftOut) {
  const UOp packed = graph.param(DType::UInt8, 2, 1 << 16);
  const UOp lane = typed(graph.range(3, 8, LoopKind::Lane));
  const UOp turned = graph.alu(Op::CMod, {lane * number(3), number(5)});
  const UOp read = place(packed, (outer * number(2048) + inner * number(32)) + turned);
  const std::vector<UOp> fetched = places_of_later_fill({{read}}, inner, {{outer}});
  ASSERT_EQ(fetched.size(), 1u);
  EXPECT_EQ(apart(fetched[0], read), 2048);
  EXPECT_FALSE(fetched[0].src(1).varies_over(lane));
}

TEST_F(Prefetch, ATileFetchesALineOnceAndNothingThatStays) {
  const UOp packed = graph.param(DType::UInt8, 2, 1 << 16);
  const UOp at = outer * number(64 * 64) + inner * number(64);
  const std::vector<UOp> places{place(packed, at), place(packed, at + number(32)), kept};
  EXPECT_EQ(places_of_later_fill(places, inner, {{outer}}).size(), 1u);
  EXPECT_TRUE(places_of_later_fill({{place(a, at)}}, inner, {{outer}}).empty());
}

// Pieces of 1 KiB, of which the last overlaps the one before it: two ahead are 2 KiB.  Within a
// page the hardware foresees them.
TEST_F(Prefetch, ATileFetchesLaterPiecesThatLieInOtherPages) {
  const UOp rows = typed(graph.range(3, 32, LoopKind::Loop));
  const UOp along = graph.alu(Op::Min, {inner * number(4), number(240)});
  const UOp far = place(a, rows * number(1024) + along);
  const std::vector<UOp> fetched = places_of_next_fill({{far}}, std::vector{rows, inner}, false);
  ASSERT_EQ(fetched.size(), 1u);
  EXPECT_EQ(apart(fetched[0], far), 2 * 1024);
  const UOp near = place(a, rows * number(256) + along);
  EXPECT_TRUE(places_of_next_fill({{near}}, std::vector{rows, inner}, false).empty());
}

// Of a table, by numbers that come in order.
class PrefetchOfRows : public Prefetch {
 protected:
  UOp numbers = graph.param(DType::Int64, 2, 32);
  UOp row(UOp at) { return graph.load(place(numbers, at)); }
  UOp entry(UOp row_number) { return place(a, row_number * number(64) + inner * number(16)); }
};

TEST_F(PrefetchOfRows, ALaterRowIsFetchedAsLongAsThereIsOne) {
  const UOp short_inner = typed(graph.range(3, 16, LoopKind::Parallel));
  const UOp read = place(a, row(outer) * number(256) + short_inner * number(16));
  const std::vector<UOp> fetched = places_of_later_rows({{read}}, short_inner, outer);
  ASSERT_EQ(fetched.size(), 1u);
  // Rows of 1 KiB: two of them ahead.
  const UOp later = graph.alu(Op::Min, {outer + number(2), number(31)});
  EXPECT_EQ(fetched[0], place(a, row(later) * number(256) + short_inner * number(16)));
}

// As one that rests where no lane of a row wants it.
TEST_F(PrefetchOfRows, RowsOfALoopThatTurnsAsOftenAsTheirNumberSaysAreNot) {
  const UOp open = graph.make(Op::Range, DType::Int64, {outer}, inner.arg());
  const UOp read = place(a, row(outer) * number(64) + open * number(16));
  EXPECT_TRUE(places_of_later_rows({{read}}, open, outer).empty());
}

// Long ones, as long as all lines of them are read: of others what lies ahead in the row is
// fetched.
TEST_F(PrefetchOfRows, LongRowsAreIfNoLineIsLeftOut) {
  const UOp long_inner = typed(graph.range(3, 256, LoopKind::Parallel));
  const auto fetched = [&](std::int64_t step) {
    const UOp read = place(a, row(outer) * number(1 << 20) + long_inner * number(step));
    return places_of_later_rows({{read}}, long_inner, outer);
  };
  EXPECT_EQ(fetched(16).size(), 1u);
  EXPECT_TRUE(fetched(17).empty());
}

TEST_F(PrefetchOfRows, RowsThatAreKnownWithoutMemoryAreNot) {
  EXPECT_TRUE(places_of_later_rows({{entry(outer)}}, inner, outer).empty());
}

// The number would have to be read before it is clear that there is one.
TEST_F(PrefetchOfRows, NumbersThatVaryWithinTheRowAreNot) {
  EXPECT_TRUE(places_of_later_rows({{entry(row(inner))}}, inner, outer).empty());
  EXPECT_TRUE(places_of_later_rows({{entry(row(row(outer)))}}, inner, outer).empty());
}

// Sixteen lanes, two to a line, each of which has what copies of the code read beside it.
TEST_F(Prefetch, EachLineOfScatteredLanesIsFetchedOnce) {
  const UOp lane = typed(graph.range(2, 16, LoopKind::Lane));
  const UOp first = place(a, outer * number(4096) + lane * number(8));
  const std::vector<UOp> places{first, place(a, first.src(1) + number(1)),
                                place(a, first.src(1) + number(2048))};
  for (UOp p : places) EXPECT_TRUE(is_scattered(p));
  const std::vector<UOp> fetched = lines_of(places);
  ASSERT_EQ(fetched.size(), 16u);
  std::set<std::int64_t> offsets;
  for (UOp p : fetched) offsets.insert(apart(p, first));
  std::set<std::int64_t> expected;
  for (std::int64_t line = 0; line < 8; line++) expected.insert({16 * line, 2048 + 16 * line});
  EXPECT_EQ(offsets, expected);
}

TEST_F(Prefetch, VectorsAndNumbersFromMemoryAreNotScattered) {
  const UOp lane = typed(graph.range(2, 16, LoopKind::Lane));
  EXPECT_FALSE(is_scattered(place(a, outer * number(64) + lane)));
  EXPECT_FALSE(is_scattered(place(a, outer * number(64))));
  const UOp numbers = graph.param(DType::Int64, 3, 64);
  EXPECT_FALSE(is_scattered(place(a, graph.load(place(numbers, lane)) + lane * number(8))));
}

// Of a loop that computes much: 2 KiB ahead, or what the next row has in the same turn.
class PrefetchOfStream : public Prefetch {
 protected:
  static constexpr std::int64_t enough = 16, elements = 1 << 20;

  UOp vector(UOp first) { return place(large, first + lane); }
  // Into this cache, that is.
  std::vector<UOp> fetched(UOp at, UOp around, std::int64_t instructions = enough,
                           std::int64_t cache = 1) {
    std::vector<UOp> places;
    for (const Fetch& fetch : places_of_stream({{at}}, loop, around, instructions)) {
      EXPECT_EQ(fetch.cache, cache);
      places.push_back(fetch.place);
    }
    return places;
  }

  UOp large = graph.param(DType::Float32, 2, elements);
  UOp lane = typed(graph.range(3, 16, LoopKind::Lane));
  UOp loop = typed(graph.range(4, 128, LoopKind::Parallel));
};

TEST_F(PrefetchOfStream, WhatComesInOrderIsFetchedSomeWayAhead) {
  const UOp in_order = vector(loop * number(16));
  EXPECT_EQ(fetched(in_order, UOp()),
            std::vector{place(large, in_order.src(1) + number(2048 / 4))});
  EXPECT_TRUE(fetched(in_order, UOp(), enough - 1).empty());
}

TEST_F(PrefetchOfStream, OfRowsTheNextOneIsFetched) {
  constexpr std::int64_t row = 128 * 16;
  const UOp of_row = vector(outer * number(row) + loop * number(16));
  EXPECT_EQ(fetched(of_row, outer), std::vector{place(large, of_row.src(1) + number(row))});
  const UOp of_far_row = vector(outer * number(2 * row) + loop * number(16));
  EXPECT_EQ(fetched(of_far_row, outer),
            std::vector{place(large, of_far_row.src(1) + number(2048 / 4))});
}

// A row that was read before is in a cache, and memory has time for the next one.
TEST_F(PrefetchOfStream, WhileARowIsReadAgainTheNextOneIsFetched) {
  constexpr std::int64_t row = 128 * 16;
  const UOp of_row = vector(outer * number(row) + loop * number(16));
  EXPECT_TRUE(fetched(of_row, outer, enough - 1).empty());
  const std::vector<Fetch> next = places_of_stream({{of_row}}, loop, outer, 1, true);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].place, place(large, of_row.src(1) + number(row)));
  const UOp in_order = vector(loop * number(16));
  EXPECT_TRUE(places_of_stream({{in_order}}, loop, UOp(), enough - 1, true).empty());
}

// Short rows, one of which a few turns read, or as many side by side as lie in a turn of the loop
// around.
TEST_F(PrefetchOfStream, OfShortRowsALaterOneIsFetched) {
  constexpr std::int64_t row = 128;
  const UOp turns = typed(graph.range(5, row / 16, LoopKind::Reduce));
  const auto later = [&](std::int64_t rows, std::int64_t ahead) {
    std::vector<UOp> read, expected;
    for (std::int64_t i = 0; i < rows; i++) {
      read.push_back(vector(outer * number(rows * row) + turns * number(16) + number(i * row)));
      expected.push_back(place(large, read.back().src(1) + number(ahead)));
    }
    std::vector<UOp> places;
    for (const Fetch& fetch : places_of_stream(read, turns, outer, 1000)) {
      places.push_back(fetch.place);
    }
    EXPECT_EQ(places, expected) << rows;
  };
  later(1, 4 * row);
  later(2, 4 * row);
  later(16, 16 * row);
}

// Sums down columns read some rows a turn, side by side: what lies below is read much later.
TEST_F(PrefetchOfStream, BelowAFewRowsOfColumnsNothingIs) {
  constexpr std::int64_t columns = 1 << 14;
  const UOp turns = typed(graph.range(5, 8, LoopKind::Reduce));
  const UOp read = vector(turns * number(columns) + outer * number(16));
  EXPECT_TRUE(places_of_stream({{read}}, turns, outer, 1000).empty());
}

TEST_F(PrefetchOfStream, OfLongerRowsItGoesToTheSecondCache) {
  for (const std::int64_t vectors : {2, 16, 32}) {
    const std::int64_t row = 128 * 16 * vectors;
    const UOp at = vector(outer * number(row) + loop * number(16 * vectors));
    const bool has_room = row * 4 <= 128 << 10;
    const std::vector<UOp> places = fetched(at, outer, 1000, has_room ? 2 : 1);
    ASSERT_FALSE(places.empty());
    EXPECT_EQ(places[0].src(1) == at.src(1) + number(row), has_room);
  }
}

TEST_F(PrefetchOfStream, DownAColumnAsManyLinesAheadAreFetched) {
  const UOp down = vector(loop * number(4096));
  EXPECT_EQ(fetched(down, UOp()), std::vector{place(large, down.src(1) + number(32 * 4096))});
}

TEST_F(PrefetchOfStream, LinesThatAreLeftOutAreFetchedForLessWork) {
  const UOp apart = vector(loop * number(96));
  EXPECT_EQ(fetched(apart, UOp(), 4), std::vector{place(large, apart.src(1) + number(32 * 96))});
  EXPECT_TRUE(fetched(apart, UOp(), 3).empty());
}

// As a page of a cache of keys.
TEST_F(PrefetchOfStream, ANumberFromMemoryMaySayWhereItLies) {
  const UOp numbers = graph.param(DType::Int64, 4, 256);
  const auto page = [&](UOp number_of_page) {
    const UOp loaded = graph.load(place(numbers, number_of_page));
    return vector(loaded * number(1 << 12) + loop * number(16));
  };
  EXPECT_EQ(fetched(page(outer), UOp()),
            std::vector{place(large, page(outer).src(1) + number(2048 / 4))});
  EXPECT_TRUE(fetched(page(loop), UOp()).empty());
}

TEST_F(PrefetchOfStream, WhatIsSmallOrNoVectorIsNot) {
  const UOp small = place(a, loop * number(16) + lane);
  EXPECT_TRUE(fetched(small, UOp()).empty());
  EXPECT_TRUE(fetched(place(large, loop), UOp()).empty());
  EXPECT_TRUE(fetched(place(large, loop * number(64) + lane * number(4)), UOp()).empty());
}

}  // namespace
}  // namespace croze
