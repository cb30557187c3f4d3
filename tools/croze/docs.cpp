// docs.cpp -- croze docs: pages that are written from tables of the code.
#include <croze/tensor/op_table.h>
#include <fmt/format.h>

#include <memory>

#include "command_line/json.h"
#include "commands.h"
#include "onnx/onnx_page.h"
#include "ops_page.h"

namespace croze::tool {
namespace {

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

void add_docs(const Command& program) {
  const Command docs = program.group("docs", "Print pages that are written from the code");
  const Command ops = docs.subcommand("ops", "The functions on tensors: docs/ops.md");
  struct Settings {
    bool as_json = false;
    std::string source = ".";
  };
  const auto s = std::make_shared<Settings>();
  ops.flag("--json", s->as_json, "Print a JSON array");
  ops.option("--source", s->source, "Folder with croze/croze.h, whose declarations are shown")
      .shows_default();
  ops.action([s] {
    if (s->as_json) {
      print_json();
    } else {
      print_ops_page(s->source);
    }
  });
  docs.subcommand("onnx", "Models: docs/onnx.md").action(print_onnx_page);
}

}  // namespace croze::tool
