// model.h -- internal to export/: a model with what C adds to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "croze/export/export.h"
#include "croze/export/model.h"
#include "croze/render/c_family/dialect.h"

namespace croze::plain_c {

using exporting::Array;
using exporting::Call;
using exporting::CallSequence;
using exporting::Copy;
using exporting::OpenSize;
using exporting::Place;
using exporting::View;

// A kernel.
struct Function {
  struct Parameter {
    std::string type;  // of the elements in C; empty: it takes a void*
    bool is_written = false;
    std::string comment;
  };
  std::string name, comment, text;
  std::string vector_text;            // for compilers with vectors; empty: the same
  std::vector<Parameter> parameters;  // of buffers
  int variables = 0;                  // numbers that it takes after them
  std::int64_t scratch_bytes = -1;    // -1: it takes none
};

struct CModel : exporting::Model {
  std::vector<c_family::Helper> helpers;
  std::vector<Function> functions;  // by number of the program
  // Memory for the kernels themselves, at the end of the arena: one piece for all, because one runs
  // at a time.
  std::int64_t scratch_offset = 0;
  bool embed_weights = true;
};

// Throws Error as export_c() says.
CModel make_c_model(const StepRecordings& step, const CExportOptions& options);

// The type of an element in C: integers stand for floats that C lacks.
std::string_view c_type(DType t);

// A size, as an expression over the parameters.
std::string in_c(const LaunchSize& size, const exporting::Model& model);
// What such an expression calls: where it divides, and where it takes the greater or the lesser of
// two.
inline constexpr std::string_view divide_name = "croze_floor_div", remainder_name = "croze_mod";
inline constexpr std::string_view greater_name = "croze_greater", lesser_name = "croze_lesser";

// The sizes of an array, how many elements and how many bytes it has, as expressions.
std::vector<std::string> sizes_in_c(const Array& array, const exporting::Model& model);
std::string elements_in_c(const Array& array, const exporting::Model& model);
std::string bytes_in_c(const Array& array, const exporting::Model& model);

}  // namespace croze::plain_c
