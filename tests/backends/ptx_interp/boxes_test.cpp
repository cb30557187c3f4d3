// boxes_test.cpp -- factors that are copied by boxes to where a unit of four warps reads them: what
// comes out, and what the interpreter finds wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "backends/ptx_interp/run_ptx.h"
#include "backends/ptx_interp/wgmma_product.h"
#include "croze/backends/interp/interp_device.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"

namespace croze::test {
namespace {

constexpr std::string_view begin_of_copy = "cp.async.bulk.tensor.";

WgmmaProduct by_boxes(WgmmaProduct p) {
  p.by_boxes = true;
  return p;
}

// How many buffers are copied by boxes; by the interpreter of PTX and by that of linear programs.
std::size_t expect_product(const WgmmaProduct& p, const LinearProgram& program) {
  SCOPED_TRACE(p.name());
  const std::string text = text_of(program);
  EXPECT_NE(text.find("wgmma.mma_async"), std::string::npos);
  EXPECT_EQ(text.find(begin_of_copy) != std::string::npos, !program.info.boxed.empty());
  const auto ptx = make_ptx_interp_device();
  Numbers numbers(p);
  launch(*ptx, program.info, text, numbers);
  EXPECT_EQ(numbers.wrong_number(), "");

  const auto interp = make_interp_device(caps_of(p));
  Numbers again(p);
  fuzz::launch_program(*interp, *fuzz::compile_program(*interp, program), again.buffers());
  EXPECT_EQ(again.wrong_number(), "");
  return program.info.boxed.size();
}

std::size_t expect_product(const WgmmaProduct& product) {
  const WgmmaProduct p = by_boxes(product);
  Graph graph;
  return expect_product(p, make_program(kernel_of(graph, p), caps_of(p)));
}

TEST(Boxes, FillWhatAllUnitsRead) {
  for (const MatrixUnit* unit : units_of_extension("wgmma")) {
    if (unit->columns != 64) continue;
    const bool of_a = unit->name.find(".m") != std::string_view::npos,
               of_b = unit->name.find("k.n") != std::string_view::npos;
    EXPECT_EQ(expect_product({unit->name, 64, 2 * unit->depth, 64, 1, of_a, of_b}), 2u)
        << unit->name;
  }
}

TEST(Boxes, AreOf128BytesByAllLines) {
  EXPECT_EQ(expect_product({"wgmma.bf16.kn.n128", 128, 256, 128}), 2u);
  EXPECT_EQ(expect_product({"wgmma.f16.kk.n256", 64, 192, 256, 1, false, true}), 2u);
  EXPECT_EQ(expect_product({"wgmma.bf16.mn.n256", 64, 192, 256, 1, true, false}), 2u);
  EXPECT_EQ(expect_product({"wgmma.e4m3e4m3.kk.n128", 64, 256, 128, 1, false, true}), 2u);
}

// What is beyond an edge comes as zeros.
TEST(Boxes, SizesNeedNotDivide) {
  EXPECT_EQ(expect_product({"wgmma.bf16.kn.n64", 50, 200, 72}), 2u);
  EXPECT_EQ(expect_product({"wgmma.bf16.kk.n64", 70, 136, 41, 1, false, true}), 2u);
  EXPECT_EQ(expect_product({"wgmma.f16.mn.n64", 104, 129, 136, 1, true, false}), 2u);
  EXPECT_EQ(expect_product({"wgmma.u8s8.kk.n64", 50, 208, 70, 1, false, true}), 2u);
}

// The processor wants multiples of 16 bytes from row to row: other rows are copied by items.
TEST(Boxes, RowsBeginAtMultiplesOf16Bytes) {
  EXPECT_EQ(expect_product({"wgmma.bf16.kn.n64", 65, 75, 72}), 1u);
  EXPECT_EQ(expect_product({"wgmma.bf16.kn.n64", 65, 75, 41}), 0u);
}

TEST(Boxes, OfManyProductsHaveAnAxisMore) {
  EXPECT_EQ(expect_product({"wgmma.bf16.kn.n64", 70, 128, 64, 3}), 2u);
  EXPECT_EQ(expect_product({"wgmma.bf16.kn.n64", 64, 256, 64, 2, false, false, true}), 2u);
  EXPECT_EQ(expect_product({"wgmma.bf16.kn.n64", 70, 200, 72, 3}), 2u);
}

// ---- slots ----

// One tile of each factor, filled so many turns ahead; 1: in the turn itself.
LinearProgram with_slots(Graph& graph, const WgmmaProduct& p, const Caps& caps,
                         std::int64_t slots) {
  return make_program(kernel_of(graph, p), caps, [&](KernelState& k) {
    const auto loop = [&](std::int64_t id) { return Legality(k).range(id); };
    const SplitRange terms = split(k, pad(k, loop(3), p.of().depth), p.of().depth);
    contract(k, loop(1), loop(2), terms.inner, 1);
    if (slots > 1) {
      EXPECT_TRUE(try_fill_ahead(k, terms.outer, slots));
    }
  });
}

TEST(Boxes, AreOnTheirWayForAsManyTurnsAsThereAreSlots) {
  for (const std::int64_t inner : {320, 300, 192}) {
    for (const std::int64_t slots : {1, 2, 3, 4}) {
      if ((inner + 63) / 64 < slots) continue;
      const WgmmaProduct p = by_boxes({"wgmma.bf16.kk.n64", 64, inner / 8 * 8, 64, 1, false, true});
      SCOPED_TRACE(fmt::format("{} of {}", slots, inner));
      Graph graph;
      const Caps caps = caps_of(p);
      const LinearProgram program = with_slots(graph, p, caps, slots);
      EXPECT_EQ(expect_product(p, program), 2u);
      const auto leaves = [&](std::int64_t batches) {
        return std::ranges::any_of(program.instructions, [&](UOp u) {
          return u.is(Op::Barrier) && awaits_copies(u) && u.arg().value == batches;
        });
      };
      EXPECT_TRUE(leaves(0) || slots == 4);
      EXPECT_EQ(leaves(1), slots == 4);
    }
  }
}

// One factor by boxes and the other by items, which begin copies as well.
TEST(Boxes, StandBesideCopiesOfItems) {
  const WgmmaProduct p = by_boxes({"wgmma.bf16.kn.n64", 64, 316, 64});
  for (const std::int64_t slots : {1, 2, 4}) {
    Graph graph;
    const Caps caps = caps_of(p);
    const LinearProgram program = with_slots(graph, p, caps, slots);
    EXPECT_EQ(expect_product(p, program), 1u) << slots;
  }
}

// ---- views ----

// The product of factors that begin so many elements behind the start of their memory, or of their
// buffers.
std::string wrong_number_of_views(const WgmmaProduct& p, std::int64_t begin) {
  Graph graph;
  const LinearProgram program = make_program(kernel_of(graph, p), caps_of(p));
  EXPECT_EQ(program.info.boxed.size(), 2u);
  const auto device = make_ptx_interp_device();
  const auto loaded =
      device->load(program.info, device->compile(program.info.name, text_of(program)));
  Numbers numbers(p);
  std::vector<MemoryView> views;
  for (std::span<std::byte> bytes : numbers.buffers()) {
    const std::int64_t before = views.empty() ? 0 : begin * size_of(p.of().a);
    const Memory memory = device->allocate(std::ssize(bytes) + before);
    device->copy_in({memory, before, std::ssize(bytes)}, bytes);
    const bool is_known = p.before > 0;  // when the kernel is compiled
    views.push_back(is_known ? MemoryView::all_of(memory)
                             : MemoryView{memory, before, std::ssize(bytes)});
  }
  loaded->launch(views, {});
  device->copy_out(numbers.buffers()[0], views[0]);
  for (const MemoryView& view : views) device->release(view.memory);
  return numbers.wrong_number();
}

TEST(Boxes, AreOfViewsThatBeginAnywhere) {
  for (const std::int64_t begin : {1, 7, 8, 13}) {
    WgmmaProduct p = by_boxes({"wgmma.bf16.kn.n64", 70, 136, 72});
    EXPECT_EQ(wrong_number_of_views(p, begin), "") << begin;
    p.before = begin + 3 * 136;
    EXPECT_EQ(wrong_number_of_views(p, p.before), "") << begin;
  }
}

// ---- one box, by hand ----

constexpr std::int64_t hand_rows = 8, hand_columns = 64, hand_words = hand_rows * hand_columns / 2;

// A box of rows of 64 numbers of two bytes at a place of a matrix of 6 rows of 72, which the first
// of two items begins and the other one stores as it lies in the tile.  `before` stands in front of
// the copy, `between` behind its phase.
std::string hand_text(std::int64_t row, std::int64_t column, std::string_view before = "",
                      std::string_view between = "bar.sync 0;") {
  std::string stores;
  for (std::int64_t k = 0; k < hand_words; k++) {
    stores += fmt::format(
        "@%p1 ld.shared.u32 %r5, [%d3+{0}];\n@%p1 st.global.u32 [%d0+{0}], %r5;\n", 4 * k);
  }
  return fmt::format(
      ".version 8.4 .target sm_90a .address_size 64\n"
      ".visible .entry croze_hand(.param .u64 buffer0, .param .u64 buffer1,\n"
      "  .param .align 64 .b8 map0[128], .param .s64 shift0) .reqntid 2, 1, 1 {{\n"
      ".shared .align 1024 .b8 tile[1024]; .shared .align 8 .b8 batches[8];\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
      "ld.param.u64 %d0, [buffer0]; mov.u32 %r0, %tid.x;\n"
      "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 1;\n"
      "mov.u64 %d1, map0; cvta.param.u64 %d2, %d1; ld.param.s64 %d5, [shift0];\n"
      "mov.u64 %d3, tile; mov.u64 %d4, batches; cvt.s32.s64 %r3, %d5; add.s32 %r3, %r3, {1};\n"
      "mov.u32 %r4, {0};\n"
      "@%p0 mbarrier.init.shared::cta.b64 [%d4], 1;\n"
      "@%p0 fence.mbarrier_init.release.cluster;\n"
      "bar.sync 0;\n"
      "{2}\n"
      "@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%d4], 1024;\n"
      "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%d3], [%d2, {{%r3, %r4}}], [%d4];\n"
      "@%p0 mbarrier.arrive.shared::cta.b64 _, [%d4];\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%d4], 0;\n"
      "{3}\n{4}ret;\n}}\n",
      row, column, before, between, stores);
}

// The tile; `matrix` begins so many elements behind a place that is aligned.
std::vector<std::uint16_t> run_by_hand(const std::string& text,
                                       const std::vector<std::uint16_t>& matrix,
                                       std::int64_t begin = 0) {
  ProgramInfo info;
  info.name = "hand";
  info.num_buffers = 2;
  info.launch.items[0] = 2;
  info.boxed = {{.slot = 1,
                 .dtype = DType::UInt16,
                 .sizes = {72, 6},
                 .strides = {1, 72},
                 .box = {hand_columns, hand_rows}}};
  const auto device = make_ptx_interp_device();
  const auto program = device->load(info, device->compile("hand", text));
  std::vector<std::uint16_t> tile(2 * hand_words);
  const std::int64_t bytes = 2 * std::ssize(matrix);
  const Memory to = device->allocate(4 * hand_words), from = device->allocate(bytes + 2 * begin);
  const MemoryView views[] = {MemoryView::all_of(to), {from, 2 * begin, bytes}};
  device->copy_in(views[1], std::as_bytes(std::span(matrix)));
  const auto release = [&] {
    for (Memory m : {to, from}) device->release(m);
  };
  try {
    program->launch(views, {});
  } catch (...) {
    release();
    throw;
  }
  device->copy_out(std::as_writable_bytes(std::span(tile)), views[0]);
  release();
  return tile;
}

std::vector<std::uint16_t> counted(std::int64_t count) {
  std::vector<std::uint16_t> numbers;
  for (std::int64_t k = 0; k < count; k++) numbers.push_back(static_cast<std::uint16_t>(k + 1));
  return numbers;
}

// The piece of 8 numbers that stands in column 8 p of row r is the one of p with the bits of r
// flipped.
TEST(BoxByHand, LiesInFlippedPiecesWithZerosOutside) {
  const std::vector<std::uint16_t> matrix = counted(6 * 72);
  const std::array<std::int64_t, 3> cases[] = {{0, 0, 0}, {2, 16, 0}, {1, 3, 5}};
  for (const auto& [row, column, begin] : cases) {
    const auto tile = run_by_hand(hand_text(row, column), matrix, begin);
    for (std::int64_t r = 0; r < hand_rows; r++) {
      for (std::int64_t c = 0; c < hand_columns; c++) {
        const bool is_there = row + r < 6 && column + c < 72;
        const auto expected = is_there ? (row + r) * 72 + column + c + 1 : 0;
        const std::int64_t place = r * hand_columns + ((c / 8) ^ r) * 8 + c % 8;
        ASSERT_EQ(tile[static_cast<std::size_t>(place)], expected) << r << ", " << c;
      }
    }
  }
}

TEST(BoxByHand, RacesAreFound) {
  const std::vector<std::uint16_t> matrix = counted(6 * 72);
  const auto said = [&](std::string_view before, std::string_view between) {
    return message_of([&] { run_by_hand(hand_text(0, 0, before, between), matrix); });
  };
  const std::string_view written = "@%p0 st.shared.u32 [%d3], %r0;";
  EXPECT_NE(said("", "").find("race: item 1 reads"), std::string::npos);
  EXPECT_NE(said(written, "bar.sync 0;").find("no fence has shown who wrote"), std::string::npos);
  EXPECT_EQ(said("@%p0 st.shared.u32 [%d3], %r0; fence.proxy.async.shared::cta;", "bar.sync 0;"),
            "no error");
  EXPECT_NE(said("@%p1 st.shared.u32 [%d3], %r0; fence.proxy.async.shared::cta;", "bar.sync 0;")
                .find("race: item 1 writes byte 2"),
            std::string::npos);
}

// ---- what is found wrong ----

// What the interpreter says of a right kernel whose lines with `part` have `to` in place of `from`.
std::string fault_with(std::string_view part, std::string_view from, std::string_view to,
                       std::int64_t slots) {
  const WgmmaProduct p = by_boxes({"wgmma.bf16.kn.n64", 64, 512, 64});
  Graph graph;
  const Caps caps = caps_of(p);
  const LinearProgram program = with_slots(graph, p, caps, slots);
  std::istringstream lines(text_of(program));
  std::string text;
  int found = 0;
  for (std::string line; std::getline(lines, line); text += line + "\n") {
    const std::size_t at = line.find(part) == std::string::npos ? line.npos : line.find(from);
    if (at == line.npos) continue;
    line.replace(at, from.size(), to);
    found++;
  }
  EXPECT_GT(found, 0) << part;
  const auto device = make_ptx_interp_device();
  Numbers numbers(p);
  const std::string fault = message_of([&] { launch(*device, program.info, text, numbers); });
  return fault == "no error" && !numbers.wrong_number().empty() ? "wrong numbers" : fault;
}

void expect_fault(std::string_view part, std::string_view from, std::string_view to,
                  std::string_view wrong, std::int64_t slots = 4) {
  const std::string fault = fault_with(part, from, to, slots);
  EXPECT_NE(fault.find(wrong), std::string::npos)
      << part << ": " << from << " -> " << to << ": " << fault;
}

TEST(BoxFaults, BytesAreExpected) {
  expect_fault("expect_tx", ", 8192;", ", 8176;", "32704 bytes are awaited, of which 32768 come");
}

TEST(BoxFaults, BarriersAreMadeReadyAndShown) {
  expect_fault("mbarrier.init", ", 1;", ", 2;", "in which nobody has arrived");
  expect_fault("mbarrier.init", "mbarrier.init", "mbarrier.expect_tx.relaxed.cta",
               "there is no barrier");
  expect_fault("fence.mbarrier_init", "fence.mbarrier_init.release.cluster",
               "fence.proxy.async.shared::cta", "no fence has shown that the barrier is ready");
}

TEST(BoxFaults, WhoIssuesArrives) {
  expect_fault("mbarrier.arrive", "mbarrier.arrive.shared::cta.b64 _, ", "prefetch.global.L1 ",
               "nobody has arrived");
}

// A turn passes by without waiting, or waits for a phase to come.
TEST(BoxFaults, CopiesAreAwaited) {
  expect_fault("setp.ge.u32", "setp.ge", "setp.ne", "before its copy is waited for", 1);
  expect_fault("setp.ge.u32", "setp.ge", "setp.ne", "the phase of the barrier may be over");
  expect_fault("shr.u32", ", 1;", ", 0;", "the phase of the barrier may be over");
}

TEST(BoxFaults, ProductsAreAwaited) {
  expect_fault("wgmma.wait_group", "wait_group.sync.aligned 1;", "wait_group.sync.aligned 2;",
               "while a unit reads it");
}

}  // namespace
}  // namespace croze::test
