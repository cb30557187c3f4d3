// packed_rows.h -- bytes times codes of four bits with scales, of which tests of edits make sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "croze/codegen/edits/transform.h"
#include "croze/graph/matrix_unit.h"
#include "support/schedule_runner.h"

namespace croze::test {

// What a kernel of the parameters out, x, packed and scales computes with.
struct PackedRows {
  std::int64_t row_count, column_count;
  std::vector<float> out;
  std::vector<std::int8_t> x;        // rows x length
  std::vector<std::uint8_t> packed;  // columns x length / 2: two codes each
  std::vector<float> scales;         // columns x groups, of few bits, so that nothing is rounded

  PackedRows(std::int64_t rows, std::int64_t columns, std::int64_t length, std::int64_t groups)
      : row_count(rows), column_count(columns), out(static_cast<std::size_t>(rows * columns)) {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> byte(0, 255);
    for (std::int64_t i = 0; i < rows * length; i++)
      x.push_back(static_cast<std::int8_t>(byte(random) - 128));
    for (std::int64_t i = 0; i < columns * length / 2; i++)
      packed.push_back(static_cast<std::uint8_t>(byte(random)));
    for (std::int64_t i = 0; i < columns * groups; i++)
      scales.push_back(static_cast<float>(byte(random)) / 16);
  }

  // The sum of each row and column.
  std::vector<float> sums(const std::function<float(std::int64_t, std::int64_t)>& sum_at) const {
    std::vector<float> result;
    for (std::int64_t i = 0; i < row_count; i++) {
      for (std::int64_t j = 0; j < column_count; j++) result.push_back(sum_at(i, j));
    }
    return result;
  }

  // Runs the kernel, edited so, and returns the edits.
  std::string run(Device& device, UOp kernel, Chooser edit) {
    const std::vector<std::span<std::byte>> bytes{
        std::as_writable_bytes(std::span(out)), std::as_writable_bytes(std::span(x)),
        std::as_writable_bytes(std::span(packed)), std::as_writable_bytes(std::span(scales))};
    std::string edits;
    run_kernel(device, kernel, bytes, [&](KernelState& k) {
      edit(k);
      edits = to_text(k.applied);
    });
    return edits;
  }
};

// Of a processor with vectors of 64 bytes and this matrix unit.
inline Caps caps_with_unit(const char* unit) {
  Caps caps = cpu_shaped_caps();
  caps.vector_bytes = 64;
  caps.matrix_units = {find_matrix_unit(unit)};
  return caps;
}

}  // namespace croze::test
