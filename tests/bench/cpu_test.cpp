// croze-bench cpu, as a user runs it: what it reports, whatever the speed of the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command_line/process.h"

namespace croze {
namespace {

using nlohmann::json;

ProcessResult bench_cpu(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {CROZE_BENCH, "cpu", "--rounds", "2", "--seconds", "0.001", "--json"});
  return run_process(std::move(arguments));
}

TEST(BenchCpu, ReportsACaseWithItsLimits) {
  const ProcessResult result = bench_cpu({"--suite", "gemm", "--case", "^gemm 64x64x64$"});
  const json report = json::parse(result.output);
  EXPECT_EQ(report.at("suite"), "cpu gemm");
  ASSERT_EQ(report.at("cases").size(), 1u);
  const json& measured = report["cases"][0];
  EXPECT_EQ(measured.at("inputs"), json({"(64, 64) float32", "(64, 64) float32"}));
  EXPECT_EQ(measured.at("work"), 2.0 * 64 * 64 * 64);
  EXPECT_LE(measured.at("kept").at("lower_quartile_ms"),
            measured.at("kept").at("upper_quartile_ms"));
  ASSERT_EQ(report.at("results").size(), 1u);
  EXPECT_EQ(report["results"][0].at("limit"), 1.15);
  EXPECT_EQ(report.at("holds"), report["results"][0].at("holds"));
  EXPECT_EQ(result.status, report["holds"] ? 0 : 1);
}

TEST(BenchCpu, PeersThatAreMissingAreNamedAndGiveNoRatio) {
  const ProcessResult result = bench_cpu({"--suite", "conv", "--case", "^transposed 100.* batch 1$",
                                          "--peers", "--python", "/missing"});
  const json report = json::parse(result.output);
  EXPECT_NE(report.at("skipped").at("PyTorch").get<std::string>().find("/missing"),
            std::string::npos);
  ASSERT_EQ(report.at("cases").size(), 1u);
  EXPECT_TRUE(report["cases"][0].at("peers").empty());
  EXPECT_FALSE(report["cases"][0].contains("times_best_peer"));
}

}  // namespace
}  // namespace croze
