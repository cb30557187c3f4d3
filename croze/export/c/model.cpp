// model.cpp -- kernels as functions, and sizes as text.
#include "croze/export/c/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "croze/base/checked.h"
#include "croze/export/c/functions.h"
#include "croze/export/c/machine.h"
#include "croze/export/c/words.h"
#include "croze/export/size_text.h"
#include "croze/render/c_family/c.h"

namespace croze::plain_c {
namespace {

constexpr std::int64_t alignment = 64;

void place_scratch(CModel& model) {
  std::int64_t bytes = 0;
  for (const Function& f : model.functions) bytes = std::max(bytes, f.scratch_bytes);
  if (bytes > 0) {
    model.scratch_offset = checked_add(model.arena_bytes, alignment - 1) & -alignment;
    model.arena_bytes = checked_add(model.scratch_offset, bytes);
  }
  model.arena_bytes = std::max<std::int64_t>(model.arena_bytes, 1);
}

}  // namespace

CModel make_c_model(const StepRecordings& step, const CExportOptions& options) {
  CModel model;
  static_cast<exporting::Model&>(model) =
      exporting::make_model(step,
                            {.name = options.name,
                             .inputs = options.inputs,
                             .outputs = options.outputs,
                             .tensors = options.tensors,
                             .open_sizes = options.open_sizes,
                             .reserved = reserved_words(),
                             .taken = {"self", "arena", "weights", "state"}},
                            machine_called(options.machine));
  model.embed_weights = options.embed_weights;
  for (const LinearProgram& program : model.programs) {
    model.functions.push_back(function_of(program, model.helpers));
  }
  place_scratch(model);
  return model;
}

std::string_view c_type(DType t) {
  const std::string_view type = c_family::c_dialect().type(t);
  if (!type.empty()) return type;
  return size_of(t) == 1 ? "uint8_t" : "uint16_t";
}

std::string in_c(const LaunchSize& size, const exporting::Model& model) {
  return exporting::size_text(size, model.sizes,
                              {divide_name, remainder_name, greater_name, lesser_name});
}

std::vector<std::string> sizes_in_c(const Array& array, const exporting::Model& model) {
  std::vector<std::string> texts;
  for (const LaunchSize& size : array.sizes) texts.push_back(in_c(size, model));
  return texts;
}

std::string elements_in_c(const Array& array, const exporting::Model& model) {
  std::int64_t factor = 1;
  std::string text;
  for (const LaunchSize& size : array.sizes) {
    if (size.is_constant()) {
      factor *= size.value({});
    } else {
      text += (text.empty() ? "" : " * ") + in_c(size, model);
    }
  }
  if (text.empty()) return std::to_string(array.shape.numel());
  return factor == 1 ? text : fmt::format("{} * {}", factor, text);
}

std::string bytes_in_c(const Array& array, const exporting::Model& model) {
  if (array.sizes.empty()) return std::to_string(array.bytes());
  return fmt::format("(size_t)({} * {})", elements_in_c(array, model), size_of(array.dtype));
}

}  // namespace croze::plain_c
