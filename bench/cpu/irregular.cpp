// irregular.cpp -- what moves data and looks for places: transposes, joins, gathers, scans, sorts.
#include <utility>

#include "cpu/case.h"
#include "croze/tensor/movement/indexing.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/reduce/reduce.h"
#include "croze/tensor/reduce/scan.h"
#include "croze/tensor/reduce/sort.h"

namespace croze::bench {
namespace {

Out both(const ValuesAndIndices& pair) { return {pair.values, pair.indices}; }

Input integers(const Shape& shape, std::int64_t below) { return {shape, DType::Int64, below}; }

// Rows of a table that are read and written, and the indices that say which.
Case lookup_case(const char* name, const Shape& table, std::int64_t count, Compute compute) {
  Case c = memory_case(name, {{table}, integers({count}, table[0])}, std::move(compute));
  c.work = static_cast<double>(count) * (2 * 4.0 * static_cast<double>(table[1]) + 8);
  c.least_of_peak = 0;
  return c;
}

void add_movement(std::vector<Case>& cases) {
  const auto transposed = [](In in) -> Out { return {transpose(in[0]).contiguous()}; };
  for (const Shape& size : {Shape{512, 512}, Shape{4096, 4096}, Shape{131072, 128}}) {
    cases.push_back(memory_case("transpose", {{size}}, transposed));
  }
  cases.push_back(memory_case("to channels last", {{{32, 64, 56, 56}}}, [](In in) -> Out {
    return {permute(in[0], {0, 2, 3, 1}).contiguous()};
  }));
  cases.push_back(memory_case("swap heads", {{{8, 1024, 12, 64}}},
                              [](In in) -> Out { return {transpose(in[0], 1, 2).contiguous()}; }));
  cases.push_back(memory_case("join rows", {{{4096, 2048}}, {{4096, 2048}}}, [](In in) -> Out {
    return {cat({in[0], in[1]}, 0)};
  }));
  cases.push_back(memory_case("join columns", {{{4096, 2048}}, {{4096, 2048}}}, [](In in) -> Out {
    return {cat({in[0], in[1]}, 1)};
  }));
  cases.push_back(memory_case("pad", {{{32, 64, 56, 56}}}, [](In in) -> Out {
    return {pad(in[0], {1, 1, 1, 1})};
  }));
}

void add_lookups(std::vector<Case>& cases) {
  cases.push_back(lookup_case("embedding", {50257, 768}, 8192,
                              [](In in) -> Out { return {embedding(in[0], in[1])}; }));
  cases.push_back(lookup_case("embedding", {1000, 64}, 512,
                              [](In in) -> Out { return {embedding(in[0], in[1])}; }));
  cases.push_back(lookup_case("index_select", {100000, 128}, 100000,
                              [](In in) -> Out { return {index_select(in[0], 0, in[1])}; }));
  for (const Shape& size : {Shape{256, 1024}, Shape{4096, 4096}}) {
    cases.push_back(memory_case("gather", {{size}, integers(size, size[1])},
                                [](In in) -> Out { return {gather(in[0], 1, in[1])}; }));
  }
  cases.push_back(memory_case("index_add",
                              {{{10000, 128}}, integers({65536}, 10000), {{65536, 128}}},
                              [](In in) -> Out { return {index_add(in[0], 0, in[1], in[2])}; }));
}

void add_scans(std::vector<Case>& cases) {
  for (const Shape& size : {Shape{64, 1024}, Shape{1024, 4096}, Shape{1 << 24}}) {
    cases.push_back(
        memory_case("cumsum", {{size}}, [](In in) -> Out { return {cumsum(in[0], -1)}; }));
  }
  cases.push_back(memory_case("cumsum of columns", {{{4096, 4096}}},
                              [](In in) -> Out { return {cumsum(in[0], 0)}; }));
  for (const Shape& size : {Shape{512, 1000}, Shape{8192, 2048}, Shape{131072, 128}}) {
    cases.push_back(
        memory_case("argmax", {{size}}, [](In in) -> Out { return {argmax(in[0], 1)}; }));
  }
  cases.push_back(memory_case("argmax of columns", {{{8192, 2048}}},
                              [](In in) -> Out { return {argmax(in[0], 0)}; }));
  cases.push_back(memory_case("max with indices", {{{8192, 2048}}},
                              [](In in) -> Out { return both(max_with_indices(in[0], 1)); }));
  for (Case& c : cases) c.tolerance = 1e-2;  // of sums around zero
}

void add_sorts(std::vector<Case>& cases) {
  std::vector<Case> sorts;
  for (const Shape& size : {Shape{1 << 12}, Shape{1 << 20}, Shape{4096, 1024}, Shape{65536, 32}}) {
    sorts.push_back(memory_case("sort", {{size}}, [](In in) -> Out { return both(sort(in[0])); }));
  }
  for (const Shape& size : {Shape{1, 50257}, Shape{64, 50257}, Shape{4096, 1024}}) {
    sorts.push_back(
        memory_case("topk", {{size}}, [](In in) -> Out { return both(topk(in[0], 50)); }));
  }
  for (Case& c : sorts) {
    c.has_places = true;
    cases.push_back(std::move(c));
  }
}

}  // namespace

Suite irregular_suite() {
  Group group{"functions", {.worst = 1}, {}};
  add_movement(group.cases);
  add_lookups(group.cases);
  add_scans(group.cases);
  add_sorts(group.cases);
  return {"irregular", Work::Bytes, {std::move(group)}};
}

}  // namespace croze::bench
