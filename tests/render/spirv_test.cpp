// spirv_test.cpp -- modules of SPIR-V: their instructions, and what spirv-val says of them.  What
// they compute is tested on devices.
#include "croze/render/spirv/spirv.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <vector>

#include "croze/base/error.h"
#include "croze/render/spirv/codes.h"
#include "croze/render/spirv/module.h"
#include "support/programs.h"

namespace croze::test {
namespace {

using spirv::Code;

constexpr FloatControls all_controls{true, true, true};
const SpirvTarget full{.bytes = true,
                       .halfwords = true,
                       .int64 = true,
                       .float64 = true,
                       .float16 = true,
                       .float_controls = {all_controls, all_controls, all_controls}};
const SpirvTarget least{.float_controls = {{}, {.keeps_special = true}, {}}};

// ---- reading modules ----

struct Instruction {
  Code code;
  std::vector<std::uint32_t> operands;
};

std::vector<std::uint32_t> words_of(const std::string& module) {
  std::vector<std::uint32_t> words(module.size() / 4);
  std::memcpy(words.data(), module.data(), words.size() * 4);
  return words;
}

std::vector<Instruction> instructions_of(const std::string& module) {
  const std::vector<std::uint32_t> words = words_of(module);
  std::vector<Instruction> instructions;
  for (std::size_t at = 5; at < words.size();) {
    const std::size_t size = words[at] >> 16;
    if (size == 0 || at + size > words.size()) throw std::out_of_range("no instruction");
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
    instructions.push_back({static_cast<Code>(words[at] & 0xffff),
                            {begin + 1, begin + static_cast<std::ptrdiff_t>(size)}});
    at += size;
  }
  return instructions;
}

std::int64_t count(const std::string& module, Code code) {
  std::int64_t found = 0;
  for (const Instruction& i : instructions_of(module)) found += i.code == code;
  return found;
}

// Whether there is such an instruction with this as operand `place`.
template <typename Enum>
bool has(const std::string& module, Code code, std::size_t place, Enum value) {
  for (const Instruction& i : instructions_of(module)) {
    if (i.code == code && i.operands[place] == static_cast<std::uint32_t>(value)) return true;
  }
  return false;
}

// ---- programs ----

// y[i] = x[i] + 1 for sixteen elements.
LinearProgram increment(DType t) {
  ProgramBuilder b("increment");
  const UOp x = b.param(t, 16), y = b.param(t, 16);
  const UOp i = b.begin_loop(16);
  b.store(y, i, b.load(x, i) + b.graph().constant(t, 1.0));
  b.end_loop(i);
  return b.finish();
}

bool is_defined(Op op, DType t) {
  if (has_trait(op, trait_float_only)) return is_float(t);
  if (has_trait(op, trait_integer_only)) {
    return is_integer(t) ||
           (t == DType::Bool && (op == Op::Not || op == Op::And || op == Op::Or || op == Op::Xor));
  }
  return t != DType::Bool || op == Op::Where || is_comparison(op);
}

// Every op that the renderer has, on values of one dtype.
LinearProgram all_ops(DType t) {
  ProgramBuilder b("all_ops");
  const UOp x = b.param(t, 8);
  const UOp condition = b.load(b.param(DType::Bool, 8), b.integer(0));
  for (int o = 0; o < num_ops; o++) {
    const auto op = static_cast<Op>(o);
    const bool is_there =
        is_elementwise(op) && contains(SpirvRenderer::ops(), op) && is_defined(op, t);
    if (!is_there || op == Op::Cast || op == Op::Bitcast) continue;
    std::vector<UOp> operands;
    for (int k = 0; k < info(op).arity; k++) {
      operands.push_back(op == Op::Where && k == 0 ? condition : b.load(x, b.integer(k)));
    }
    const DType result = is_comparison(op) ? DType::Bool : t;
    b.store(b.param(result, 8), b.integer(0), b.graph().make(op, result, operands));
  }
  return b.finish();
}

LinearProgram all_casts(DType from, const SpirvRenderer& renderer) {
  ProgramBuilder b("all_casts");
  const UOp x = b.load(b.param(from, 8), b.integer(1));
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    const auto to = static_cast<DType>(t);
    if (to == from || !(renderer.storage() >> t & 1)) continue;
    b.store(b.param(to, 8), b.integer(0), b.graph().make(Op::Cast, to, std::vector<UOp>{x}));
    const bool has_both = renderer.dtypes() >> t & renderer.dtypes() >> static_cast<int>(from) & 1;
    if (!has_both || size_of(from) != size_of(to)) continue;
    b.store(b.param(to, 8), b.integer(0), b.graph().make(Op::Bitcast, to, std::vector<UOp>{x}));
  }
  return b.finish();
}

// A tile of a group, gates, loops in loops, a register and scratch memory.
LinearProgram staged(DType t) {
  ProgramBuilder b("staged");
  const UOp x = b.param(t, 64), y = b.param(t, 64);
  const UOp tile = b.local(t, 16, Space::Group), own = b.local(t, 3, Space::Thread);
  const UOp group = b.special(0, 4, LoopKind::Group), item = b.special(0, 16, LoopKind::Item);
  const UOp end = b.variable(0, 64);
  const UOp at = b.emit(group * 16 + item);
  const UOp sum = b.mutable_register(t);
  b.write(sum, b.graph().constant(t, 0.0));
  const UOp i = b.begin_loop(3);
  const UOp gate = less(cast(at, DType::Int64) + cast(i, DType::Int64), end);
  const UOp stored = b.store(tile, item, b.load(x, at + i, gate));
  const UOp met = b.barrier();
  const UOp k = b.begin_loop(16);
  b.write(sum, b.read(sum) + b.load(tile, k, {}, {stored, met}));
  const UOp added = b.end_loop(k);
  b.barrier();
  b.store(own, i, b.read(sum, {added}));
  const UOp done = b.end_loop(i);
  b.store(y, at, b.load(own, b.integer(1), {}, {done}), less(at, 60));
  return b.finish();
}

// A loop in one that turns at most once.
LinearProgram jump() {
  ProgramBuilder b("jump");
  const UOp y = b.param(DType::Int32, 8), n = b.variable(0, 1, DType::Int32);
  const UOp jump = b.begin_loop(n), loop = b.begin_loop(8);
  b.store(y, jump + loop, b.graph().constant(DType::Int32, std::int64_t{1}));
  b.end_loop(loop);
  b.end_loop(jump);
  return b.finish();
}

// Items of a subgroup give values of 4 and 8 bytes to each other, and vote.
LinearProgram subgroup(bool is_wide) {
  ProgramBuilder b("subgroup");
  const DType t = is_wide ? DType::Float64 : DType::Float32;
  const UOp x = b.param(t, 64), y = b.param(t, 64);
  const UOp votes = b.param(is_wide ? DType::UInt64 : DType::UInt32, 64);
  const UOp item = b.special(0, 64, LoopKind::Item), own = b.load(x, item);
  const UOp there = b.shuffle(own, 4);
  b.store(y, item, there);
  b.store(votes, item, b.ballot(b.emit(b.graph().alu(Op::Lt, {own, there})), is_wide ? 64 : 8));
  return b.finish();
}

// ---- spirv-val ----

void expect_valid(const std::string& module, const std::string& what) {
  const std::string path = testing::TempDir() + "croze_module.spv";
  std::ofstream(path, std::ios::binary) << module;
  const std::string command =
      CROZE_SPIRV_VAL " --target-env vulkan1.2 --scalar-block-layout '" + path + "' 2>&1";
  std::string said;
  FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0) << what << ": " << said;
  std::remove(path.c_str());
}

