// pytorch_info.cpp -- croze info MODEL.pth: tensors and values of a checkpoint of PyTorch.
#include "pytorch_info.h"

#include <croze/base/file.h>
#include <croze/base/printable.h>
#include <croze/io/pytorch/pytorch.h>
#include <fmt/format.h>

#include <utility>
#include <variant>

#include "command_line/json.h"

namespace croze::tool {
namespace {

struct ToJson {
  Json operator()(std::monostate) const { return {}; }
  Json operator()(const std::vector<std::byte>& bytes) const {
    return Json{{"bytes", std::ssize(bytes)}};
  }
  template <typename T>
  Json operator()(const T& value) const {
    return value;
  }
};

struct Totals {
  std::int64_t parameters = 0, bytes = 0;
};

Totals totals_of(const PyTorchFile& file) {
  Totals totals;
  for (const NamedTensor& t : file.tensors) {
    totals.parameters += t.tensor.numel();
    totals.bytes += t.tensor.numel() * size_of(t.tensor.dtype());
  }
  return totals;
}

void print_json(const std::string& path, const PyTorchFile& file) {
  Json tensors = Json::array(), values = Json::array();
  for (const NamedTensor& t : file.tensors) {
    const Shape shape = t.tensor.shape();
    tensors.push_back(Json{{"name", t.name},
                           {"type", name_of(t.tensor.dtype())},
                           {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}});
  }
  for (const auto& [name, value] : file.values) {
    values.push_back(Json{{"name", name}, {"value", std::visit(ToJson(), value)}});
  }
  const Totals totals = totals_of(file);
  fmt::print("{}\n", Json{{"model", path},
                          {"values", values},
                          {"tensors", tensors},
                          {"parameters", totals.parameters},
                          {"tensor_bytes", totals.bytes}}
                         .dump());
}

std::string text_of(const PyTorchFile& file) {
  constexpr std::size_t max_text = 80;
  std::string text;
  const char* title = "values";
  for (const auto& [name, value] : file.values) {
    std::string shown = std::visit(ToJson(), value).dump();
    if (shown.size() > max_text) shown = shown.substr(0, max_text) + " ...";
    text += fmt::format("{:<10} {}: {}\n", std::exchange(title, ""), name, shown);
  }
  title = "tensors";
  for (const NamedTensor& t : file.tensors) {
    text += fmt::format("{:<10} {}: {} {}\n", std::exchange(title, ""), t.name,
                        name_of(t.tensor.dtype()), to_text(t.tensor.shape()));
  }
  const Totals totals = totals_of(file);
  text += fmt::format("{:<10} {} in {} bytes\n", "parameters", totals.parameters, totals.bytes);
  return text;
}

}  // namespace

bool is_pytorch(const std::string& path) { return begins_as_pytorch(MappedFile(path).data()); }

void print_pytorch_info(const std::string& path, bool as_json) {
  const PyTorchFile file = load_pytorch(path);
  if (as_json) {
    print_json(path, file);
  } else {
    fmt::print("{}", printable(text_of(file)));  // names may hold anything
  }
}

}  // namespace croze::tool
