// op_table.cpp -- finding rows and calling through them.
#include "croze/tensor/op_table.h"

#include <fmt/format.h>

#include <map>

#include "croze/tensor/op_table/families.h"
#include "croze/tensor/op_table/value_text.h"

namespace croze {
namespace {

// A parameter as written: "dim=-1".
struct Parameter {
  std::string_view name;
  std::optional<Value> standard;
};

// Takes the first of "input, dims=[0, 1], keepdim=false" off the text.
std::string_view take_parameter(std::string_view& text) {
  std::size_t end = 0;
  for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ','); end++) {
    depth += (text[end] == '[') - (text[end] == ']');
  }
  const std::string_view one = text.substr(0, end);
  text.remove_prefix(std::min(end + 2, text.size()));
  return one;
}

std::vector<Parameter> parameters_of(const OpEntry& op) {
  std::vector<Parameter> result;
  std::string_view rest = op.parameters;
  while (!rest.empty()) {
    const std::string_view one = take_parameter(rest);
    const std::size_t equals = one.find('=');
    Parameter parameter{.name = one.substr(0, equals), .standard = std::nullopt};
    if (equals != std::string_view::npos) {
      parameter.standard = ValueReader(one.substr(equals + 1), nullptr).value();
    }
    result.push_back(std::move(parameter));
  }
  ensure(result.size() == op.function->parameter_types.size(),
         "op table: {} names {} parameters and its function has {}", op.name, result.size(),
         op.function->parameter_types.size());
  return result;
}

}  // namespace

bool has_dtype(unsigned kinds, DType dtype) {
  if (dtype == DType::Bool) return kinds & booleans;
  if (is_integer(dtype)) return kinds & integers;
  if (is_float8(dtype)) return kinds & floats8;
  return kinds & (is_half(dtype) ? floats16 : floats64);
}

std::string_view name_of(ResultType type) {
  constexpr std::string_view names[] = {"same", "promoted", "float", "sum",
                                        "bool", "int64",    "given"};
  return names[static_cast<std::size_t>(type)];
}

std::span<const OpFamily> op_families() {
  static const OpFamily families[] = {
      {"Creation", "tensor/tensor.h", creation_ops()},
      {"Conversion", "tensor/tensor.h", conversion_ops()},
      {"Arithmetic", "tensor/elementwise/elementwise.h", arithmetic_ops()},
      {"Bits, logic, comparison and choice", "tensor/elementwise/elementwise.h", logic_ops()},
      {"Elementary functions", "tensor/elementwise/elementwise.h", maths_ops()},
      {"Special functions", "tensor/elementwise/special.h", special_ops()},
      {"Activations", "tensor/elementwise/activation.h", activation_ops()},
      {"Losses and distances", "tensor/network/loss.h", loss_ops()},
      {"Reductions", "tensor/reduce/reduce.h", reduction_ops()},
      {"Movement", "tensor/movement/movement.h", movement_ops()},
      {"Indexing", "tensor/movement/indexing.h", indexing_ops()},
      {"Scans, sorting and counting", "tensor/reduce/sort.h", sorting_ops()},
      {"Products", "tensor/linalg/linalg.h", linalg_ops()},
      {"Equations and factors", "tensor/linalg/solve.h", solve_ops()},
      {"Convolution, pooling and images", "tensor/network/conv.h", conv_ops()},
      {"Transforms and windows", "tensor/signal/fft.h", fft_ops()},
      {"Normalisation, attention and dropout", "tensor/network/functional.h", network_ops()},
  };
  return families;
}

const OpEntry* find_op(std::string_view name) {
  using Ops = std::map<std::string_view, const OpEntry*>;
  static const Ops& ops = *new Ops([] {
    Ops map;
    for (const OpFamily& family : op_families()) {
      for (const OpEntry& op : family.ops) {
        ensure(map.emplace(op.name, &op).second, "op table: {} stands there twice", op.name);
      }
    }
    return map;
  }());
  const auto found = ops.find(name);
  return found == ops.end() ? nullptr : found->second;
}

std::string signature_of(const OpEntry& op) {
  std::string text = fmt::format("{} (", op.function->result_type);
  std::string_view rest = op.parameters;
  for (std::size_t i = 0; i < op.function->parameter_types.size(); i++) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", op.function->parameter_types[i],
                        take_parameter(rest));
  }
  return text + ")";
}

std::vector<std::string_view> parameter_names(const OpEntry& op) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : parameters_of(op)) names.push_back(parameter.name);
  return names;
}

Values bind_arguments(const OpEntry& op, std::span<const NamedValue> named) {
  const std::vector<Parameter> parameters = parameters_of(op);
  Values values;
  std::size_t used = 0;
  for (const Parameter& parameter : parameters) {
    std::optional<Value> value = parameter.standard;
    for (const NamedValue& argument : named) {
      if (argument.name != parameter.name) continue;
      value = argument.value;
      used++;
    }
    if (!value) fail({.op = std::string(op.name)}, "argument '{}' is missing", parameter.name);
    values.push_back(std::move(*value));
  }
  if (used != named.size()) {
    fail({.op = std::string(op.name)}, "there are {} arguments, and only {} of them are parameters",
         named.size(), used);
  }
  return values;
}

std::vector<Tensor> call_op(const OpEntry& op, std::span<const Value> arguments) {
  return op.function->call(arguments);
}

std::vector<Tensor> call_op(const OpEntry& op, std::initializer_list<NamedValue> named) {
  return call_op(op, bind_arguments(op, std::span(named.begin(), named.size())));
}

std::vector<Values> sample_arguments(const OpEntry& op, DType dtype, std::uint64_t seed,
                                     std::string_view device) {
  SampleTensors tensors(dtype, seed, device);
  ValueReader reader(op.samples, &tensors);
  const std::vector<std::string_view> names = parameter_names(op);
  std::vector<Values> samples;
  do {
    std::vector<NamedValue> arguments;
    do {
      std::string_view name = reader.take_name();
      if (name.empty()) name = names.at(arguments.size());
      arguments.push_back({name, reader.value()});
    } while (reader.take(','));
    samples.push_back(bind_arguments(op, arguments));
  } while (reader.take('|'));
  ensure(reader.at_end(), "op table: a sample of {} is malformed", op.name);
  return samples;
}

}  // namespace croze
