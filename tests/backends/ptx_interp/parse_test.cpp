// parse_test.cpp -- what the interpreter of PTX refuses, and in which line.
#include <gtest/gtest.h>

#include "backends/ptx_interp/run_ptx.h"
#include "support/device_suite.h"

namespace croze::test {
namespace {

// What is wrong with the second line of a body.
std::string refusal_of(const std::string& line) {
  const Ptx ptx{"mov.b32 %r1, 7;\n" + line};
  try {
    make_ptx_interp_device()->compile("hand", ptx.text());
  } catch (const InternalError& e) {
    const std::string begin = fmt::format("kernel hand is refused: PTX, line {}: ", first_line + 1);
    if (e.message().starts_with(begin)) return e.message().substr(begin.size());
    return e.message();
  }
  return "nothing";
}

TEST(PtxText, WhatIsWrittenRightIsTaken) {
  EXPECT_EQ(refusal_of("add.s32 %r1, %r0, -2147483648; // the least"), "nothing");
  EXPECT_EQ(refusal_of("@!%p0 mov.u32 %r1, %ctaid.y; /* two\nlines */"), "nothing");
  EXPECT_EQ(refusal_of("ld.global.v2.u8 {%h0, %r1}, [%d0+-3];"), "nothing");
  EXPECT_EQ(refusal_of("mov.b64 %d1, 0xffffffffffffffff;"), "nothing");
}

TEST(PtxText, UnknownInstructionsAreRefusedByLine) {
  EXPECT_EQ(refusal_of("unknown.s32 %r1, %r0;"), "unknown.s32: unknown instruction");
  EXPECT_EQ(refusal_of("add.rn.s32 %r1, %r0, %r0;"), "add.rn.s32: there is none of type .s32");
  EXPECT_EQ(refusal_of("add.f32 %f1, %f0, %f0;"), "add.f32: there is none of type .f32");
  EXPECT_EQ(refusal_of("add.q32 %r1, %r0, %r0;"), "add.q32: there is no type 'q32'");
  EXPECT_EQ(refusal_of("ld.heap.b32 %r1, [%d0];"), "ld.heap.b32: there is no memory 'heap'");
  EXPECT_EQ(refusal_of("ld.global.v4.f64 %e0, [%d0];"), "ld.global.v4.f64: no such access");
  EXPECT_EQ(refusal_of("cvt.s32.f32 %r1, %f0;"), "cvt.s32.f32: there is no such conversion");
  EXPECT_EQ(refusal_of("bar.sync 1;"), "bar.sync: only barrier 0 is known");
}

TEST(PtxText, OperandsHaveTheTypesOfTheInstruction) {
  EXPECT_EQ(refusal_of("add.s32 %r1, %d0, %r0;"),
            "add.s32: a register of .b64 where .s32 is wanted");
  EXPECT_EQ(refusal_of("add.s32 %r1, %f0, %r0;"),
            "add.s32: a register of .f32 where .s32 is wanted");
  EXPECT_EQ(refusal_of("add.s32 %r1, %r0;"), "add.s32: takes 3 operands, not 2");
  EXPECT_EQ(refusal_of("setp.lt.s32 %r1, %r0, 1;"),
            "setp.lt.s32: a register of .b32 where .pred is wanted");
  EXPECT_EQ(refusal_of("add.s16 %h1, %h0, 65536;"), "add.s16: the constant 65536 does not fit");
  EXPECT_EQ(refusal_of("add.rn.f32 %f1, %f0, 1;"),
            "add.rn.f32: an integer where a float is wanted");
  EXPECT_EQ(refusal_of("add.rn.f32 %f1, %f0, 0d3ff0000000000000;"),
            "add.rn.f32: a constant of another type");
  EXPECT_EQ(refusal_of("ld.global.v2.f32 {%f0}, [%d0];"),
            "ld.global.v2.f32: needs a vector of 2 registers");
  EXPECT_EQ(refusal_of("mov.u64 %d1, nowhere;"), "mov.u64: there is no nowhere");
  EXPECT_EQ(refusal_of("bra $L7;"), "bra: there is no label $L7");
  EXPECT_EQ(refusal_of("@%p0 bar.sync 0;"), "bar.sync: a barrier that some items may pass by");
}

TEST(PtxText, WordsStandWhereTheGrammarHasThem) {
  EXPECT_EQ(refusal_of("add.s32 %r1 %r0, 1;"), "expected ',', not '%r0'");
  EXPECT_EQ(refusal_of("add.s32 %r99, %r0, 1;"), "expected a declared register, not '%r99'");
  EXPECT_EQ(refusal_of("mov.u32 %r1, %warp.x;"), "mov.u32: there is no register %warp.x");
  EXPECT_EQ(refusal_of("@%q0 bra $L0;"), "expected a declared register, not '%q0'");
  EXPECT_EQ(refusal_of("@%r0 bra $L0;"), "the guard is no predicate");
  EXPECT_EQ(refusal_of("add.s32 %r1, %r0, 1x;"), "expected an integer, not '1x'");
  EXPECT_EQ(refusal_of("mov.f32 %f0, 0f1234;"), "expected the bits of a float, not '0f1234'");
  EXPECT_EQ(refusal_of("add.s32 %r1, %r0, #1;"), "no word begins with '#'");
  EXPECT_EQ(refusal_of(".reg .word %w<2>;"), "expected a type, not '.word'");
  EXPECT_EQ(refusal_of("$L0: bra $L0; $L0:"), "a second label $L0");
}

TEST(PtxText, AnEntryEndsWithRet) {
  const auto device = make_ptx_interp_device();
  EXPECT_THROW(device->compile("hand",
                               ".version 7.1 .target sm_80 .address_size 64\n"
                               ".visible .entry croze_hand() { bar.sync 0; }"),
               InternalError);
  EXPECT_THROW(device->compile("hand", ""), InternalError);
}

TEST(PtxText, RejectedSourceIsAnInternalErrorThatNamesTheKernel) {
  expect_broken_is_refused(*make_ptx_interp_device(), Ptx{"unknown.s32 %r0, %r0;"}.text());
}

TEST(PtxText, ALaunchMustBeWhatTheEntryIsFor) {
  const auto device = make_ptx_interp_device();
  const Ptx ptx{"", 2, 32};
  const std::string code = device->compile("hand", ptx.text());
  ProgramInfo info = info_of(ptx, 1);
  device->load(info, code);
  info.num_variables = 1;
  EXPECT_EQ(message_of([&] { device->load(info, code); }),
            "kernel hand: its code takes 2 parameters, not 2 buffers and 1 variables");
  info = info_of(ptx, 1);
  info.launch.items[1] = 2;
  EXPECT_EQ(message_of([&] { device->load(info, code); }),
            "kernel hand: its code is for groups of 32 by 1 by 1 items");
}

TEST(PtxText, LimitsAreThoseOfAMachine) {
  expect_limits_of_groups(make_ptx_interp_device()->caps());
}

}  // namespace
}  // namespace croze::test
