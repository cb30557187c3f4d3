// bind.cpp -- reading Values as what a parameter wants.
#include "croze/tensor/op_table/bind.h"

#include <fmt/format.h>

#include <algorithm>

namespace croze {
namespace {

std::string_view kind_of(const Value& value) {
  constexpr std::string_view kinds[] = {"None",    "a flag",     "an integer", "a number",
                                        "a text",  "a dtype",    "a tensor",   "a list",
                                        "a slice", "an ellipsis"};
  return kinds[value.index()];
}

}  // namespace

void fail_to_read(const Value& value, std::string_view expected) {
  fail({}, "expected {}, not {}", expected, kind_of(value));
}

bool read_flag(const Value& value) {
  if (const bool* flag = value.get<bool>()) return *flag;
  if (const std::int64_t* integer = value.get<std::int64_t>()) return *integer != 0;
  fail_to_read(value, "a flag");
}

std::int64_t read_integer(const Value& value) {
  if (const std::int64_t* integer = value.get<std::int64_t>()) return *integer;
  if (const bool* flag = value.get<bool>()) return *flag;
  fail_to_read(value, "an integer");
}

double read_number(const Value& value) {
  if (const double* number = value.get<double>()) return *number;
  if (const std::int64_t* integer = value.get<std::int64_t>()) return static_cast<double>(*integer);
  if (const bool* flag = value.get<bool>()) return *flag;
  fail_to_read(value, "a number");
}

Scalar read_scalar(const Value& value) {
  if (const double* number = value.get<double>()) return *number;
  if (const std::int64_t* integer = value.get<std::int64_t>()) return *integer;
  if (const bool* flag = value.get<bool>()) return *flag;
  fail_to_read(value, "a number");
}

std::string_view read_text(const Value& value) {
  if (const std::string* text = value.get<std::string>()) return *text;
  fail_to_read(value, "a text");
}

DType read_dtype(const Value& value) {
  if (const DType* dtype = value.get<DType>()) return *dtype;
  fail_to_read(value, "a dtype");
}

Tensor read_tensor(const Value& value) {
  if (const Tensor* tensor = value.get<Tensor>()) return *tensor;
  if (value.get<std::monostate>()) return {};
  fail_to_read(value, "a tensor");
}

Operand read_operand(const Value& value) {
  if (const Tensor* tensor = value.get<Tensor>()) return *tensor;
  return read_scalar(value);
}

Shape read_shape(const Value& value) {
  Shape shape;
  if (const Values* list = value.get<Values>()) {
    for (const Value& size : *list) shape.push_back(read_integer(size));
  } else {
    shape.push_back(read_integer(value));
  }
  return shape;
}

std::vector<Tensor> read_tensors(const Value& value) {
  std::vector<Tensor> tensors;
  const Values* list = value.get<Values>();
  if (list == nullptr) fail_to_read(value, "a list of tensors");
  for (const Value& tensor : *list) tensors.push_back(read_tensor(tensor));
  return tensors;
}

namespace {

bool is_list_of_integers(const Value& value) {
  const Values* list = value.get<Values>();
  return list != nullptr && !list->empty() && std::ranges::all_of(*list, [](const Value& v) {
           return v.get<std::int64_t>() != nullptr;
         });
}

TensorIndex read_index(const Value& value) {
  if (const Tensor* tensor = value.get<Tensor>()) return *tensor;
  if (const Slice* slice = value.get<Slice>()) return *slice;
  if (value.get<EllipsisType>()) return EllipsisType();
  if (value.get<std::monostate>()) return std::nullopt;
  if (!value.get<Values>()) return read_integer(value);
  std::vector<std::int64_t> positions;
  for (const Value& v : *value.get<Values>()) positions.push_back(read_integer(v));
  return Tensor::from_data(positions, {std::ssize(positions)});
}

}  // namespace

// As in Python, a list of integers is one index and any other list is one index per axis.
std::vector<TensorIndex> read_indices(const Value& value) {
  std::vector<TensorIndex> indices;
  const Values* list = value.get<Values>();
  if (list == nullptr || is_list_of_integers(value)) return {read_index(value)};
  for (const Value& v : *list) indices.push_back(read_index(v));
  return indices;
}

std::vector<double> read_numbers(const Value& value) {
  std::vector<double> numbers;
  if (const Values* list = value.get<Values>()) {
    for (const Value& number : *list) numbers.push_back(read_number(number));
  } else {
    numbers.push_back(read_number(value));
  }
  return numbers;
}

}  // namespace croze
