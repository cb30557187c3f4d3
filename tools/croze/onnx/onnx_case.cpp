// onnx_case.cpp -- finding, running and judging the recorded tests of ONNX.
#include "onnx_case.h"

#include <croze/base/error.h>
#include <croze/io/onnx/model.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "onnx_drawn.h"

namespace croze::tool {
namespace {

namespace fs = std::filesystem;
using onnx::Value;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

std::vector<std::string> datasets_of(const fs::path& folder) {
  std::vector<std::string> result;
  for (const fs::path& entry : sorted_entries(folder)) {
    if (entry.filename().string().starts_with("test_data_set_")) result.push_back(entry.string());
  }
  return result;
}

// ---- comparing --------------------------------------------------------------------------------

// numpy.testing.assert_allclose: infinities and NaN must stand in the same places.
bool is_close(double a, double wanted, const Tolerance& tolerance) {
  if (std::isnan(a) || std::isnan(wanted)) return std::isnan(a) && std::isnan(wanted);
  if (std::isinf(a) || std::isinf(wanted)) return a == wanted;
  return std::abs(a - wanted) <= tolerance.absolute + tolerance.relative * std::abs(wanted);
}

// What is wrong with the kind, type and shape of a value; empty if nothing is.
std::string difference_in_type(const Value& value, const Value& wanted) {
  const bool has_elements = !wanted.is_nothing() && wanted.kind() != Value::Kind::Sequence;
  const bool is_same = value.kind() == wanted.kind() &&
                       (!has_elements || (value.element_type() == wanted.element_type() &&
                                          value.shape() == wanted.shape()));
  return is_same ? "" : fmt::format("gives {}, not {}", describe(value), describe(wanted));
}

// The same of all of a value.
std::string difference(const Value& value, const Value& wanted, const Tolerance& tolerance) {
  std::string in_type = difference_in_type(value, wanted);
  if (!in_type.empty() || value.is_nothing()) return in_type;
  if (value.kind() == Value::Kind::Sequence) {
    const std::size_t count = wanted.items().size();
    if (value.items().size() != count) return fmt::format("a sequence of {}", value.items().size());
    for (std::size_t i = 0; i < count; i++) {
      const std::string text = difference(value.items()[i], wanted.items()[i], tolerance);
      if (!text.empty()) return fmt::format("item {}: {}", i, text);
    }
    return {};
  }
  if (value.kind() == Value::Kind::Texts) {
    return value.texts().elements == wanted.texts().elements ? "" : "other texts";
  }
  const auto a = value.tensor().to_vector<double>(), b = wanted.tensor().to_vector<double>();
  std::int64_t wrong = 0, first = -1;
  for (std::size_t i = 0; i < a.size(); i++) {
    if (is_close(a[i], b[i], tolerance)) continue;
    if (wrong++ == 0) first = static_cast<std::int64_t>(i);
  }
  if (wrong == 0) return {};
  const auto i = static_cast<std::size_t>(first);
  return fmt::format("{} of {} elements differ, the first is {} and not {}", wrong, a.size(), a[i],
                     b[i]);
}

// ---- running ----------------------------------------------------------------------------------

onnx::Recorded kind_of(const onnx::Port& port) {
  if (port.type.starts_with("sequence")) return onnx::Recorded::Sequence;
  return port.is_optional ? onnx::Recorded::Optional : onnx::Recorded::Tensor;
}

std::string numbered(const std::string& folder, const char* kind, std::size_t i) {
  return fmt::format("{}/{}_{}.pb", folder, kind, i);
}

// bfloat16 is recorded as the bits of it, in uint16: NumPy has no such numbers.
Value recorded(const std::string& path, const onnx::Port& port) {
  const Value value = onnx::load_recorded(path, kind_of(port));
  const bool is_bits = port.element == onnx::ElementType::BFloat16 &&
                       value.element_type() == onnx::ElementType::UInt16;
  return is_bits ? Value(value.tensor().bitcast(DType::BFloat16)) : value;
}

std::map<std::string, Value> recorded_inputs(const onnx::Model& model, const std::string& folder) {
  std::map<std::string, Value> inputs;
  std::size_t i = 0;
  for (const onnx::Port& port : model.inputs()) {
    if (port.has_default) continue;
    const std::string path = numbered(folder, "input", i++);
    if (fs::exists(path)) inputs[port.name] = recorded(path, port);
  }
  return inputs;
}

// Light models come without inputs: 0, 1/n, 2/n, ... is what their outputs were recorded for.
std::map<std::string, Value> ramp_inputs(const onnx::Model& model) {
  std::map<std::string, Value> inputs;
  for (const onnx::Port& port : model.inputs()) {
    if (port.has_default) continue;
    Shape shape;
    for (const onnx::Dimension& dim : port.shape)
      shape.push_back(std::max<std::int64_t>(dim.size, 1));
    std::vector<float> ramp;
    const std::int64_t n = shape.numel();
    for (std::int64_t i = 0; i < n; i++) {
      ramp.push_back(static_cast<float>(static_cast<double>(i) / static_cast<double>(n)));
    }
    inputs[port.name] = Tensor::from_data(ramp, shape);
  }
  return inputs;
}

// Compares all outputs that a folder records, as `compare` does one.
template <typename Compare>
std::string difference_from_recording(const onnx::Model& model, const std::string& folder,
                                      const std::map<std::string, Value>& outputs,
                                      Compare compare) {
  for (std::size_t i = 0; i < model.outputs().size(); i++) {
    const onnx::Port& port = model.outputs()[i];
    const std::string path = numbered(folder, "output", i);
    if (!fs::exists(path)) continue;
    const std::string text = compare(outputs.at(port.name), recorded(path, port));
    if (!text.empty()) return fmt::format("output \"{}\": {}", port.name, text);
  }
  return {};
}

// The values of these ports, in their order.
Values in_order(const std::vector<onnx::Port>& ports, const std::map<std::string, Value>& values) {
  Values result;
  for (const onnx::Port& port : ports) {
    if (values.contains(port.name)) result.push_back(values.at(port.name));
  }
  return result;
}

std::string judge_drawn(DrawnLaw law, const onnx::Model& model, const std::string& folder) {
  constexpr int num_draws = 64;
  const std::map<std::string, Value> inputs = recorded_inputs(model, folder);
  std::vector<Values> draws;
  for (int i = 0; i < num_draws; i++) {
    const auto outputs = model.run(inputs);
    std::string text = difference_from_recording(model, folder, outputs, difference_in_type);
    if (!text.empty()) return text;
    draws.push_back(in_order(model.outputs(), outputs));
  }
  return difference_from_law(law, in_order(model.inputs(), inputs), draws);
}

std::string judge(const OnnxCase& test, const Tolerance& tolerance) {
  const onnx::Model model(test.model);
  if (!test.output.empty()) {
    const auto outputs = model.run(ramp_inputs(model));
    const Value wanted = onnx::load_recorded(test.output, onnx::Recorded::Tensor);
    return difference(outputs.at(model.outputs()[0].name), wanted, tolerance);
  }
  const DrawnLaw law = drawn_law(test.group, test.name);
  const auto compare = [&](const Value& value, const Value& wanted) {
    return difference(value, wanted, tolerance);
  };
  for (const std::string& folder : test.datasets) {
    const std::string text =
        law != DrawnLaw::None
            ? judge_drawn(law, model, folder)
            : difference_from_recording(model, folder, model.run(recorded_inputs(model, folder)),
                                        compare);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Passed: return "passed";
    case Outcome::Failed: return "failed";
    case Outcome::Unsupported: return "unsupported";
    case Outcome::Crashed: return "crashed";
  }
  return "unknown";
}

std::vector<OnnxCase> find_onnx_cases(const std::string& folder) {
  check(fs::is_directory(folder), "{} is not a folder", folder);
  std::vector<OnnxCase> cases;
  std::vector<fs::path> stack{fs::canonical(folder)};
  while (!stack.empty()) {
    const fs::path here = stack.back();
    stack.pop_back();
    const std::string group = here.parent_path().filename().string();
    if (fs::exists(here / "model.onnx")) {
      cases.push_back(
          {group, here.filename().string(), (here / "model.onnx").string(), datasets_of(here), ""});
      continue;
    }
    for (const fs::path& entry : sorted_entries(here)) {
      if (fs::is_directory(entry)) stack.push_back(entry);
      const std::string name = entry.stem().string();
      const fs::path output = here / (name + "_output_0.pb");
      if (entry.extension() == ".onnx" && fs::exists(output)) {
        cases.push_back({here.filename().string(), name, entry.string(), {}, output.string()});
      }
    }
  }
  std::ranges::sort(cases, {}, [](const OnnxCase& c) { return std::pair(c.group, c.name); });
  return cases;
}

OnnxResult run_onnx_case(const OnnxCase& test, const Tolerance& tolerance) {
  OnnxResult result{.test = test};
  const auto begin = std::chrono::steady_clock::now();
  try {
    result.finding = judge(test, tolerance);
    if (!result.finding.empty()) result.outcome = Outcome::Failed;
  } catch (const Error& e) {
    result.outcome = Outcome::Unsupported;
    result.finding = e.message();
  } catch (const std::exception& e) {
    result.outcome = Outcome::Crashed;
    result.finding = e.what();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace croze::tool
