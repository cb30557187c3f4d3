// body.h -- the body of a kernel while it is written: names, declarations, indented lines.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "croze/base/flat_map.h"
#include "croze/render/c_family/dialect.h"
#include "croze/render/scratch.h"

namespace croze::c_family {

class KernelBody {
 public:
  // Every value of the program has a name from now on: a constant its literal.
  KernelBody(const Dialect& dialect, const LinearProgram& program);

  // Looks through After.
  const std::string& name(UOp u) const;

  // The line of a Param, Variable, Special or Local, if its like has not been declared.
  void declare(UOp u);

  void open_loop(UOp range, std::string_view type, const std::string& end);
  void close_loop() { close_block(); }
  void open_block(const std::string& head);
  void close_block();

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_.append(static_cast<std::size_t>(2 * depth_), ' ');
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
  }
  void line(const std::string& text) { line("{}", text); }
  void empty_line() { body_ += '\n'; }
  bool is_empty() const { return body_.empty(); }

  // The function.
  std::string text() const;

 private:
  const Dialect& dialect_;
  const LinearProgram& program_;
  ScratchLayout scratch_, group_;
  FlatMap<const Node*, std::string> names_;
  FlatSet<const Node*> declared_;
  std::string body_;
  int depth_ = 1;
};

}  // namespace croze::c_family
