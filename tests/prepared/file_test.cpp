// file_test.cpp -- steps in files: read back they compute the same bits, in another process too,
// and what is no such file is refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "libfuzzer/memory_file.h"
#include "prepared.h"
#include "support/files.h"
#include "support/mutator.h"
#include "support/step_file.h"

namespace croze {
namespace {

using namespace croze::test;

class StepFiles : public FilesTest {
 protected:
  // A step with weights and with state.
  PreparedStep prepared() const {
    auto step = capture([&](const Tensor& x) { return net_(x); });
    step(Tensor::zeros({6}).realize());
    net_.restart();
    return prepare(step, {.inputs = {"row"}, .tensors = {{"hidden", net_.hidden}}});
  }

  static Numbers results_of(const PreparedStep& step) {
    StepInstance instance = step.instance();
    Numbers all;
    for (int i = 0; i < 3; i++) {
      std::ranges::fill(instance.input<float>(0), static_cast<float>(i) - 1);
      instance.run();
      const Numbers values = numbers_of(instance.result<float>(0));
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  static std::string refused(const std::string& path) {
    return error_of([&] { load_step(path); });
  }

  Stream net_;
};

TEST_F(StepFiles, ReadBackItComputesTheSameBits) {
  const PreparedStep step = prepared();
  step.save(path("net.step"));
  const PreparedStep loaded = load_step(path("net.step"));
  EXPECT_EQ(loaded.inputs()[0].name, "row");
  EXPECT_EQ(loaded.state()[0].name, "hidden");
  EXPECT_EQ(loaded.results()[0].shape, Shape({1, 3}));
  EXPECT_EQ(loaded.sizes().memory_bytes, step.sizes().memory_bytes);
  EXPECT_EQ(results_of(loaded), results_of(step));
  loaded.save(path("again.step"));
  EXPECT_EQ(content(path("again.step")), content(path("net.step")));
}

// A process that has recorded nothing and has no compiler.
TEST_F(StepFiles, AnotherProcessRunsItWithoutLlvm) {
  const PreparedStep step = prepared();
  step.save(path("net.step"));
  const std::string command =
      std::string(STEP_PROCESS) + " " + path("net.step") + " >" + path("out");
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string out = content(path("out"));
  const Numbers expected = results_of(step);
  ASSERT_EQ(out.size(), expected.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size()), 0);
}

TEST_F(StepFiles, WeightsMayStandInAFileBesideIt) {
  const PreparedStep step = prepared();
  step.save(path("net.step"), {.weights = "net.weights"});
  EXPECT_LT(file_count(), 3);
  EXPECT_EQ(results_of(load_step(path("net.step"))), results_of(step));
  const std::string weights = content(path("net.weights"));
  file("net.weights", weights.substr(0, weights.size() - 1));
  EXPECT_NE(refused(path("net.step")).find("net.weights is damaged"), std::string::npos);
  std::string others = weights;
  others[24] = static_cast<char>(others[24] + 1);  // their hash
  file("net.weights", others);
  EXPECT_NE(refused(path("net.step")).find("the weights of another step"), std::string::npos);
  std::filesystem::remove(path("net.weights"));
  EXPECT_NE(refused(path("net.step")).find("cannot open"), std::string::npos);
  for (const char* name : {"../w", "net.step", ".."}) {
    EXPECT_NE(error_of([&] { step.save(path("net.step"), {.weights = name}); }), "");
  }
}

TEST_F(StepFiles, AnotherProcessorIsRefusedByWhatItLacks) {
  prepared().save(path("net.step"));
  StepFile parts = StepFile::of(content(path("net.step")));
  std::uint64_t size = 0;
  std::memcpy(&size, parts.head.data(), sizeof(size));
  ASSERT_NE(parts.head.substr(8, size).find("sse3"), std::string::npos);
  parts.head.replace(parts.head.find("sse3"), 4, "mmx9");
  EXPECT_NE(refused(file("other.step", parts.sealed())).find("have mmx9, which this one lacks"),
            std::string::npos);
}

TEST_F(StepFiles, WhatIsNoStepIsRefused) {
  prepared().save(path("net.step"));
  const std::string good = content(path("net.step"));
  const StepFile parts = StepFile::of(good);
  ASSERT_EQ(parts.sealed(), good);
  EXPECT_NE(refused(file("empty", "")).find("no file of a step"), std::string::npos);
  EXPECT_NE(refused(file("text", std::string(100, 'x'))).find("no file of a step"),
            std::string::npos);
  EXPECT_NE(refused(file("new", parts.sealed(2))).find("of version 2"), std::string::npos);
  EXPECT_NE(refused(file("short", good.substr(0, 60))).find("cut short"), std::string::npos);
  EXPECT_NE(refused(file("cut", good.substr(0, good.size() - 4))).find("bytes of weights"),
            std::string::npos);
  std::string changed = good;
  changed[200] ^= 1;
  EXPECT_NE(refused(file("changed", changed)).find("is damaged"), std::string::npos);
}

// The seeds of the libFuzzer target, which are written from the description of the format.
TEST_F(StepFiles, TheFormatIsWhatIsSaidOfIt) {
  const auto seed = [&](const std::string& name) {
    return file(name + ".step", StepFile{content(STEP_SEEDS "/" + name), {}}.sealed());
  };
  const PreparedStep copies = load_step(seed("copies"));
  EXPECT_EQ(copies.inputs()[0].shape, Shape({2, 4}));
  StepInstance instance = copies.instance();
  std::ranges::fill(instance.input<float>(0), 3.f);
  instance.run();
  EXPECT_EQ(numbers_of(instance.result<float>(0)), Numbers(8, 3));
  load_step(seed("state")).instance().run();
  load_step(seed("blocks")).instance().run();
  EXPECT_NE(refused(seed("call")).find("a call is damaged"), std::string::npos);
}

bool is_read(const std::string& bytes) {
  const MemoryFile file(bytes);
  return error_if_any([&] { load_step(file.path()); }).empty();
}

TEST_F(StepFiles, FilesThatAreAlmostRightAreReadOrRefused) {
  prepared().save(path("net.step"));
  const std::string good = content(path("net.step"));
  for_each_mutant({good}, is_read);
  // The same behind a hash that is right.
  StepFile parts = StepFile::of(good);
  const auto is_read_resealed = [&](const std::string& head) {
    parts.head = head;
    return is_read(parts.sealed());
  };
  for_each_mutant({parts.head}, is_read_resealed);
}

}  // namespace
}  // namespace croze
