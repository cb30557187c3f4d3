// texts.h -- internal to export/: the files of a model.
#pragma once

#include <string>

#include "croze/export/c/model.h"
#include "croze/export/weights_file.h"

namespace croze::plain_c {

std::string header_text(const CModel& model);          // NAME.h
std::string source_text(const CModel& model);          // NAME.c
std::string weights_header_text(const CModel& model);  // NAME_weights.h: arrays
std::string cmake_text(const CModel& model);           // CMakeLists.txt
std::string example_text(const CModel& model);         // main.c

// NAME.weights, in place of the arrays.
exporting::WeightsFile weights_beside(const CModel& model);

// "float32, shape (2, 3), 6 elements".
std::string describe(const Array& array, const CModel& model);
// The parameters of the run function: "model_state* self, const float* x, float* y".
std::string run_parameters(const CModel& model);
// Those of the init function.
std::string init_parameters(const CModel& model);
// What holds the starting contents of a field of the state.
std::string start_name(const Array& field);

}  // namespace croze::plain_c
