// source_test.cpp -- kernels in languages whose compilers are not here.  What can be read off the
// text is asked of each kernel: how arguments are bound, which words the language has, how much the
// group shares.  Where there is a clang, it parses all of them as well, HIP C as itself and Metal's
// language by a header that makes its words C++.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "croze/run/devices.h"
#include "support/target_sets.h"

namespace croze::test {
namespace {

using targets::TargetKernel;
namespace fs = std::filesystem;

std::string find_clang() {
  for (const char* name : {"clang", "clang-19", "clang-20", "clang-21"}) {
    if (std::system(fmt::format("{} --version > /dev/null 2>&1", name).c_str()) == 0) return name;
  }
  return {};
}

// Parses many kernels at once, many in a file: clang takes longer to begin than for a kernel.
class Parser {
 public:
  explicit Parser(std::string options) : clang_(find_clang()), options_(std::move(options)) {
    folder_ = (fs::temp_directory_path() / "croze-sources-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~Parser() { fs::remove_all(folder_); }

  void parse(const std::vector<TargetKernel>& kernels, const std::string& ending) {
    if (clang_.empty()) return;
    constexpr std::size_t in_file = 100;
    for (std::size_t first = 0; first < kernels.size(); first += in_file) {
      const std::size_t count = std::min(in_file, kernels.size() - first);
      const std::string file = fmt::format("{}/kernels.{}", folder_, ending),
                        log = folder_ + "/log";
      std::ofstream(file) << targets::joined(std::span(kernels).subspan(first, count));
      const int status =
          std::system(fmt::format("{} {} {} > {} 2>&1", clang_, options_, file, log).c_str());
      std::ifstream in(log);
      EXPECT_EQ(status, 0) << std::string(std::istreambuf_iterator<char>(in), {});
      parsed_ += count;
    }
  }

  std::size_t parsed() const { return parsed_; }

 private:
  std::string clang_, options_, folder_;
  std::size_t parsed_ = 0;
};

// All kernels that other targets compile, given to `check`.
template <typename Check>
std::size_t for_all_kernels(const Target& target, Check check) {
  std::size_t count = 0;
  const auto take = [&](const std::vector<TargetKernel>& kernels) {
    check(kernels);
    count += kernels.size();
  };
  for (const TargetGraph& graph : target_graphs()) take(kernels_of(target, graph));
  OpKernels all(target);
  for (const OpFamily& family : op_families()) take(all.of(family));
  fmt::print("{}: {} calls of the op list, {} left out\n", target.name, all.calls(),
             all.left_out());
  return count;
}

int count_of(const std::string& text, char c) {
  return static_cast<int>(std::ranges::count(text, c));
}

void expect_closed(const std::string& text) {
  EXPECT_EQ(count_of(text, '{'), count_of(text, '}')) << text;
  EXPECT_EQ(count_of(text, '('), count_of(text, ')')) << text;
  EXPECT_EQ(count_of(text, '['), count_of(text, ']')) << text;
}

// ---- Metal --------------------------------------------------------------------------------------

// Metal Shading Language Specification: arguments of kernels are bound to numbers below 31, each
// once (5.2.1); there is no double and no long long (2.1); pointers to buffers name their space
// (4).
void expect_metal(const std::string& text, std::int64_t group_memory) {
  static const std::regex number("\\[\\[buffer\\((\\d+)\\)\\]\\]");
  std::set<int> bound;
  for (std::sregex_iterator i(text.begin(), text.end(), number), end; i != end; ++i) {
    const int at = std::stoi((*i)[1]);
    EXPECT_LT(at, 31) << text;
    EXPECT_TRUE(bound.insert(at).second) << text;
  }
  static const std::regex foreign("\\b(double|long long|restrict|__[a-z]+|size_t)\\b");
  EXPECT_FALSE(std::regex_search(text, foreign)) << text;
  const std::size_t start = text.find("[[kernel");
  const std::string head = text.substr(start, text.find(") {\n", start) - start);
  EXPECT_EQ(std::ranges::count(head, '*'), static_cast<int>(bound.size())) << head;
  static const std::map<std::string, int> sizes{{"uchar", 1},  {"char", 1}, {"short", 2},
                                                {"ushort", 2}, {"int", 4},  {"uint", 4},
                                                {"float", 4},  {"long", 8}, {"ulong", 8}};
  static const std::regex shared("threadgroup (\\w+) l\\d+\\[(\\d+)\\];");
  std::int64_t bytes = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), shared), end; i != end; ++i) {
    bytes += sizes.at((*i)[1]) * std::stoll((*i)[2]);
  }
  EXPECT_LE(bytes, group_memory) << text;
}

TEST(Sources, KernelsInMetalsLanguageKeepItsRules) {
  const Target target = target_named("metal");
  Parser parser(
      "-x c++ -std=c++20 -fsyntax-only -Wall -Werror -Wno-unused -Wno-tautological-compare "
      "-Wno-unknown-attributes "
      "-I " AMD_SHIMS " -include metal_stdlib");
  const std::size_t kernels = for_all_kernels(target, [&](const auto& all) {
    for (const TargetKernel& k : all) {
      expect_closed(k.source);
      expect_metal(k.source, target.caps.group_memory);
    }
    parser.parse(all, "metal");
  });
  fmt::print("metal: {} kernels, {} of them parsed by clang\n", kernels, parser.parsed());
  EXPECT_GE(kernels, 1000u);
}

// ---- HIP ----------------------------------------------------------------------------------------

TEST(Sources, KernelsInHipCAreParsed) {
  const Target target = target_named("hip");
  Parser parser(
      "-x hip --cuda-device-only --offload-arch=gfx942 -nogpuinc -nogpulib -fsyntax-only "
      "-Wall -Werror -Wno-unused -Wno-tautological-compare -include " AMD_SHIMS "/hip.h");
  const std::size_t kernels = for_all_kernels(target, [&](const auto& all) {
    for (const TargetKernel& k : all) {
      expect_closed(k.source);
      EXPECT_TRUE(k.source.starts_with("// group memory: ")) << k.source;
      EXPECT_NE(k.source.find("extern \"C\" __global__ void __launch_bounds__("),
                std::string::npos);
    }
    parser.parse(all, "hip");
  });
  fmt::print("hip: {} kernels, {} of them parsed by clang\n", kernels, parser.parsed());
  EXPECT_GE(kernels, 1000u);
}

}  // namespace
}  // namespace croze::test
