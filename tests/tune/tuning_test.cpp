// CROZE_BEAM and CROZE_TUNED: what a search finds is kept, used again, and never a danger.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "croze/base/options.h"
#include "croze/graph/observer.h"
#include "croze/run/devices.h"
#include "croze/run/programs.h"
#include "croze/tensor/tensor.h"

namespace croze {
namespace {

class Watch : public CompileObserver {
 public:
  void tuned(const TuningReport& report) override {
    reports++;
    tried += report.tried;
    EXPECT_GT(report.seconds, 0);
    EXPECT_LE(report.seconds, report.model_seconds);
  }
  void edited(std::string_view edits) override { last_edits = edits; }

  int reports = 0, tried = 0;
  std::string last_edits;
};

class Tuning : public testing::Test {
 protected:
  Tuning() { std::filesystem::remove(path_); }
  ~Tuning() override { std::filesystem::remove(path_); }

  static bool can_compile() { return device(default_device()).name() == "CPU"; }

  // Sums of rows, on the CPU; no other test makes this kernel.
  static float sums() {
    const Tensor x = Tensor::full({200, 300}, 2.0f).contiguous();
    return x.square().sum({1}).to_vector<float>()[199];
  }

  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_ = testing::TempDir() + "croze_tuning_test.txt";
};

TEST_F(Tuning, FindsKeepsAndUsesEdits) {
  if (!can_compile()) GTEST_SKIP() << "croze was built without LLVM";
  Watch watch;
  const Observing watching(watch);
  const Options::Scope table{{Option::Tuned, path_}};
  {
    const Options::Scope search{{Option::Beam, 1}};
    EXPECT_EQ(sums(), 1200.0f);
    EXPECT_GE(watch.reports, 1);
    EXPECT_GT(watch.tried, 0);
  }
  const std::string kept = text();
  EXPECT_NE(kept.find("CPU "), std::string::npos);
  const int reports = watch.reports;
  clear_program_cache();
  EXPECT_EQ(sums(), 1200.0f);
  EXPECT_EQ(watch.reports, reports);

  // Another process reads the file: here, the same file under another name.  Edits that the kernel
  // does not take are no error.
  std::string other = kept;
  const std::size_t edits = other.rfind('\t', other.find('\n'));
  other = other.substr(0, edits) + "\tsplit r77 by 3\n";
  const std::string shipped = path_ + ".shipped";
  std::ofstream(shipped) << other;
  const Options::Scope shipped_table{{Option::Tuned, shipped}};
  clear_program_cache();
  EXPECT_EQ(sums(), 1200.0f);
  std::filesystem::remove(shipped);
}

}  // namespace
}  // namespace croze
