// options.cpp -- croze options: the environment variables.
#include <croze/base/options.h>
#include <fmt/format.h>

#include <memory>

#include "commands.h"

namespace croze::tool {
namespace {

constexpr const char* introduction =
    "# Environment variables\n\n"
    "Everything that croze reads from the environment.  `make docs` writes this page from the "
    "code.\n\n";

std::string current_value(const OptionInfo& info) {
  return info.type == OptionType::Text   ? Options::text(info.option)
         : info.type == OptionType::Flag ? std::string(Options::flag(info.option) ? "1" : "0")
                                         : std::to_string(Options::integer(info.option));
}

void print_table() {
  for (const OptionInfo& info : Options::table()) {
    const std::string value = current_value(info);
    fmt::print("{} = {}\n", info.name, value.empty() ? "\"\"" : value);
    fmt::print("    {}\n", info.meaning);
  }
}

}  // namespace

void add_options(const Command& program) {
  const Command command =
      program.subcommand("options", "List the environment variables, with their present values");
  const auto markdown = std::make_shared<bool>(false);
  command.flag("--markdown", *markdown, "Print docs/options.md, with the defaults");
  command.action([markdown] {
    if (*markdown) {
      fmt::print("{}{}", introduction, Options::markdown());
    } else {
      print_table();
    }
  });
}

}  // namespace croze::tool
