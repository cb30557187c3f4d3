// recording.cpp -- the format is described in make_torch.py.
#include "golden/recording.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "croze/base/error.h"
#include "croze/io/gzip.h"
#include "croze/tensor/movement/movement.h"

namespace croze::test {
namespace {

using Json = nlohmann::ordered_json;

DType dtype_named(const std::string& name) {
  const std::optional<DType> dtype = dtype_from_name(name);
  check(dtype.has_value(), "a recording has the dtype {}", name);
  return *dtype;
}

double float_named(const std::string& name) {
  if (name == "inf") return HUGE_VAL;
  return name == "-inf" ? -HUGE_VAL : std::nan("");
}

// Memory with the axes in reverse order, and the view that has them in the right one.
Tensor transposed_view(const RecordedTensor& t) {
  const int rank = t.shape.size();
  Shape reversed, order;
  for (int i = rank - 1; i >= 0; i--) {
    reversed.push_back(t.shape[i]);
    order.push_back(i);
  }
  const auto size = static_cast<std::size_t>(size_of(t.dtype));
  std::vector<std::byte> memory(t.bytes.size());
  for (std::size_t i = 0; i * size < memory.size(); i++) {
    std::int64_t rest = static_cast<std::int64_t>(i), place = 0, stride = t.shape.numel();
    for (int axis = rank - 1; axis >= 0; axis--) {
      stride /= t.shape[axis];
      place += rest % t.shape[axis] * stride;
      rest /= t.shape[axis];
    }
    std::memcpy(&memory[static_cast<std::size_t>(place) * size], &t.bytes[i * size], size);
  }
  return permute(Tensor::from_bytes(memory, t.dtype, reversed).realize(), order);
}

}  // namespace

struct Recording::State {
  Json cases;
  std::vector<std::byte> blob;

  RecordedTensor tensor(const Json& json) const {
    if (json.is_null()) return {};
    RecordedTensor t{.dtype = dtype_named(json[1]),
                     .shape = Shape(json[2].get<std::vector<std::int64_t>>()),
                     .bytes = {}};
    const auto begin = json[3].get<std::size_t>();
    const auto size = static_cast<std::size_t>(t.shape.numel() * size_of(t.dtype));
    check(begin <= blob.size() && size <= blob.size() - begin, "a recording is cut short");
    t.bytes.assign(&blob[begin], &blob[begin] + size);
    return t;
  }

  std::vector<RecordedTensor> list(const Json& json) const {
    std::vector<RecordedTensor> result;
    for (const Json& t : json) result.push_back(tensor(t));
    return result;
  }

  Tensor argument(const Json& json, bool as_view) const {
    const RecordedTensor t = tensor(json);
    if (as_view && t.shape.size() > 1 && t.shape.numel() > 1) return transposed_view(t);
    // In memory of its own: gradients are not asked for constants.
    return Tensor::from_bytes(t.bytes, t.dtype, t.shape).realize();
  }

  Value value(const Json& json, bool as_view, std::vector<Tensor>& tensors) const {
    if (json.is_null()) return std::monostate();
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    const std::string kind = json[0];
    if (kind == "s") return json[1].get<std::string>();
    if (kind == "d") return dtype_named(json[1]);
    if (kind == "f") return float_named(json[1]);
    if (kind == "t") {
      tensors.push_back(argument(json, as_view));
      return tensors.back();
    }
    if (kind == "...") return EllipsisType();
    if (kind == "slice") {
      const auto place = [&](std::size_t i) -> std::optional<std::int64_t> {
        if (json[i].is_null()) return std::nullopt;
        return json[i].get<std::int64_t>();
      };
      return Slice{place(1), place(2), place(3).value_or(1)};
    }
    check(kind == "l", "a recording has a value of kind {}", kind);
    Values values;
    for (std::size_t i = 1; i < json.size(); i++) {
      values.push_back(value(json[i], as_view, tensors));
    }
    return values;
  }
};

Recording::Recording(const std::string& path) : state_(std::make_unique<State>()) {
  GzipReader reader(path);
  std::uint64_t size = 0;
  const std::vector<std::byte> head = reader.read_exactly(8);
  std::memcpy(&size, head.data(), 8);
  const std::vector<std::byte> text = reader.read_exactly(static_cast<std::int64_t>(size));
  const char* begin = reinterpret_cast<const char*>(text.data());
  // In the order of the file: gradients are listed in the order of the arguments.
  state_->cases = Json::parse(begin, begin + text.size())["cases"];
  state_->blob = reader.read(std::int64_t{1} << 32);
}

Recording::~Recording() = default;

std::size_t Recording::size() const { return state_->cases.size(); }

std::string Recording::name_of_case(std::size_t i) const {
  const Json& json = state_->cases[i];
  return fmt::format("{} {} #{}", json["op"].get<std::string>(), json["dtype"].get<std::string>(),
                     i);
}

RecordedCase Recording::at(std::size_t i) const {
  const Json& json = state_->cases[i];
  RecordedCase result;
  result.op = find_op(json["op"].get<std::string>());
  check(result.op != nullptr, "there is no op {}", json["op"].get<std::string>());
  result.dtype = dtype_named(json["dtype"]);
  std::vector<NamedValue> arguments;
  for (const auto& [name, value] : json["arguments"].items()) {
    arguments.push_back({name, state_->value(value, i % 2 == 1, result.tensors)});
  }
  result.arguments = bind_arguments(*result.op, arguments);
  result.results = state_->list(json["results"]);
  if (json.contains("gradients")) result.gradients = state_->list(json["gradients"]);
  return result;
}

}  // namespace croze::test