class SpirvModules : public testing::TestWithParam<const SpirvTarget*> {
 protected:
  void SetUp() override {
    if (std::string_view(CROZE_SPIRV_VAL).ends_with("NOTFOUND")) {
      GTEST_SKIP() << "spirv-val is not here (Debian: spirv-tools)";
    }
  }

  const SpirvRenderer renderer{*GetParam()};
};

TEST_P(SpirvModules, OfEveryOpOnEveryDTypeAreValid) {
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    if (!(renderer.dtypes() >> t & 1)) continue;
    const auto dtype = static_cast<DType>(t);
    expect_valid(renderer.render(all_ops(dtype)), std::string(name_of(dtype)));
  }
}

TEST_P(SpirvModules, OfCastsBetweenAllPairsOfDTypesAreValid) {
  for (int t = static_cast<int>(DType::Bool); t < num_dtypes; t++) {
    if (!(renderer.storage() >> t & 1)) continue;
    const auto from = static_cast<DType>(t);
    expect_valid(renderer.render(all_casts(from, renderer)), std::string(name_of(from)));
  }
}

TEST_P(SpirvModules, WithLoopsGatesAndGroupsAreValid) {
  for (DType t : {DType::Bool, DType::Int8, DType::UInt16, DType::Int32, DType::Float32}) {
    if (GetParam() == &least) continue;  // the variable is a number of 64 bits
    expect_valid(renderer.render(staged(t)), std::string(name_of(t)));
  }
  expect_valid(renderer.render(increment(DType::Int8)), "increment");
  expect_valid(renderer.render(jump()), "jump");
  expect_valid(renderer.render(subgroup(false)), "subgroup");
  if (GetParam() == &full) expect_valid(renderer.render(subgroup(true)), "subgroup of 64 items");
}

