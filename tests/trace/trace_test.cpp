// Traces written and read.  The file of the corpus was written by another program, from the
// description of the format (tests/libfuzzer/make_corpus.py).
#include "croze/trace/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "croze/trace/writer.h"
#include "support/files.h"

namespace croze::traces {
namespace {

using test::content_of;
using test::error_of;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class Traces : public test::FilesTest {
 protected:
  // What the writer makes of the records that `add` gives it.
  template <typename F>
  std::string written(F add, std::int64_t max_bytes = 1 << 30) const {
    Writer writer(path("trace"), max_bytes);
    add(writer);
    writer.finish();
    EXPECT_EQ(writer.failure(), "");
    return content_of(path("trace"));
  }
};

std::string corpus_file() { return content_of(CORPUS "/trace/step.trace"); }

TEST(TraceReader, ReadsWhatAnotherProgramWrote) {
  const std::string bytes = corpus_file();
  const Trace trace = read_trace(bytes_of(bytes), "step");
  EXPECT_FALSE(trace.is_cut);
  EXPECT_EQ(trace.fact("version"), "9.8.7");
  ASSERT_EQ(trace.rows.size(), 2U);
  EXPECT_EQ(trace.text(trace.rows[1].name), "CPU of thread 1");
  EXPECT_EQ(trace.rows[1].what, Row::What::Queue);
  ASSERT_EQ(trace.launches.size(), 2U);
  EXPECT_EQ(trace.launches[0].start, 1000);
  EXPECT_EQ(trace.launches[0].duration, 250);
  EXPECT_EQ(trace.launches[1].start, 900);  // before the one before it
  EXPECT_EQ(name_of(trace, planned(trace, trace.launches[1])), "add > mul");
  EXPECT_EQ(planned(trace, trace.launches[1]).bytes, 300'000'000'000);
  EXPECT_EQ(planned(trace, trace.launches[1]).cycles, 12.5);
  ASSERT_EQ(trace.nodes.size(), 3U);
  EXPECT_EQ(trace.nodes[2].sources, (std::vector<Number>{2, 1}));
  ASSERT_EQ(trace.matches.size(), 1U);
  EXPECT_EQ(trace.text(trace.rules[trace.matches[0].rule].place), "algebra.cpp:12");
  EXPECT_EQ(trace.ends, (std::vector<std::int64_t>{2000, INT64_MAX}));
  EXPECT_EQ(trace.schedules[0].buffers[0].shape, (std::vector<std::int64_t>{128, 10}));
  EXPECT_EQ(trace.text(trace.names[0]), "block.0.weight");
  EXPECT_EQ(trace.names[1], 0U);
  const auto origins = origins_of(trace, trace.launches[1]);
  ASSERT_EQ(origins.size(), 2U);
  EXPECT_EQ(trace.text(origins[0].module), "block.0");
  EXPECT_EQ(trace.text(origins[0].call), "step (net.cpp:7)");
  EXPECT_TRUE(origins[0].is_gradient);
  EXPECT_EQ(origins[0].cycles, 300);
  EXPECT_EQ(origins[0].reads, std::vector<std::uint32_t>{0});
  EXPECT_EQ(origins[1].writes, std::vector<std::uint32_t>{1});
  EXPECT_FALSE(origins_of(trace, trace.launches[0])[0].is_gradient);
  EXPECT_EQ(trace.text(trace.origins[0].buffers[0]), "block.0.weight");
  const auto nodes = nodes_of(trace, trace.launches[0]);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(trace.text(nodes[0]), "Conv (node \"stem\")");
  EXPECT_TRUE(nodes_of(trace, trace.launches[1]).empty());
  ASSERT_EQ(trace.graphs[0].nodes.size(), 2U);
  const TensorNode& sum = trace.graphs[0].nodes[1];
  EXPECT_EQ(trace.text(sum.op), "add");
  EXPECT_EQ(sum.shape, (std::vector<std::int64_t>{128, 10}));
  EXPECT_EQ(sum.sources, (std::vector<Number>{1, 1}));
  EXPECT_EQ(trace.text(sum.module), "block.0");
  EXPECT_TRUE(sum.is_gradient);
  EXPECT_EQ(sum.buffer_plus_1, 2U);
  ASSERT_EQ(trace.samples.size(), 1U);
  EXPECT_EQ(trace.text(trace.kernels[trace.samples[0].kernel].name), "mul");
  ASSERT_EQ(trace.samples[0].places.size(), 2U);
  EXPECT_EQ(trace.samples[0].places[1].offset, 7);
  EXPECT_EQ(trace.samples[0].places[1].count, 2);
  EXPECT_EQ(trace.lost, 3);
}

TEST(TraceReader, TakesWhatIsThereOfATraceThatWasCut) {
  const std::string bytes = corpus_file();
  const std::size_t all = read_trace(bytes_of(bytes), "step").launches.size();
  std::size_t most = 0, refused = 0;
  for (std::size_t length = 0; length <= bytes.size(); length++) {
    const std::string cut = bytes.substr(0, length);
    try {
      const Trace trace = read_trace(bytes_of(cut), "cut");
      EXPECT_LE(trace.launches.size(), all);
      most = std::max(most, trace.launches.size());
    } catch (const Error&) {
      refused++;
      EXPECT_LT(length, magic.size() + 4);  // without the head it is no trace
    }
  }
  EXPECT_EQ(most, all);
  EXPECT_EQ(refused, magic.size() + 4);
}

TEST_F(Traces, HoldWhatWasWritten) {
  const std::string bytes = written([](Writer& w) {
    const Number row = w.add(Row{Row::What::Thread, w.name("main")});
    for (std::int64_t i = 0; i < 100'000; i++) {
      w.add(Scope{Scope::What::Pass, row, w.name("simplify"), 0, i * 1000 - 5, i});
    }
    EXPECT_EQ(w.name("simplify"), w.name("simplify"));
    EXPECT_EQ(w.name(""), 0U);
  });
  const Trace trace = read_trace(bytes_of(bytes), "trace");
  ASSERT_EQ(trace.scopes.size(), 100'000U);
  for (std::int64_t i = 0; i < 100'000; i++) {
    const Scope& s = trace.scopes[static_cast<std::size_t>(i)];
    ASSERT_EQ(s.start, i * 1000 - 5);
    ASSERT_EQ(s.duration, i);
  }
  EXPECT_EQ(trace.texts.size(), 2U);
  EXPECT_LT(bytes.size(), 100'000U * 12);
}

TEST_F(Traces, CutVeryLongTextsBetweenCharacters) {
  std::string text;
  while (text.size() < (5U << 20)) text += "größer ";
  const std::string bytes = written([&](Writer& w) { w.add(Fact{w.name("long"), w.name(text)}); });
  const Trace trace = read_trace(bytes_of(bytes), "trace");
  const std::string_view kept = trace.fact("long");
  EXPECT_GE(kept.size(), (4U << 20) - 3);
  EXPECT_TRUE(text.starts_with(kept));
  EXPECT_NE(static_cast<unsigned char>(text[kept.size()]) & 0xc0, 0x80);
}

TEST_F(Traces, CountWhatHasNoRoom) {
  constexpr std::int64_t limit = 1 << 20, records = 400'000;
  const std::string bytes = written(
      [](Writer& w) {
        const Number row = w.add(Row{});
        for (std::int64_t i = 0; i < records; i++) w.add(Scope{.row = row, .start = i});
      },
      limit);
  const Trace trace = read_trace(bytes_of(bytes), "trace");
  EXPECT_LE(std::ssize(bytes), limit + 64);
  EXPECT_GT(trace.lost, 0);
  EXPECT_EQ(std::ssize(trace.scopes) + trace.lost, records);
}

TEST_F(Traces, AreRefusedWhereNoFileCanBe) {
  EXPECT_NE(error_of([&] { Writer(path("no/folder"), 1 << 20); }).find("cannot write"),
            std::string::npos);
  EXPECT_NE(error_of([&] { Writer("/dev/null", 1 << 20); }).find("no regular file"),
            std::string::npos);
}

// ---- hostile files ----------------------------------------------------------------------------

// A trace of these bytes as its one chunk.
std::string with_chunk(const std::string& chunk) {
  std::string bytes(magic);
  bytes += std::string("\1\0\0\0", 4);
  for (int i = 0; i < 4; i++) bytes += static_cast<char>(chunk.size() >> (8 * i) & 255);
  return bytes + chunk;
}

std::string refusal(const std::string& bytes) {
  return error_of([&] { read_trace(bytes_of(bytes), "hostile"); });
}

TEST(HostileTraces, AreRefused) {
  EXPECT_NE(refusal("a text").find("no trace of croze"), std::string::npos);
  std::string later(magic);
  later += std::string("\2\0\0\0", 4);
  EXPECT_NE(refusal(later).find("version 2"), std::string::npos);
  // A launch on a row that there is not.
  EXPECT_NE(refusal(with_chunk(std::string("\x0d\5\0\0\0\0\0", 7))).find("row 0 of 0"),
            std::string::npos);
  // A record longer than its chunk, a text that nobody wrote, a list longer than its record.
  EXPECT_NE(refusal(with_chunk("\2\x7fxx")).find("127 bytes"), std::string::npos);
  EXPECT_NE(refusal(with_chunk("\2\2\5\1")).find("text 5 of 0"), std::string::npos);
  EXPECT_NE(refusal(with_chunk(std::string("\6\4\0\0\0\x50", 6))).find("a list of 80"),
            std::string::npos);
  // Origins of a schedule that there is not.
  EXPECT_NE(refusal(with_chunk(std::string("\x12\3\0\0\0", 5))).find("schedule 0 of 0"),
            std::string::npos);
  // A number without end.
  EXPECT_NE(
      refusal(with_chunk("\x10\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1")).find("64 bits"),
      std::string::npos);
}

TEST_F(Traces, AreRefusedWhereATensorStandsBeforeWhatItIsMadeOf) {
  const auto second = [&](TensorNode node) {
    return written([&](Writer& w) {
      w.add(Schedule{});
      w.add(TensorGraph{0, {TensorNode{}, std::move(node)}});
    });
  };
  const auto refused = [&](TensorNode node) { return refusal(second(std::move(node))); };
  const std::string good = second({.sources = {1}});
  EXPECT_EQ(read_trace(bytes_of(good), "good").graphs[0].nodes.size(), 2U);
  EXPECT_NE(refused({.sources = {2}}).find("a tensor 2 before the 1th"), std::string::npos);
  EXPECT_NE(refused({.sources = {0}}).find("a tensor 0 before the 1th"), std::string::npos);
  EXPECT_NE(refused({.buffer_plus_1 = 1}).find("buffer 1 of 0"), std::string::npos);
  // Of a schedule that there is not.
  EXPECT_NE(refusal(with_chunk(std::string("\x15\2\0\0", 4))).find("schedule 0 of 0"),
            std::string::npos);
}

TEST(HostileTraces, MayHoldKindsOfRecordsThatAreNotKnown) {
  const std::string bytes = with_chunk(std::string("\x63\3abc\1\2ok", 9));
  EXPECT_EQ(read_trace(bytes_of(bytes), "later").texts.size(), 1U);
}

}  // namespace
}  // namespace croze::traces
