// exported.h -- steps that are exported, compiled by a C compiler and run as a process.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "croze/export/export.h"
#include "croze/jit/recording.h"
#include "croze/schedule/schedule.h"
#include "support/files.h"
#include "support/schedule_runner.h"

namespace croze::test {

// A parameter of the run function, for a program that calls it.
struct CPort {
  std::string type;  // "float"
  std::int64_t elements = 0;
};

// Tests with a compiler as parameter, "gcc" or "clang" or one for other processors.  Skipped where
// it is missing.
class ExportTest : public FilesTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override;

  // The warnings that every exported file must be free of.
  static constexpr const char* strict = "-std=c11 -Wall -Wextra -Werror -pedantic -O3";
  // Beside strict, and what runs the programs: a command with a blank at its end.
  std::string flags_ = {}, runner_ = {};

  std::string out() const { return path("out"); }  // where models are exported to
  // Compiles a program with the model's source; returns its path.  The test fails if the compiler
  // says anything.
  std::string compile(const std::string& model, const std::string& main_text) const;
  // The model's source alone, likewise.
  void compile_alone(const std::string& model) const;
  // What the program writes, given this input.  The test fails if it does not end with 0.
  std::string run(const std::string& program, const std::string& input = {}) const;
  // The results of all runs, one after the other, from the inputs of all runs.
  std::string results(const std::string& model, const std::vector<CPort>& inputs,
                      const std::vector<CPort>& outputs, const std::string& input) const;

 private:
  std::string compiler_;
};

inline std::string compiler_name(const testing::TestParamInfo<const char*>& test) {
  return test.param;
}

// A command of the PATH; empty if there is none.
std::string find_command(const std::string& name);

// A program that runs a model over the inputs that it reads, until there are no more, each time in
// an arena full of noise.  `before` is what it does before each run.
std::string driver(const std::string& model, const std::vector<CPort>& inputs,
                   const std::vector<CPort>& outputs, const std::string& before = {});

// The interpreter's own run of a step, scheduled for the machine of exports: the same roundings in
// the same order, so the same bits.
class Reference {
 public:
  explicit Reference(const Step& step, const std::string& machine = "portable");

  // The results one after the other; what the step assigns to is kept for the next run.
  std::string run(std::span<const Tensor> inputs);

 private:
  StepRecording recording_;
  std::unique_ptr<Device> device_;
  Schedule schedule_;
  std::vector<Bytes> memory_;  // by number of the place
  std::uint64_t draws_ = 0;
};

std::string bytes_of(const Tensor& tensor);
// Says where they differ, and does not print them.
void expect_same_bits(const std::string& bytes, const std::string& expected);
std::vector<float> floats_of(const std::string& bytes);

// The greatest difference, in units of the last place of the greatest value.
double distance_in_ulps(const std::vector<float>& values, const std::vector<float>& expected);

}  // namespace croze::test
