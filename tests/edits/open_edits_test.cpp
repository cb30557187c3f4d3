// What each edit makes of loops that turn as often as a launch says, what it refuses, and that none
// changes what a kernel computes, at any size.
#include <algorithm>

#include "croze/base/error.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/enumerate.h"
#include "croze/codegen/edits/legality.h"
#include "croze/codegen/edits/transform.h"
#include "croze/graph/text/print.h"
#include "croze/run/devices.h"
#include "edits/open_support.h"
#include "support/errors.h"
#include "support/schedule_runner.h"

namespace croze {
namespace {

using namespace test;

constexpr SizeBounds open{0, 12};

std::vector<SizeBounds> all_open(const OpenForm& form) {
  return std::vector<SizeBounds>(static_cast<std::size_t>(form.sizes), open);
}

// A kernel under edit, and questions about it.
struct Edited {
  Edited(const char* form, std::vector<SizeBounds> bounds, const Caps& machine, const char* edits)
      : caps(machine), kernel(open_kernel(open_form(form), bounds)), state(kernel.sink, caps) {
    apply_all(state, parse_edits(edits));
  }

  UOp range(std::int64_t id) const { return Legality(state).range(id); }
  std::string trip(std::int64_t id) const { return to_string(range(id).trip_count()); }
  std::string why_not(const char* edit) const { return refusal(state, parse_edits(edit)[0]); }

