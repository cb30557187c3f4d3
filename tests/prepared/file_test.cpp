// file_test.cpp -- steps in files: read back they compute the same bits, in another process too,
// and what is no such file is refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "croze/base/hash.h"
#include "io/mutator.h"
#include "libfuzzer/memory_file.h"
#include "prepared.h"
#include "support/files.h"

namespace croze {
namespace {

using namespace croze::test;

// A file taken apart and put together by what croze/prepared/file.cpp says of the format.
struct Parts {
  std::string head, weights;

  static constexpr std::size_t front = 32, page = 4096;

  explicit Parts(const std::string& bytes) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + 16, sizeof(size));
    head = bytes.substr(front, size);
    weights = bytes.substr((front + size + page - 1) / page * page);
  }

  // With the hash of what the head is now.
  std::string sealed(std::uint32_t version = 1) const {
    std::string bytes = "CROZSTEP";
    const std::uint64_t words[] = {version, head.size(), hash_bytes(head)};
    bytes.append(reinterpret_cast<const char*>(words), sizeof(words));
    bytes += head;
    bytes.resize((bytes.size() + page - 1) / page * page);
    return bytes + weights;
  }
};

class StepFile : public FilesTest {
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

TEST_F(StepFile, ReadBackItComputesTheSameBits) {
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
TEST_F(StepFile, AnotherProcessRunsItWithoutLlvm) {
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

TEST_F(StepFile, WeightsMayStandInAFileBesideIt) {
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

TEST_F(StepFile, AnotherProcessorIsRefusedByWhatItLacks) {
  prepared().save(path("net.step"));
  Parts parts(content(path("net.step")));
  std::uint64_t size = 0;
  std::memcpy(&size, parts.head.data(), sizeof(size));
  ASSERT_NE(parts.head.substr(8, size).find("sse3"), std::string::npos);
  parts.head.replace(parts.head.find("sse3"), 4, "mmx9");
  EXPECT_NE(refused(file("other.step", parts.sealed())).find("have mmx9, which this one lacks"),
            std::string::npos);
}

TEST_F(StepFile, WhatIsNoStepIsRefused) {
  prepared().save(path("net.step"));
  const std::string good = content(path("net.step"));
  const Parts parts(good);
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

bool is_read(const std::string& bytes) {
  const MemoryFile file(bytes);
  return error_if_any([&] { load_step(file.path()); }).empty();
}

TEST_F(StepFile, FilesThatAreAlmostRightAreReadOrRefused) {
  prepared().save(path("net.step"));
  const std::string good = content(path("net.step"));
  for_each_mutant({good}, is_read);
  // The same behind a hash that is right.
  Parts parts(good);
  const auto is_read_resealed = [&](const std::string& head) {
    parts.head = head;
    return is_read(parts.sealed());
  };
  for_each_mutant({parts.head}, is_read_resealed);
}

}  // namespace
}  // namespace croze
