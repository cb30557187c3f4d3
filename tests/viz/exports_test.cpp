// Traces for other tools, of a file with known times.
#include "croze/viz/exports.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "croze/trace/writer.h"
#include "croze/viz/hot.h"
#include "croze/viz/page.h"
#include "croze/viz/summary.h"
#include "support/files.h"

namespace croze {
namespace {

class Exports : public testing::Test {
 protected:
  std::string bytes_ = test::content_of(CORPUS "/trace/step.trace");
  traces::Trace trace_ = traces::read_trace(std::as_bytes(std::span(bytes_)), "step.trace");

  std::string text(void (*write)(const traces::Trace&, TextSink)) const {
    std::string all;
    write(trace_, [&](std::string_view piece) { all += piece; });
    return all;
  }
};

TEST_F(Exports, ChromesFormatHasEveryEvent) {
  const auto json = nlohmann::json::parse(text(write_chrome_trace));
  std::map<std::string, nlohmann::json> events;
  std::vector<std::int64_t> memory;
  for (const auto& e : json.at("traceEvents")) {
    // What the description of the format asks for.
    ASSERT_TRUE(e.at("ph").is_string() && e.at("name").is_string() && e.at("pid").is_number());
    if (e["ph"] == "X") events[e["name"]] = e;
    if (e["ph"] == "C") memory.push_back(e["args"]["bytes"]);
  }
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events["add"]["ts"], 1.0);
  EXPECT_EQ(events["add"]["dur"], 0.25);
  EXPECT_EQ(events["add > mul"]["args"]["flops"], 7);
  EXPECT_EQ(events["step (net.cpp:7)"]["cat"], "host");
  EXPECT_NE(events["add"]["tid"], events["step (net.cpp:7)"]["tid"]);
  EXPECT_EQ(memory, (std::vector<std::int64_t>{5120, 13312, 8192}));
}

TEST_F(Exports, FoldedStacksHaveTheTimeOfEach) {
  EXPECT_EQ(text(write_folded_stacks),
            "main;step (net.cpp:7) 1000\nCPU of thread 1;add 250\nCPU of thread 1;add > mul 50\n");
}

TEST_F(Exports, TheSummaryAddsUp) {
  const std::vector<TraceRow> kernels = by_kernel(trace_);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "add");
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 250e-9);
  const std::vector<TraceRow> calls = by_call(trace_);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].name, "Conv (node \"stem\") + Relu");
  EXPECT_DOUBLE_EQ(calls[0].seconds, 250e-9);
  EXPECT_EQ(calls[0].launches, 1);
  EXPECT_EQ(calls[1].name, "step (net.cpp:7)");
  EXPECT_DOUBLE_EQ(calls[1].seconds, 50e-9);
  ASSERT_EQ(kernels[0].nodes.size(), 2U);
  EXPECT_EQ(trace_.text(kernels[0].nodes[1]), "Relu");
  EXPECT_TRUE(kernels[1].nodes.empty());
  // Of the launch of 50 ns with two kernels three quarters are the gradient's, as was estimated.
  const std::vector<TraceRow> modules = by_module(trace_);
  ASSERT_EQ(modules.size(), 3U);
  EXPECT_EQ(modules[0].name, "block.0");
  EXPECT_DOUBLE_EQ(modules[0].seconds, 250e-9);
  EXPECT_EQ(modules[1].name, "gradient of block.0");
  EXPECT_DOUBLE_EQ(modules[1].seconds, 37.5e-9);
  EXPECT_EQ(modules[2].name, "?");
}

TEST_F(Exports, TheHottestInstructionComesFirst) {
  const std::vector<HotKernel> kernels = hot_kernels(trace_);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].name, "mul");
  EXPECT_EQ(kernels[0].samples, 7);
  ASSERT_EQ(kernels[0].instructions.size(), 2U);
  EXPECT_EQ(kernels[0].instructions[0].samples, 5);
  EXPECT_EQ(kernels[0].instructions[0].text, "xorl\t%eax, %eax");
  EXPECT_EQ(kernels[0].instructions[1].offset, 7);
  EXPECT_EQ(kernels[0].instructions[1].text, "retq");
}

TEST_F(Exports, TheRoofIsAFactOfTheTrace) {
  EXPECT_FALSE(roof_of(trace_, "CPU"));
  const std::string more = traces::with_facts(
      bytes_, trace_, {{roof_fact("flops", "CPU"), "2e9"}, {roof_fact("bytes", "CPU"), "1e9"}});
  const traces::Trace trace = traces::read_trace(std::as_bytes(std::span(more)), "more");
  EXPECT_EQ(trace.launches.size(), trace_.launches.size());
  const std::optional<Roof> roof = roof_of(trace, "CPU");
  ASSERT_TRUE(roof);
  EXPECT_DOUBLE_EQ(roof->flops, 2e9);
  EXPECT_FALSE(roof_of(trace, "OPENCL"));
  // A second of arithmetic, or two of bytes, in four.
  EXPECT_DOUBLE_EQ(share_of_roof(*roof, 2e9, 0, 4), 0.25);
  EXPECT_DOUBLE_EQ(share_of_roof(*roof, 2e9, 2e9, 4), 0.5);
}

TEST_F(Exports, ThePageIsWholeAndAsksForNothing) {
  const std::string page = html_page(std::as_bytes(std::span(bytes_)));
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_EQ(page.find("<!--data-->"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
}

}  // namespace
}  // namespace croze