  Caps caps;
  OpenKernel kernel;
  KernelState state;
};

// Runs the kernel under these edits at every size.
void expect_right(const char* name, const std::vector<SizeBounds>& bounds, const Caps& caps,
                  const char* edits) {
  const std::unique_ptr<Device> device = make_interpreter(caps);
  const std::vector<Edit> list = parse_edits(edits);
  OpenProgram program(*device, open_form(name), bounds,
                      [&](KernelState& k) { apply_all(k, list); });
  for (const auto& sizes : points(bounds, std::vector<std::int64_t>{0, 1, 3, 4, 7, 8, 11, 12})) {
    program.expect_right_at(sizes, edits);
  }
}

TEST(OpenLoops, ArePaddedToWholeTilesAndSplit) {
  const Edited e("map", {open}, cpu_shaped_caps(), "pad r0 by 4; split r1 by 4");
  EXPECT_EQ(e.trip(2), "((v0 + 3) / 4)");
  EXPECT_EQ(e.range(2).range_size(), 3);
  EXPECT_FALSE(e.range(3).is_open());
  EXPECT_EQ(e.range(3).range_size(), 4);
  expect_right("map", {open}, cpu_shaped_caps(), "pad r0 by 4; split r1 by 4; bind r3 lane");
}

TEST(OpenLoops, AreSplitByWhatDividesThemOnly) {
  const Edited e("map", {open}, cpu_shaped_caps(), "");
  EXPECT_EQ(e.why_not("split r0 by 2"), "a loop of a multiple of 1 cannot be split by 2");
  const Edited padded("map", {open}, cpu_shaped_caps(), "pad r0 by 4");
  EXPECT_EQ(padded.why_not("split r1 by 2"), "");
  EXPECT_EQ(padded.why_not("split r1 by 8"), "a loop of a multiple of 4 cannot be split by 8");
  EXPECT_EQ(padded.why_not("pad r1 by 2"), "the size is such a multiple already");
}

TEST(OpenLoops, ThatTurnInMultiplesNeedNoGate) {
  const Caps caps = cpu_shaped_caps();
  Graph g;
  const UOp n = g.variable(0, 0, 4) * 8, i = g.range(0, n, LoopKind::Parallel);
  const UOp x = g.load(g.place(g.param(DType::Int32, 1, 32, n), i));
  const UOp store = g.store(g.place(g.param(DType::Int32, 0, 32, n), i), x, std::span(&i, 1));
  KernelState k(g.sink(std::span(&store, 1)), caps);
  EXPECT_EQ(pad(k, i, 8), i);
  const SplitRange parts = split(k, i, 8);
  EXPECT_EQ(to_string(parts.outer.trip_count()), "v0");
  EXPECT_EQ(k.sink.src(0).src(0).num_src(), 2);
}

TEST(OpenLoops, RunAsTasksAndGroupsOnly) {
  const Edited cpu("map", {open}, cpu_shaped_caps(), "");
  for (const char* edit : {"bind r0 lane", "bind r0 unroll"}) {
    EXPECT_EQ(cpu.why_not(edit), "how often loop r0 turns is known at launch only");
  }
  EXPECT_EQ(cpu.why_not("bind r0 thread"), "");
  const Edited gpu("map", {open}, gpu_shaped_caps(), "");
  EXPECT_EQ(gpu.why_not("bind r0 item"), "how often loop r0 turns is known at launch only");
  EXPECT_EQ(gpu.why_not("bind r0 group"), "");
  expect_right("map", {open}, cpu_shaped_caps(), "bind r0 thread");
  expect_right("transpose", {open, open}, gpu_shaped_caps(), "bind r0 group; bind r1 group");
}

TEST(OpenLoops, BecomeOneLoopOfTheProduct) {
  const Edited e("flat", {open, open}, scalar_caps(), "merge r0 r1");
  EXPECT_EQ(e.trip(2), "(v1 * v0)");
  EXPECT_EQ(e.range(2).range_size(), 144);
  EXPECT_EQ(to_string(e.state.sink.src(0).src(0).src(1)), "r2");
  expect_right("flat", {open, open}, scalar_caps(), "merge r0 r1");
  expect_right("transpose", {open, open}, scalar_caps(), "merge r0 r1");
  expect_right("sums", {{6, 6}, open}, scalar_caps(), "split r0 by 3; merge r2 r3");
}

TEST(OpenLoops, OfReductionsHavePartialResults) {
  expect_right("sums", {open, open}, cpu_shaped_caps(),
               "pad r1 by 4; split_reduction r2 by 4; bind r4 lane");
  expect_right("maxima", {open, open}, cpu_shaped_caps(),
               "pad r0 by 4; split_reduction r2 by 4; bind r4 unroll");
}

TEST(OpenLoops, ShareOneLoopWhereTheyTurnAlike) {
  const Edited e("product", {open, open, open}, cpu_shaped_caps(), "");
  EXPECT_EQ(e.why_not("share r2 r1"), "the loops have other sizes");
  const Edited rows("centred", {open, open}, cpu_shaped_caps(), "");
  EXPECT_EQ(rows.why_not("share r2 r3"), "the reductions do not stand in the same place");
}

TEST(OpenLoops, AreReducedInOnePassWhereTheyAreNotEmpty) {
  const std::vector<SizeBounds> bounds{open, {4, 12}};
  const Edited e("position", bounds, cpu_shaped_caps(), "");
  EXPECT_EQ(e.why_not("one_pass r1 r2 by 1"), "");
  EXPECT_EQ(e.why_not("one_pass r1 r2 by 2"),
            "a loop of a multiple of 1 cannot be cut in blocks of 2");
  expect_right("position", bounds, cpu_shaped_caps(), "one_pass r1 r2 by 1");
  const Edited empty("position", {open, open}, cpu_shaped_caps(), "");
  EXPECT_EQ(empty.why_not("one_pass r1 r2 by 1"), "the loops may not turn at all");
}

TEST(OpenLoops, KeepWhatTheyComputeAlikeInTilesForTheMost) {
  const Edited e("centred", {open, open}, cpu_shaped_caps(), "keep r3 r1 by 8");
  const std::string text = print_graph(e.state.sink);
  EXPECT_NE(text.find("local int32 [0, 16, 0]"), std::string::npos) << text;
  expect_right("centred", {open, open}, cpu_shaped_caps(), "keep r3 r1 by 8");
  expect_right("centred", {open, open}, cpu_shaped_caps(), "keep r3 r1 by 1");
}

TEST(OpenLoops, AreStagedInTilesForTheMost) {
  const std::vector<SizeBounds> three(3, open);
  for (const char* edits :
       {"stage load 0 over r2 in thread by 1", "stage load 0 over r2 in thread by 8",
        "stage load 1 over r2 r1 in thread by 16", "stage load 1 over r1 r2 in thread by 8",
        "pad r1 by 4; split r3 by 4; stage load 1 over r2 r5 in thread by 4",
        "pad r2 by 4; split r3 by 4; stage load 1 over r5 r1 in thread by 1"}) {
    expect_right("product", three, cpu_shaped_caps(), edits);
  }
  expect_right("product", three, gpu_shaped_caps(),
               "pad r1 by 4; split r3 by 4; bind r5 item; stage load 1 over r2 r5 in group by 1");
  expect_right("window", {open}, cpu_shaped_caps(), "stage load 0 over r0 r1 in thread by 8");
}

TEST(OpenLoops, GoThroughListsOfEdits) {
  const char* text = "pad r0 by 4; split r1 by 4; bind r3 lane; bind r2 thread";
  const Edited e("map", {open}, cpu_shaped_caps(), text);
  EXPECT_EQ(to_text(e.state.applied), text);
}

// ---- everything -------------------------------------------------------------------------------

// The edits that the kernel takes after these.
std::vector<Edit> next_edits(const OpenForm& form, const Caps& caps, std::span<const Edit> edits) {
  std::vector<Edit> result;
  const OpenKernel kernel = open_kernel(form, all_open(form));
  make_program(kernel.sink, caps, [&](KernelState& k) {
    apply_all(k, edits);
    result = enumerate_edits(k);
  });
  return result;
}

void expect_right(Device& device, const OpenForm& form, std::span<const Edit> edits,
                  std::span<const std::int64_t> values) {
  auto replay = [&](KernelState& k) { apply_all(k, edits); };
  OpenProgram program(device, form, all_open(form), replay);
  for (const auto& sizes : points(all_open(form), values)) {
    program.expect_right_at(sizes, to_text(edits));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(OpenLoops, EveryEditLeavesWhatEachKernelComputes) {
  for (auto caps : {scalar_caps, cpu_shaped_caps, gpu_shaped_caps}) {
    const std::unique_ptr<Device> device = make_interpreter(caps());
    for (const OpenForm& form : open_forms()) {
      for (const Edit& edit : next_edits(form, device->caps(), {})) {
        expect_right(*device, form, {&edit, 1}, std::vector<std::int64_t>{0, 1, 5, 8, 12});
        if (HasFailure()) return;
      }
    }
  }
}

// Of the pairs of edits of a kernel, so many, spread over all of them.
constexpr std::size_t one_pair_in = 7;

TEST(OpenLoops, PairsOfEditsLeaveWhatEachKernelComputes) {
  std::size_t pairs = 0;
  for (auto caps : {cpu_shaped_caps, gpu_shaped_caps}) {
    const std::unique_ptr<Device> device = make_interpreter(caps());
    for (const OpenForm& form : open_forms()) {
      for (const Edit& first : next_edits(form, device->caps(), {})) {
        for (const Edit& second : next_edits(form, device->caps(), {&first, 1})) {
          if (pairs++ % one_pair_in != 0) continue;
          const Edit both[] = {first, second};
          expect_right(*device, form, both, std::vector<std::int64_t>{0, 3, 12});
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(OpenLoops, ReplayOfTheChosenEditsMakesTheSameProgram) {
  for (auto caps : {scalar_caps, cpu_shaped_caps, gpu_shaped_caps}) {
    const Caps machine = caps();
    for (const OpenForm& form : open_forms()) {
      const OpenKernel owner = open_kernel(form, all_open(form));
      std::string text;
      const std::string chosen =
          print_program(make_program(owner.sink, machine, [&](KernelState& k) {
            choose_edits(k);
            text = to_text(k.applied);
          }));
      const std::vector<Edit> edits = parse_edits(text);
      EXPECT_EQ(print_program(make_program(owner.sink, machine,
                                           [&](KernelState& k) { apply_all(k, edits); })),
                chosen)
          << form.name << ": " << text;
    }
  }
}

}  // namespace
}  // namespace croze
