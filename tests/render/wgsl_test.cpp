// wgsl_test.cpp -- the text of WGSL modules.
#include "croze/render/wgsl/wgsl.h"

#include <gtest/gtest.h>

#include <string>

#include "croze/base/error.h"
#include "croze/render/wgsl/memory_head.h"
#include "support/programs.h"

namespace croze::test {
namespace {

using wgsl::Slot;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string render(const LinearProgram& program) { return WgslRenderer().render(program); }

// y[i] = x[i] + 1 for sixteen elements.
LinearProgram increment(DType t) {
  ProgramBuilder b("increment");
  const UOp x = b.param(t, 16), y = b.param(t, 16);
  const UOp i = b.begin_loop(16);
  b.store(y, i, b.load(x, i) + b.graph().constant(t, 1.0));
  b.end_loop(i);
  return b.finish();
}

TEST(WgslRenderer, AModuleHasAnEntryAndBindsEachBuffer) {
  const std::string text = render(increment(DType::Int32));
  EXPECT_TRUE(text.starts_with("// slots: 0 1\n")) << text;
  EXPECT_TRUE(contains(text, "@binding(1) var<storage, read_write> m0: array<u32>;")) << text;
  EXPECT_TRUE(contains(text, "@binding(2) var<storage, read_write> m1: array<u32>;")) << text;
  EXPECT_TRUE(contains(text, "@compute @workgroup_size(1, 1, 1)\nfn croze_increment(")) << text;
  EXPECT_TRUE(contains(text, "for (var t0: i32 = i32(0); t0 < 16i; t0++) {")) << text;
}

// A loop's variable must not hide i32.
TEST(WgslRenderer, ManyLoopsHaveNamesOfTheirOwn) {
  ProgramBuilder b("loops");
  const UOp x = b.param(DType::Int32, 16);
  for (int loop = 0; loop < 40; loop++) {
    const UOp i = b.begin_loop(16);
    b.store(x, i, b.load(x, i) + 1);
    b.end_loop(i);
  }
  const std::string text = render(b.finish());
  EXPECT_TRUE(contains(text, "for (var t39: i32 = ")) << text;
  EXPECT_FALSE(contains(text, "var i32")) << text;
}

TEST(WgslRenderer, WhatTurnsOnceAtMostIsABranch) {
  ProgramBuilder b("jump");
  const UOp y = b.param(DType::Int32, 8), n = b.variable(0, 1, DType::Int32);
  const UOp jump = b.begin_loop(n);
  b.store(y, jump, b.graph().constant(DType::Int32, std::int64_t{1}));
  b.end_loop(jump);
  const std::string text = render(b.finish());
  EXPECT_TRUE(contains(text, "if (n0 > 0) {")) << text;
  EXPECT_FALSE(contains(text, "for (")) << text;
}

TEST(WgslRenderer, NarrowElementsAreWrittenByAtomicOperationsOnTheirBits) {
  const std::string text = render(increment(DType::Int8));
  EXPECT_TRUE(text.starts_with("// slots: 0p 1w\n")) << text;
  EXPECT_TRUE(contains(text, "m0: array<u32>;")) << text;
  EXPECT_TRUE(contains(text, "m1: array<atomic<u32>>;")) << text;
  EXPECT_TRUE(contains(text, "set1_8(")) << text;
  EXPECT_TRUE(contains(text, "extractBits(")) << text;
}

TEST(WgslRenderer, NoCompilerSeesAFloatConstantButZero) {
  const std::string text = render(increment(DType::Float32));
  EXPECT_TRUE(contains(text, "let c0 = constant(0x3f800000u);")) << text;
  EXPECT_FALSE(contains(text, "1.0f;")) << text;
}

TEST(WgslRenderer, ItemsOfAGroupShareArraysAndMeet) {
  ProgramBuilder b("shared");
  const UOp x = b.param(DType::Float32, 16);
  const UOp tile = b.local(DType::Float32, 16, Space::Group);
  const UOp item = b.special(0, 16, LoopKind::Item);
  const UOp stored = b.store(tile, item, b.load(x, item));
  const UOp met = b.barrier();
  b.store(x, item, b.load(tile, -item + 15, {}, {stored, met}));
  const std::string text = render(b.finish());
  EXPECT_TRUE(contains(text, "var<workgroup> l0: array<f32, 16>;")) << text;
  EXPECT_TRUE(contains(text, "workgroupBarrier();")) << text;
  EXPECT_TRUE(contains(text, "@workgroup_size(16, 1, 1)")) << text;
}

TEST(WgslRenderer, WhatTheLanguageLacksIsAnInternalErrorThatNamesIt) {
  try {
    render(increment(DType::Float64));
    FAIL() << "no error";
  } catch (const InternalError& e) {
    EXPECT_TRUE(contains(e.message(), "float64")) << e.message();
  }
}

TEST(WgslMemory, SlotsThatShareMemoryAreBoundOnceAndAtomicIfOneIs) {
  const Slot slots[] = {{.number = 0}, {.number = 2, .is_packed = true, .stores_packed = true}};
  const int apart[] = {0, 1}, together[] = {0, 0};
  const std::string two = wgsl::memory_head(slots, apart);
  EXPECT_TRUE(contains(two, "m0: array<u32>;") && contains(two, "m1: array<atomic<u32>>;")) << two;
  const std::string one = wgsl::memory_head(slots, together);
  EXPECT_TRUE(contains(one, "m0: array<atomic<u32>>;")) << one;
  EXPECT_FALSE(contains(one, "m1")) << one;
  EXPECT_TRUE(contains(one, "fn get0(i: i32) -> u32 { return atomicLoad(&m0[i]); }")) << one;
}

TEST(WgslMemory, ModulesAreTakenApartAgain) {
  const Slot slots[] = {{.number = 0},
                        {.number = 3, .is_packed = true},
                        {.number = 12, .is_packed = true, .stores_packed = true}};
  const wgsl::Module module = wgsl::parse_module(wgsl::module_text(slots, "the rest\n"));
  EXPECT_TRUE(std::ranges::equal(module.slots, slots));
  EXPECT_EQ(module.rest, "the rest\n");
  EXPECT_THROW(wgsl::parse_module("fn main() {}"), Error);
  EXPECT_THROW(wgsl::parse_module("// slots: x\n// kernel\n"), Error);
}

}  // namespace
}  // namespace croze::test
