// onnx_case.h -- one recorded test of the ONNX project: a model, inputs, and the outputs wanted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croze::tool {

struct OnnxCase {
  std::string group;  // "node", "simple", ...
  std::string name;
  std::string model;                  // path
  std::vector<std::string> datasets;  // folders with input_N.pb and output_N.pb
  std::string output;                 // of a light model: the one recorded output
};

enum class Outcome { Passed, Failed, Unsupported, Crashed };
std::string_view name_of(Outcome outcome);

struct OnnxResult {
  OnnxCase test;
  Outcome outcome = Outcome::Passed;
  std::string finding;  // what was not as wanted
  double seconds = 0;
};

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

// The cases under a folder: groups of cases, a group, or a case.  In order of group and name.
std::vector<OnnxCase> find_onnx_cases(const std::string& folder);

// Runs a case in this process.
OnnxResult run_onnx_case(const OnnxCase& test, const Tolerance& tolerance);

}  // namespace croze::tool
