// detectors_test.cpp -- mistakes of kernels that a GPU would not tell of.
#include <gtest/gtest.h>

#include "backends/ptx_interp/run_ptx.h"

namespace croze::test {
namespace {

// What is wrong with a kernel of one buffer of 64 bytes; a body's first line is line 5.
std::string fault_of(const std::string& body, int items = 1) {
  std::vector<std::int32_t> words(16);
  return message_of([&] { run_ptx({body, 1, items}, {bytes_of(words)}); });
}
std::string at(int line, const std::string& what) {
  return fmt::format("kernel hand, line {} of its PTX: {}", first_line + line, what);
}

TEST(PtxBuffers, AccessesStayInside) {
  EXPECT_EQ(fault_of("ld.global.b32 %r1, [%d0+60];"), "no error");
  EXPECT_EQ(fault_of("ld.global.b32 %r1, [%d0+64];"),
            at(0, "access of 4 bytes at byte 64 of buffer 0, which has 64"));
  EXPECT_EQ(fault_of("\nst.global.b8 [%d0+-1], 0;"),
            at(1, "access of 1 bytes at byte -1 of buffer 0, which has 64"));
  EXPECT_EQ(fault_of("ld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, [%d0+56];"),
            at(0, "access of 16 bytes at byte 56 of buffer 0, which has 64"));
  EXPECT_EQ(fault_of("ld.global.b32 %r1, [%d7];"),
            at(0, "access of 4 bytes at 0x0, which is in no buffer of the kernel"));
}

TEST(PtxBuffers, AccessesAreAlignedToWhatTheyMove) {
  EXPECT_EQ(fault_of("ld.global.b32 %r1, [%d0+2];"),
            at(0, "access of 4 bytes at byte 2 of buffer 0 is not aligned"));
  EXPECT_EQ(fault_of("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d0+4];"),
            at(0, "access of 16 bytes at byte 4 of buffer 0 is not aligned"));
  EXPECT_EQ(fault_of("ld.global.v2.b32 {%r1, %r2}, [%d0+8];"), "no error");
}

TEST(PtxBuffers, WhatAGuardShutsOutTouchesNothing) {
  EXPECT_EQ(fault_of("setp.lt.s32 %p0, 2, 1;\n@%p0 ld.global.b32 %r1, [%d7];"), "no error");
}

// %d1: the item's own word of a shared array of four; %d2: that of the next item.
const std::string shared_words =
    ".shared .align 16 .b8 words[16]; mov.u64 %d3, words; add.s32 %r1, %r0, 1; and.b32 %r1, %r1, 3;"
    "mad.wide.s32 %d1, %r0, 4, %d3; mad.wide.s32 %d2, %r1, 4, %d3;\n";

TEST(PtxSharedMemory, ABarrierOrdersWritesAndReads) {
  EXPECT_EQ(fault_of(shared_words + "st.shared.b32 [%d1], %r0;\nbar.sync 0;\n"
                                    "ld.shared.b32 %r2, [%d2];\nbar.sync 0;\n"
                                    "st.shared.b32 [%d2], %r2;",
                     4),
            "no error");
}

TEST(PtxSharedMemory, AReadOfWhatAnotherItemWritesIsARace) {
  const std::string fault =
      fault_of(shared_words + "st.shared.b32 [%d1], %r0;\nld.shared.b32 %r2, [%d2];", 4);
  // Item 0 reads before anybody has written.
  EXPECT_EQ(fault, at(2, "shared memory: byte 4 is read and was never written"));
  EXPECT_EQ(fault_of(shared_words + "st.shared.b32 [%d1], %r0;\nbar.sync 0;\n"
                                    "ld.shared.b32 %r2, [%d2];\nst.shared.b32 [%d1], %r2;",
                     4),
            at(4,
               "shared memory: race: item 1 writes byte 4, which item 0 has read since the "
               "barrier"));
  EXPECT_EQ(fault_of(shared_words + "st.shared.b32 [%d1], %r0;\nbar.sync 0;\n"
                                    "st.shared.b32 [%d1], 5;\nadd.s64 %d4, %d3, 0;\n"
                                    "setp.eq.s32 %p0, %r0, 3;\n@%p0 ld.shared.b32 %r2, [%d3];",
                     4),
            at(6,
               "shared memory: race: item 3 reads byte 0, which item 0 has written since the "
               "barrier"));
}

TEST(PtxSharedMemory, TwoWritersOfOneByteAreARaceUnlessTheyWriteTheSame) {
  EXPECT_EQ(fault_of(shared_words + "cvt.u16.u32 %h0, %r0;\nst.shared.b16 [%d3+6], %h0;", 2),
            at(2,
               "shared memory: race: item 1 writes byte 6, which item 0 has written since the "
               "barrier"));
  EXPECT_EQ(fault_of(shared_words + "st.shared.b16 [%d3+6], 257;", 4), "no error");
  EXPECT_EQ(fault_of(shared_words + "st.shared.b16 [%d3+6], 257;\nsetp.eq.s32 %p0, %r0, 3;\n"
                                    "@%p0 ld.shared.b16 %h0, [%d3+6];",
                     4),
            at(3,
               "shared memory: race: item 3 reads byte 6, which others have written since the "
               "barrier"));
}

TEST(PtxSharedMemory, ManyReadersAreNone) {
  EXPECT_EQ(fault_of(shared_words + "st.shared.b32 [%d1], %r0;\nbar.sync 0;\n"
                                    "ld.shared.b32 %r2, [%d3];",
                     4),
            "no error");
  EXPECT_EQ(fault_of(shared_words + "st.shared.b32 [%d1], %r0;\nbar.sync 0;\n"
                                    "ld.shared.b32 %r2, [%d3];\nsetp.eq.s32 %p0, %r0, 3;\n"
                                    "@%p0 st.shared.b32 [%d3], 1;",
                     4),
            at(5,
               "shared memory: race: item 3 writes byte 0, which others have read since the "
               "barrier"));
}

TEST(PtxSharedMemory, WhatNobodyWroteIsNotRead) {
  EXPECT_EQ(fault_of(shared_words + "st.shared.b16 [%d3], 1;\nld.shared.b32 %r2, [%d3];"),
            at(2, "shared memory: byte 2 is read and was never written"));
}

TEST(PtxSharedMemory, EachArrayHasItsBounds) {
  EXPECT_EQ(fault_of(".shared .align 16 .b8 first[16]; .shared .align 16 .b8 second[16];\n"
                     "mov.u64 %d1, first; st.shared.b32 [%d1+16], 0;"),
            at(1, "access of 4 bytes at byte 16 of shared array 0, which has 16"));
  EXPECT_EQ(fault_of(".local .align 16 .b8 own[8];\nmov.u64 %d1, own; st.local.b32 [%d1+-4], 0;"),
            at(1, "access of 4 bytes at byte -4 of private array 0, which has 8"));
}

TEST(PtxSharedMemory, ANewGroupFindsNothingWritten) {
  std::vector<std::int32_t> words(1);
  const std::string body =
      ".shared .align 16 .b8 words[4]; mov.u64 %d1, words;\n"
      "mov.u32 %r1, %ctaid.x; setp.eq.s32 %p0, %r1, 0;\n"
      "@%p0 st.shared.b32 [%d1], 1;\n"
      "ld.shared.b32 %r2, [%d1];";
  EXPECT_EQ(message_of([&] { run_ptx({body}, {bytes_of(words)}, 1); }), "no error");
  EXPECT_EQ(message_of([&] { run_ptx({body}, {bytes_of(words)}, 2); }),
            at(3, "shared memory: byte 0 is read and was never written"));
}

TEST(PtxBarriers, AllItemsMeetAtTheSameOne) {
  EXPECT_EQ(fault_of("setp.lt.s32 %p0, %r0, 2;\n@%p0 bra $L0;\nbar.sync 0;\nbra $L1;\n"
                     "$L0:\nbar.sync 0;\n$L1:",
                     4),
            "kernel hand: divergent barriers: item 0 waits at line 10 of the PTX, item 2 waits at "
            "line 7 of the PTX");
}

TEST(PtxBarriers, NoItemEndsWhileOthersWait) {
  EXPECT_EQ(fault_of("setp.eq.s32 %p0, %r0, 3;\n@%p0 ret;\nst.global.b32 [%d0], 1;", 4),
            "no error");
  EXPECT_EQ(fault_of("setp.eq.s32 %p0, %r0, 3;\n@%p0 ret;\nbar.sync 0;", 4),
            "kernel hand: divergent barriers: item 0 waits at line 7 of the PTX, item 3 has ended "
            "at line 6 of the PTX");
}

// Each item copies its word of the buffer; a wait for no batch lets it land.
std::string copy_fault(const std::string& between, const std::string& last) {
  return fault_of(shared_words + "mad.wide.s32 %d4, %r0, 4, %d0;\n" +
                      "cp.async.ca.shared.global [%d1], [%d4], 4;\n" + between + "\n" + last,
                  4);
}

TEST(PtxCopies, AreThereOnceTheyAreWaitedFor) {
  const std::string read = "ld.shared.b32 %r2, [%d2];";
  EXPECT_EQ(copy_fault("cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;", read),
            "no error");
  // One batch may still be on its way, and what was not committed is in none.
  for (const char* wait : {"cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;",
                           "cp.async.wait_group 0; bar.sync 0;", "bar.sync 0;"}) {
    EXPECT_EQ(copy_fault(wait, read),
              at(4, "shared memory: byte 4 is read before its copy is waited for"));
    EXPECT_EQ(copy_fault(wait, "st.shared.b32 [%d1], %r0;"),
              at(4, "shared memory: byte 0 is written before its copy is waited for"));
  }
}

TEST(PtxCopies, AreWritesOfTheItemThatBeginsThem) {
  // What others see needs a barrier behind the wait.
  EXPECT_EQ(copy_fault("cp.async.commit_group; cp.async.wait_group 0;",
                       "setp.eq.s32 %p0, %r0, 3;\n@%p0 ld.shared.b32 %r2, [%d3];"),
            at(5,
               "shared memory: race: item 3 reads byte 0, which item 0 has written since the "
               "barrier"));
  EXPECT_EQ(fault_of(shared_words + "st.shared.b32 [%d1], %r0;\nbar.sync 0;\n"
                                    "ld.shared.b32 %r2, [%d2];\n"
                                    "cp.async.ca.shared.global [%d1], [%d0], 4;",
                     4),
            at(4,
               "shared memory: race: item 1 copies to byte 4, which item 0 has read since the "
               "barrier"));
}

TEST(PtxCopies, TwoMayBringTheSame) {
  const std::string wait = "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n";
  const std::string read = "ld.shared.b32 %r2, [%d3];";
  EXPECT_EQ(
      fault_of(shared_words + "cp.async.ca.shared.global [%d3], [%d0], 4;\n" + wait + read, 4),
      "no error");
  // All of them have to come.
  EXPECT_EQ(fault_of(shared_words + "cp.async.ca.shared.global [%d3], [%d0], 4;\n" +
                         "setp.eq.s32 %p0, %r0, 3;\n@!%p0 cp.async.commit_group;\n"
                         "cp.async.wait_group 0; bar.sync 0;\n" +
                         read,
                     4),
            at(5, "shared memory: byte 0 is read before its copy is waited for"));
}

TEST(PtxCopies, StayInsideAndAligned) {
  const auto fault_of_copy = [](const std::string& operands) {
    return fault_of(shared_words + "cp.async.cg.shared.global " + operands + ";");
  };
  EXPECT_EQ(fault_of_copy("[%d3], [%d0+48], 16"), "no error");
  EXPECT_EQ(fault_of_copy("[%d3], [%d0+56], 16"),
            at(1, "access of 16 bytes at byte 56 of buffer 0, which has 64"));
  EXPECT_EQ(fault_of_copy("[%d3], [%d7], 16, 0"), "no error");  // zeros, from nowhere
  EXPECT_EQ(fault_of_copy("[%d3+8], [%d0], 16"),
            at(1, "access of 16 bytes at byte 8 of shared array 0, which has 16"));
  EXPECT_EQ(fault_of_copy("[%d3], [%d0+4], 16"),
            at(1, "access of 16 bytes at byte 4 of buffer 0 is not aligned"));
}

}  // namespace
}  // namespace croze::test
