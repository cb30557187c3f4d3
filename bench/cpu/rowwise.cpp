// rowwise.cpp -- what normalises and sums up rows, columns and everything.
#include "cpu/case.h"
#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/network/functional.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze::bench {
namespace {

// Functions of a matrix, and of as many vectors of the length of its rows.
struct Row {
  const char* name;
  int vectors;
  Out (*compute)(In);
};

constexpr Row functions[] = {
    {"softmax", 0, [](In in) -> Out { return {softmax(in[0])}; }},
    {"log_softmax", 0, [](In in) -> Out { return {log_softmax(in[0])}; }},
    {"layer_norm", 2, [](In in) -> Out { return {layer_norm(in[0], 1, in[1], in[2])}; }},
    {"rms_norm", 1, [](In in) -> Out { return {rms_norm(in[0], 1, in[1], 1e-6)}; }},
    {"sum of rows", 0, [](In in) -> Out { return {sum(in[0], 1)}; }},
    {"max of rows", 0, [](In in) -> Out { return {max(in[0], 1)}; }},
    {"var of rows", 0, [](In in) -> Out { return {var(in[0], 1)}; }},
    {"logsumexp of rows", 0, [](In in) -> Out { return {logsumexp(in[0], 1)}; }},
    {"norm of rows", 0, [](In in) -> Out { return {norm(in[0], 2, 1)}; }},
    {"sum of columns", 0, [](In in) -> Out { return {sum(in[0], 0)}; }},
    {"softmax of columns", 0, [](In in) -> Out { return {softmax(in[0], 0)}; }},
    {"sum of all", 0, [](In in) -> Out { return {sum(in[0])}; }},
};

// In the second level of cache, in the third, and in none.
const Shape sizes[] = {{512, 128}, {256, 2048}, {8192, 2048}, {131072, 128}, {64, 262144}};

}  // namespace

// Sums of numbers around zero are small beside their terms: 1e-2 of them is close enough.
Suite rowwise_suite() {
  Group group{"float32", {.worst = 1}, {}};
  for (const Row& row : functions) {
    for (const Shape& size : sizes) {
      std::vector<Input> inputs(static_cast<std::size_t>(row.vectors) + 1, Input{{size[1]}});
      inputs[0] = {size};
      group.cases.push_back(memory_case(row.name, std::move(inputs), row.compute));
      group.cases.back().tolerance = 1e-2;
    }
  }
  return {"rowwise", Work::Bytes, {std::move(group)}};
}

}  // namespace croze::bench
