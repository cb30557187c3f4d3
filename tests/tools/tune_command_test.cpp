// croze tune: what one process finds another one uses, without a search of its own.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;

TEST_F(Command, TablesOfTunedKernelsAreShipped) {
  const std::string line = "tune rms_norm --width 1 --device CPU --json --table ";
  const Outcome found = run(line + path("found"), "CROZE_CACHE=0");
  ASSERT_EQ(found.status, 0) << found.err;
  const auto kernels = nlohmann::json::parse(found.out).at("kernels");
  if (kernels.empty()) GTEST_SKIP() << "croze was built without LLVM";
  EXPECT_GT(kernels[0].at("tried"), 0);

  // The table, with edits by which it is recognised.
  std::string table = content(path("found"));
  for (std::size_t end = 0; (end = table.find('\n', end)) != table.npos;) {
    const std::size_t edits = table.rfind('\t', end) + 1;
    const std::string marked = "split r0 by 32";
    table.replace(edits, end - edits, marked);
    end = edits + marked.size() + 1;
  }
  std::filesystem::create_directory(path("shipped"));
  std::ofstream(path("shipped/table")) << table;
  const Outcome used = run(line + path("shipped/table"), "CROZE_CACHE=0 CROZE_DEBUG=3");
  ASSERT_EQ(used.status, 0) << used.err;
  EXPECT_TRUE(nlohmann::json::parse(used.out).at("kernels").empty()) << "searched again";
  EXPECT_NE(used.err.find(": split r0 by 32\n"), std::string::npos) << used.err;
}

}  // namespace
}  // namespace croze
