// print.cpp -- the text forms of graphs.
#include "croze/graph/text/print.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "croze/base/error.h"
#include "croze/graph/graph.h"
#include "croze/graph/node_map.h"
#include "croze/graph/rewrite/rewrite.h"

namespace croze {
namespace {

using i64 = std::int64_t;

constexpr int max_depth = 24;     // of a printed expression ...
constexpr int max_printed = 600;  // ... and nodes in it: shared parts are written out each time

// ---- values -----------------------------------------------------------------------------------

std::string text_of_constant(UOp u) {
  if (u.dtype() == DType::Bool) return u.const_int() ? "true" : "false";
  if (u.dtype() == DType::UInt64)
    return fmt::format("{}", static_cast<std::uint64_t>(u.const_int()));
  if (!is_float(u.dtype())) return fmt::format("{}", u.const_int());
  if (std::isnan(u.const_double()))
    return fmt::format("nan:{:x}", static_cast<std::uint64_t>(u.arg().value));
  return fmt::format("{}", u.const_double());
}

// What the sizes are that are open does not stand in the text, as the spec of a stage does not ask.
std::string text_of_ints(std::span<const std::int64_t> ints) {
  std::string text;
  for (std::int64_t word : ints) {
    text += text.empty() ? "" : ", ";
    const Extent size = Extent::of_word(word);
    text += size.is_open() ? fmt::format("<={}", size.most()) : fmt::format("{}", word);
  }
  return '[' + text + ']';
}

std::string text_of_arg(const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::None: return "";
    case Arg::Kind::Int: return fmt::format("({})", arg.value);
    case Arg::Kind::Ints: return text_of_ints(arg.as_ints());
    case Arg::Kind::Text: break;
  }
  std::string text = "\"";
  for (char c : arg.as_text()) {
    if (c == '"' || c == '\\' || c == '#' || static_cast<unsigned char>(c) < ' ') {
      fmt::format_to(std::back_inserter(text), "\\{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}

// ---- expressions ------------------------------------------------------------------------------

// Depth is bounded, so recursion is.
std::string expression(UOp u, int depth, int* left) {
  if (depth > max_depth || --*left < 0) return "...";
  const auto source = [&](int i) { return expression(u.src(i), depth + 1, left); };
  switch (u.op()) {
    case Op::Const: return text_of_constant(u);
    case Op::Range: return fmt::format("r{}", u.range_id());
    case Op::Variable: return fmt::format("v{}", u.slot());
    case Op::Param: return fmt::format("p{}", u.slot());
    case Op::Buffer: return fmt::format("b{}", u.buffer_id());
    case Op::Local: return fmt::format("l{}", u.arg().ints[0]);
    case Op::Special: return fmt::format("s{}", u.arg().ints[0]);
    case Op::Load: return source(0);
    case Op::Index: {
      const std::string place = source(0) + "[" + source(1);
      return u.num_src() > 2 ? place + " if " + source(2) + "]" : place + "]";
    }
    default: break;
  }
  if (const std::string_view sign = infix(u.op()); !sign.empty()) {
    const std::string left_side = source(0);
    return fmt::format("({} {} {})", left_side, sign, source(1));
  }
  std::string text(info(u.op()).name);
  if (u.is(Op::Cast) || u.is(Op::Bitcast)) text = fmt::format("{}:{}", text, name_of(u.dtype()));
  text += text_of_arg(u.arg());
  if (u.num_src() == 0) return text;
  text += "(";
  for (int i = 0; i < u.num_src(); i++) text += (i ? ", " : "") + source(i);
  return text + ")";
}

// ---- reading ----------------------------------------------------------------------------------

// One line of text, consumed from the left.
class LineReader {
 public:
  LineReader(std::string_view text, int number) : text_(text), number_(number) {}

  void skip_spaces() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\t')) text_.remove_prefix(1);
  }
  bool at_end() {
    skip_spaces();
    return text_.empty();
  }
  char peek() {
    skip_spaces();
    return text_.empty() ? '\0' : text_[0];
  }
  bool accept(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) { require(accept(c), "'" + std::string(1, c) + "'"); }

  std::string_view word() {
    skip_spaces();
    std::size_t n = 0;
    while (n < text_.size() && text_[n] != ' ' && text_[n] != '\t') n++;
    require(n > 0, "a word");
    const std::string_view result = text_.substr(0, n);
    text_.remove_prefix(n);
    return result;
  }

  template <typename T>
  T number(int base = 10) {
    skip_spaces();
    T value{};
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), value, base);
    require(error == std::errc(), "a number");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }

  double real() {
    skip_spaces();
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    require(error == std::errc(), "a number");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }

  std::string quoted() {
    expect('"');
    std::string result;
    while (!text_.empty() && text_[0] != '"') {
      const char c = text_[0];
      text_.remove_prefix(1);
      result += c;
      if (c != '\\') continue;
      require(text_.size() >= 2, "two digits");
      unsigned value = 0;
      std::from_chars(text_.data(), text_.data() + 2, value, 16);
      result.back() = static_cast<char>(value);
      text_.remove_prefix(2);
    }
    expect('"');
    return result;
  }

  void require(bool ok, const std::string& what) const {
    check(ok, "graph text, line {}: expected {} at '{}'", number_, what, text_);
  }

 private:
  std::string_view text_;
  int number_;
};

Op op_of(std::string_view name, const LineReader& line) {
  for (int i = 0; i < num_ops; i++) {
    if (info(static_cast<Op>(i)).name == name) return static_cast<Op>(i);
  }
  line.require(false, "the name of an op, not " + std::string(name));
  return Op::Const;
}

i64 read_constant(LineReader& line, DType t) {
  if (t == DType::Bool) return line.word() == "true";
  if (t == DType::UInt64) return static_cast<i64>(line.number<std::uint64_t>());
  if (!is_float(t)) return line.number<i64>();
  if (line.peek() == 'n') {
    for (char c : std::string_view("nan:")) line.expect(c);
    return static_cast<i64>(line.number<std::uint64_t>(16));
  }
  return std::bit_cast<i64>(line.real());
}

UOp read_node(LineReader& line, Graph& graph, const std::vector<UOp>& lines) {
  const Op op = op_of(line.word(), line);
  const auto dtype = dtype_from_name(line.word());
  line.require(dtype.has_value(), "a dtype");
  if (op == Op::Const) return graph.make(op, *dtype, {}, Arg(read_constant(line, *dtype)));

  std::vector<UOp> src;
  while (line.accept('%')) {
    const auto number = line.number<std::size_t>();
    line.require(number < lines.size(), "the number of an earlier line");
    src.push_back(lines[number]);
  }
  line.require(takes_sources(op, std::ssize(src)), "other sources");

  std::vector<i64> ints;
  std::string text;
  Arg arg;
  if (line.accept('(')) {
    arg = Arg(line.number<i64>());
    line.expect(')');
  } else if (line.accept('[')) {
    while (!line.accept(']')) {
      ints.push_back(line.number<i64>());
      line.accept(',');
    }
    arg = Arg(std::span<const i64>(ints));
  } else if (line.peek() == '"') {
    text = line.quoted();
    arg = Arg(std::string_view(text));
  }
  return graph.make(op, *dtype, src, arg);
}

}  // namespace

std::string to_string(UOp u) {
  int left = max_printed;
  return u ? expression(u, 0, &left) : "null";
}

std::string text_of_argument(UOp u) {
  return u.is_const() ? text_of_constant(u) : text_of_arg(u.arg());
}

std::string print_graph(UOp root) { return print_graph(std::span(&root, 1)); }

std::string print_graph(std::span<const UOp> roots) {
  std::string text;
  if (roots.empty()) return text;
  NodeMap<int> number(roots[0].graph());
  int next = 0;
  for (UOp u : toposort(roots)) {
    number.set(u, next);
    auto out = std::back_inserter(text);
    fmt::format_to(out, "%{} = {} {}", next++, info(u.op()).name, name_of(u.dtype()));
    for (UOp s : u.sources()) fmt::format_to(out, " %{}", number.get(s));
    const std::string arg = text_of_argument(u);
    if (!arg.empty()) fmt::format_to(out, " {}", arg);
    text += '\n';
  }
  return text;
}

UOp parse_graph(Graph& graph, std::string_view text) {
  std::vector<UOp> lines;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    LineReader line(content.substr(0, content.find('#')), ++number);
    if (line.at_end()) continue;
    line.expect('%');
    line.require(line.number<std::size_t>() == lines.size(), "the next number");
    line.expect('=');
    lines.push_back(read_node(line, graph, lines));
    line.require(line.at_end(), "the end of the line");
  }
  check(!lines.empty(), "graph text: no node in it");
  return lines.back();
}

}  // namespace croze
