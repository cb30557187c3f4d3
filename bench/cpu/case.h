// case.h -- what the bench of the CPU measures, as data: croze and its peers compute a case from
// one description, with the same numbers as inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command_line/json.h"
#include "croze/tensor/tensor.h"

namespace croze::bench {

// A tensor of numbers that every contestant makes by the same formula: floats in [-1, 1) or, if
// `below` is 1, in [0, 1); integers in [0, below), or in [-127, 127] where `below` is 0.
struct Input {
  Shape shape;
  DType dtype = DType::Float32;
  std::int64_t below = 0;
};

// Runs of one step in croze, with the tensors that it reads and writes.
struct Runs {
  std::function<void()> kept;        // results lie where those of the run before did
  std::function<void()> fresh = {};  // results are new tensors in each run; null: not measured
  std::vector<Tensor> results;
  std::int64_t kernels = 0;
};

// What a case computes of what.
using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;
using Compute = std::function<Out(In inputs)>;

struct Case {
  std::string name;
  std::string operation;  // by this name peers know what to compute
  Json options = Json::object();
  std::vector<Input> inputs;
  double work = 0;                  // operations, or bytes that move; 0: inputs and results once
  double most_compile_seconds = 0;  // until the first result; 0: no limit
  double least_of_peak = 0;         // part of what the processor can do; 0: no limit
  double tolerance = 1e-3;  // how far results may differ, in parts of their root mean square
  bool has_places = false;  // results after the first are places, of which equal elements have many
  std::function<Runs(const std::vector<Tensor>& inputs)> prepare;
};

// Captured steps of a function from tensors to tensors, kept and fresh.
std::function<Runs(const std::vector<Tensor>&)> steps_of(Compute compute);

// A case that is bound by memory, named by the operation and the sizes of its first input.  One
// that no cache holds is to come close to copying.
Case memory_case(std::string operation, std::vector<Input> inputs, Compute compute);

// Attention of queries, keys and values of these sizes: (batch, heads, length, width).
Case attention_case(const Input& input, bool is_causal, bool is_backward);

std::string text_of_sizes(const Shape& sizes);  // "8192x2048"

// The seeds of the inputs of a case are 1, 2, ..
std::vector<float> input_numbers(const Input& input, unsigned seed);
Tensor input_tensor(const Input& input, unsigned seed);
std::vector<Tensor> input_tensors(const Case& c);

// Something to recognise a result by.
struct Signature {
  std::int64_t count = 0;
  double norm = 0;           // root of the sum of squares
  std::vector<double> some;  // elements, evenly spaced
};
std::vector<std::int64_t> signature_places(std::int64_t count);
Signature signature_of(const Tensor& result);
// Throws Error, naming the peer, if it computed something else.
void check_same(const Case& c, const std::vector<Signature>& ours, const std::string& peer,
                const std::vector<Signature>& theirs);

// ---- suites -----------------------------------------------------------------------------------

// What speeds relative to the best peer must be at least; 0: no limit.
struct Limits {
  double geometric_mean = 0, worst = 0;
};

enum class Work { Operations, Bytes, Runs };

struct Group {
  std::string name;
  Limits limits;
  std::vector<Case> cases;
};

struct Suite {
  std::string name;
  Work work = Work::Operations;
  std::vector<Group> groups;
  std::vector<std::string> missing = {};  // files without which cases are left out
};

Suite attention_suite();
Suite conv_suite();
Suite elementwise_suite();
Suite gemm_suite();
Suite gemv_suite();
Suite irregular_suite();
Suite onnx_suite();
Suite rowwise_suite();
Suite train_suite();

}  // namespace croze::bench
