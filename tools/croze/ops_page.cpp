// ops_page.cpp -- docs/ops.md: each function of the op table as it is called in C++.
#include "ops_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "croze/base/error.h"
#include "croze/tensor/op_table.h"
#include "declarations.h"

namespace croze::tool {
namespace {

constexpr const char* introduction =
    "# Functions on tensors\n\n"
    "Every function of the op table (`croze/tensor/op_table.h`): its name in PyTorch, and how it "
    "is\n"
    "called in C++, in namespace `croze`.  Most are methods too: `x.sum(1)` is `sum(x, 1)`.  The\n"
    "last parameter of most, the line of the call, is left out.  `make docs` writes this page "
    "from\n"
    "the code.\n\n"
    "* **dtypes**: b bool, i integers, 8 fp8, 16 float16 and bfloat16, 64 float32 and float64.\n"
    "  Others are refused with an error.\n"
    "* **result**: the dtype of the result.  `same` as the operand, `promoted` from all operands,\n"
    "  `float`: the same if that is a float and float32 otherwise, `sum`: int64 for bool and\n"
    "  integers, `given` by an argument or as the text says.\n"
    "* **grad**: how often it can be differentiated (2: as often as you like).\n";

// What PyTorch calls otherwise: the name of the function here, or an expression that says the same.
struct Spelling {
  std::string_view name, cpp;
};
constexpr Spelling spellings[] = {
    {"T", "transpose"},
    {"__getitem__", "index"},
    {"add", "input + other"},
    {"amax", "max"},
    {"amin", "min"},
    {"argwhere", "nonzero"},
    {"bfloat16", "input.cast(DType::BFloat16)"},
    {"bitwise_and", "input & other"},
    {"bitwise_left_shift", "input << other"},
    {"bitwise_not", "~input"},
    {"bitwise_or", "input | other"},
    {"bitwise_right_shift", "input >> other"},
    {"bitwise_xor", "input ^ other"},
    {"bool", "input.cast(DType::Bool)"},
    {"broadcast_to", "expand"},
    {"byte", "input.cast(DType::UInt8)"},
    {"char", "input.cast(DType::Int8)"},
    {"clamp_max", "clamp"},
    {"clamp_min", "clamp"},
    {"clone", "input.contiguous()"},
    {"constant_pad_nd", "pad"},
    {"div", "input / other"},
    {"double", "input.cast(DType::Float64)"},
    {"eq", "input == other"},
    {"expand_as", "expand(input, other.shape())"},
    {"fft2", "fftn"},
    {"fill", "Tensor::full_like(input, value)"},
    {"fliplr", "flip(input, 1)"},
    {"flipud", "flip(input, 0)"},
    {"float", "input.cast(DType::Float32)"},
    {"ge", "input >= other"},
    {"general_hamming", "hamming_window"},
    {"gt", "input > other"},
    {"half", "input.cast(DType::Float16)"},
    {"ifft2", "ifftn"},
    {"int", "input.cast(DType::Int32)"},
    {"inv", "inverse"},
    {"irfft2", "irfftn"},
    {"le", "input <= other"},
    {"long", "input.cast(DType::Int64)"},
    {"lt", "input < other"},
    {"mT", "transpose(input)"},
    {"max_unpool1d", "max_unpool"},
    {"max_unpool2d", "max_unpool"},
    {"max_unpool3d", "max_unpool"},
    {"mul", "input * other"},
    {"multi_dot", "matmul(matmul(a, b), c)"},
    {"ne", "input != other"},
    {"neg", "-input"},
    {"positive", "input"},
    {"ravel", "flatten(input)"},
    {"reshape_as", "reshape(input, other.shape())"},
    {"rfft2", "rfftn"},
    {"rsub", "other - input"},
    {"short", "input.cast(DType::Int16)"},
    {"split_with_sizes", "split"},
    {"std", "std_dev"},
    {"sub", "input - other"},
    {"t", "transpose(input)"},
    {"trapz", "trapezoid"},
    {"true_divide", "input / other"},
    {"vdot", "dot"},
    {"view", "reshape"},
    {"view_as", "reshape(input, other.shape())"},
};

std::string_view spelling_of(std::string_view name) {
  const auto found = std::ranges::find(spellings, name, &Spelling::name);
  return found == std::end(spellings) ? name : found->cpp;
}

// How an op is called: its declarations, or the expression that stands for it.
std::string cpp_text(const OpEntry& op, const Declarations& declarations) {
  const std::string_view last = op.name.substr(op.name.rfind('.') + 1);
  std::string name(spelling_of(last));
  if (op.name.starts_with("signal.windows.") && name == last) name += "_window";
  for (const std::string& key : {name, "." + name}) {
    const auto found = declarations.find(key);
    if (found == declarations.end()) continue;
    std::string text;
    for (const std::string& d : found->second) {
      text += fmt::format("{}`{}`", text.empty() ? "" : "<br>", d);
    }
    return text;
  }
  check(name.find_first_of(" .(+-~") != name.npos || name == "input",
        "docs/ops.md: no header declares {}, which PyTorch calls {}", name, op.name);
  return fmt::format("`{}`", name);
}

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

}  // namespace

void print_ops_page(const std::string& source) {
  const Declarations declarations = public_declarations(source);
  std::size_t count = 0;
  for (const OpFamily& family : op_families()) count += family.ops.size();
  fmt::print("{}\n{} functions.\n", introduction, count);
  for (const OpFamily& family : op_families()) {
    fmt::print("\n## {}\n\n`{}`\n\n", family.name, family.header);
    fmt::print("| PyTorch | C++ | dtypes | result | grad | |\n|---|---|---|---|---|---|\n");
    for (const OpEntry& op : family.ops) {
      std::string cpp = cpp_text(op, declarations);
      for (std::size_t at = 0; (at = cpp.find('|', at)) != cpp.npos; at += 2)
        cpp.insert(at, 1, '\\');
      fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", op.name, cpp, kinds_text(op.dtypes),
                 name_of(op.result), op.gradients, escaped(op.doc));
    }
  }
}

}  // namespace croze::tool
