// docs.cpp -- croze docs: pages that are written from tables of the code.
#include <croze/tensor/op_table.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "onnx_page.h"

namespace croze::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* introduction =
    "# Functions on tensors\n\n"
    "Every function of the op table (`croze/tensor/op_table.h`), under PyTorch's name and with\n"
    "PyTorch's parameters; tests call them so.  `make docs` writes this page from the code.\n\n"
    "* **dtypes**: b bool, i integers, 8 fp8, 16 float16 and bfloat16, 64 float32 and float64.\n"
    "  Others are refused with an error.\n"
    "* **result**: the dtype of the result.  `same` as the operand, `promoted` from all operands,\n"
    "  `float`: the same if that is a float and float32 otherwise, `sum`: int64 for bool and\n"
    "  integers, `given` by an argument or as the text says.\n"
    "* **grad**: how often it can be differentiated (2: as often as you like).\n";

std::string kinds_text(unsigned kinds) {
  std::string text;
  const auto add = [&](unsigned kind, std::string_view letter) {
    if (kinds & kind) text += fmt::format("{}{}", text.empty() ? "" : " ", letter);
  };
  add(booleans, "b");
  add(integers, "i");
  add(floats8, "8");
  add(floats16, "16");
  add(floats64, "64");
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '|' || c == '*' || c == '_') result += '\\';
    result += c;
  }
  return result;
}

void print_markdown() {
  std::size_t count = 0;
  for (const OpFamily& family : op_families()) count += family.ops.size();
  fmt::print("{}\n{} functions.\n", introduction, count);
  for (const OpFamily& family : op_families()) {
    fmt::print("\n## {}\n\n`{}`\n\n", family.name, family.header);
    fmt::print("| function | parameters | dtypes | result | grad | |\n|---|---|---|---|---|---|\n");
    for (const OpEntry& op : family.ops) {
      fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", op.name, escaped(signature_of(op)),
                 kinds_text(op.dtypes), name_of(op.result), op.gradients, escaped(op.doc));
    }
  }
}

void print_json() {
  Json list = Json::array();
  for (const OpFamily& family : op_families()) {
    for (const OpEntry& op : family.ops) {
      Json dtypes = Json::array();
      for (int i = static_cast<int>(DType::Bool); i < num_dtypes; i++) {
        const auto dtype = static_cast<DType>(i);
        if (has_dtype(op.dtypes, dtype)) dtypes.push_back(name_of(dtype));
      }
      list.push_back({{"name", op.name},
                      {"family", family.name},
                      {"parameters", parameter_names(op)},
                      {"types", op.function->parameter_types},
                      {"dtypes", dtypes},
                      {"gradients", op.gradients}});
    }
  }
  fmt::print("{}\n", list.dump(1));
}

}  // namespace

void add_docs(CLI::App& app) {
  CLI::App* docs = app.add_subcommand("docs", "Print pages that are written from the code");
  docs->require_subcommand(1);
  CLI::App* ops = docs->add_subcommand("ops", "The functions on tensors: docs/ops.md");
  const auto as_json = std::make_shared<bool>(false);
  ops->add_flag("--json", *as_json, "Print a JSON array");
  ops->callback([as_json] {
    if (*as_json) {
      print_json();
    } else {
      print_markdown();
    }
  });
  docs->add_subcommand("onnx", "Models: docs/onnx.md")->callback(print_onnx_page);
}

}  // namespace croze::tool
