// texts.h -- internal to export/: the files of a model.
#pragma once

#include <cstdint>
#include <string>

#include "croze/export/model.h"

namespace croze::plain_c {

std::string header_text(const Model& model);          // NAME.h
std::string source_text(const Model& model);          // NAME.c
std::string weights_header_text(const Model& model);  // NAME_weights.h: arrays
std::string cmake_text(const Model& model);           // CMakeLists.txt
std::string example_text(const Model& model);         // main.c

// A file of weights: a tag that tells it from those of other exports, then at multiples of 64 bytes
// the contents of all weights that are used and of the state at the start.
struct WeightsFile {
  std::string bytes;
  std::uint64_t tag = 0;                     // its first eight bytes
  std::vector<std::int64_t> weights, state;  // where they begin
};
WeightsFile weights_file(const Model& model);

// "float32, shape (2, 3), 6 elements".
std::string describe(const Array& array);
// The parameters of the run function: "model_state* self, const float* x, float* y".
std::string run_parameters(const Model& model);
// Those of the init function.
std::string init_parameters(const Model& model);
// Whether an array's bytes are all zero, so that C needs no list of its elements.
bool is_zero(const Array& array);
// What holds the starting contents of a field of the state.
std::string start_name(const Array& field);

}  // namespace croze::plain_c