TEST_P(SpirvModules, WithFoldedGroupsAndManyArgumentsAreValid) {
  ProgramBuilder b("folded");
  const UOp group = b.special(0, 70'000, LoopKind::Group);
  UOp sum = b.load(b.param(DType::Int32, 70'000), group);
  for (int k = 0; k < 20; k++) sum = sum + b.load(b.param(DType::Int32, 70'000), group);
  b.store(b.param(DType::Int32, 70'000), group, sum);
  expect_valid(renderer.render(b.finish()), "folded");
}

INSTANTIATE_TEST_SUITE_P(Of, SpirvModules, testing::Values(&full, &least), [](const auto& p) {
  return std::string(p.param == &full ? "AllFeatures" : "TheLeast");
});

// ---- what stands in them ----

TEST(SpirvRenderer, AModuleHasAnEntryAndABoundForItsResults) {
  const std::string module = SpirvRenderer(full).render(increment(DType::Int32));
  const std::vector<std::uint32_t> words = words_of(module);
  EXPECT_EQ(words[0], spirv::magic);
  EXPECT_NE(module.find("croze_increment"), std::string::npos);
  std::uint32_t greatest = 0;
  for (const Instruction& i : instructions_of(module)) {
    if (i.code == Code::Label) greatest = std::max(greatest, i.operands[0]);
  }
  EXPECT_LT(greatest, words[3]);
}

TEST(SpirvRenderer, SubgroupsAreAskedForWhereItemsWorkTogether) {
  const std::string module = SpirvRenderer(full).render(subgroup(false));
  EXPECT_EQ(count(module, Code::GroupNonUniformShuffleXor), 1);
  EXPECT_EQ(count(module, Code::GroupNonUniformBallot), 1);
  EXPECT_TRUE(has(module, Code::Capability, 0, spirv::Capability::GroupNonUniformShuffle));
  EXPECT_TRUE(has(module, Code::Capability, 0, spirv::Capability::GroupNonUniformBallot));
  const std::string alone = SpirvRenderer(full).render(increment(DType::Int32));
  EXPECT_FALSE(has(alone, Code::Capability, 0, spirv::Capability::GroupNonUniform));
  EXPECT_TRUE(spirv::needs(words_of(module), spirv::Capability::GroupNonUniform));
  EXPECT_FALSE(spirv::needs(words_of(alone), spirv::Capability::GroupNonUniform));
}

TEST(SpirvRenderer, NoFloatIsFusedWithAnother) {
  const std::string module = SpirvRenderer(full).render(all_ops(DType::Float32));
  std::int64_t decorated = 0;
  for (const Instruction& i : instructions_of(module)) {
    decorated += i.code == Code::Decorate &&
                 i.operands[1] == static_cast<std::uint32_t>(spirv::Decoration::NoContraction);
  }
  std::int64_t rounded = 0;
  for (Code code : {Code::FAdd, Code::FMul, Code::FDiv, Code::FNegate}) {
    rounded += count(module, code);
  }
  EXPECT_GE(rounded, 5);
  EXPECT_EQ(decorated, rounded);
  EXPECT_FALSE(contains(SpirvRenderer::ops(), Op::MulAdd));
}

TEST(SpirvRenderer, WhatTurnsOnceAtMostIsABranch) {
  const std::string module = SpirvRenderer(full).render(jump());
  EXPECT_EQ(count(module, Code::LoopMerge), 1);
  EXPECT_EQ(count(module, Code::SelectionMerge), 1);
}

TEST(SpirvRenderer, OnlyWhatTheDeviceOffersIsAskedFor) {
  using enum spirv::ExecutionMode;
  const std::string some = SpirvRenderer(least).render(increment(DType::Float32));
  EXPECT_TRUE(has(some, Code::ExecutionMode, 1, SignedZeroInfNanPreserve));
  EXPECT_FALSE(has(some, Code::ExecutionMode, 1, DenormPreserve));
  EXPECT_FALSE(has(some, Code::ExecutionMode, 1, RoundingModeRTE));
  const std::string all = SpirvRenderer(full).render(increment(DType::Float32));
  EXPECT_TRUE(has(all, Code::ExecutionMode, 1, DenormPreserve));
  EXPECT_TRUE(has(all, Code::ExecutionMode, 1, RoundingModeRTE));
  EXPECT_FALSE(has(all, Code::Capability, 0, spirv::Capability::Float64));
}

TEST(SpirvRenderer, SmallElementsArePackedWhereTheDeviceHasNoBytes) {
  const std::string packed = SpirvRenderer(least).render(increment(DType::Int8));
  EXPECT_EQ(count(packed, Code::AtomicXor), 1);
  EXPECT_FALSE(has(packed, Code::Capability, 0, spirv::Capability::StorageBuffer8BitAccess));
  const std::string plain = SpirvRenderer(full).render(increment(DType::Int8));
  EXPECT_EQ(count(plain, Code::AtomicXor), 0);
  EXPECT_TRUE(has(plain, Code::Capability, 0, spirv::Capability::StorageBuffer8BitAccess));
}

TEST(SpirvRenderer, DTypesAreThoseOfTheDevice) {
  const auto bit = [](DType t) { return 1u << static_cast<int>(t); };
  EXPECT_FALSE(SpirvRenderer(least).dtypes() & (bit(DType::Int64) | bit(DType::Float64)));
  EXPECT_FALSE(SpirvRenderer(least).storage() & bit(DType::Float16));
  EXPECT_TRUE(SpirvRenderer(full).storage() & bit(DType::Float16));
  SpirvTarget flushing = full;
  flushing.float_controls[0].keeps_subnormals = false;
  EXPECT_FALSE(SpirvRenderer(flushing).storage() & bit(DType::Float16));
}

TEST(SpirvRenderer, VectorsAreRefused) {
  ProgramBuilder b("lanes");
  const UOp x = b.param(DType::Float32, 4);
  const UOp lane = b.lane(4);
  b.store(x, lane, b.load(x, lane) + b.load(x, lane));
  EXPECT_THROW(SpirvRenderer(full).render(b.finish()), InternalError);
}

TEST(SpirvRenderer, ItsTextIsTheBytesAsNumbers) {
  const SpirvRenderer renderer(full);
  EXPECT_EQ(renderer.text(std::string("\x03\x02\x23\x07", 4)), "03022307\n");
}

}  // namespace
}  // namespace croze::test
