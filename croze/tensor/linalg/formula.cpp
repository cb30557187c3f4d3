// formula.cpp -- einsum and rearrange: operations said by the names of axes.
#include <algorithm>
#include <string>

#include "croze/tensor/elementwise/elementwise.h"
#include "croze/tensor/linalg/linalg.h"
#include "croze/tensor/movement/movement.h"
#include "croze/tensor/record.h"
#include "croze/tensor/reduce/reduce.h"

namespace croze {
namespace {

std::string without_spaces(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c != ' ' && c != '\t' && c != '\n') result += c;
  }
  return result;
}

std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Axes of "..." are named by these, the last axis by the first.
constexpr char first_dot = '\x01', last_dot = '\x1f';

// ---- einsum -----------------------------------------------------------------------------------

// A tensor with a name for each axis.
struct Named {
  Tensor tensor;
  std::string names;

  std::int64_t size_of_axis(char name) const {
    const std::size_t i = names.find(name);
    return i == std::string::npos ? 1 : tensor.shape()[static_cast<std::int64_t>(i)];
  }
};

// The names of an operand's axes, "..." replaced.
std::string expanded_names(const Call& call, const std::string& text, int rank) {
  const std::size_t dots = text.find("...");
  std::string names = text;
  if (dots != std::string::npos) {
    const int count = rank - static_cast<int>(text.size() - 3);
    call.require(count >= 0 && count <= last_dot - first_dot, "'{}' does not fit {} axes", text,
                 rank);
    std::string middle;
    for (int i = count; i-- > 0;) middle += static_cast<char>(first_dot + i);
    names.replace(dots, 3, middle);
  }
  for (char c : names)
    call.require(is_letter(c) || c <= last_dot, "'{}' names no axis in '{}'", c, text);
  call.require(static_cast<int>(names.size()) == rank, "'{}' does not fit {} axes", text, rank);
  return names;
}

// Repeated names become their diagonal.
Named without_repeats(const Call& call, Named x, Location at) {
  for (std::size_t i = 0; i < x.names.size(); i++) {
    for (std::size_t k = i + 1; k < x.names.size(); k++) {
      if (x.names[i] != x.names[k]) continue;
      const auto a = static_cast<std::int64_t>(i), b = static_cast<std::int64_t>(k);
      const char name = x.names[i];
      call.require(x.tensor.shape()[a] == x.tensor.shape()[b], "the axes '{}' differ in size",
                   name);
      x.tensor = diagonal(x.tensor, 0, a, b, at);
      x.names.erase(k, 1);
      x.names.erase(i, 1);
      x.names += name;
      return without_repeats(call, x, at);
    }
  }
  return x;
}

// The tensor with its axes in the order of `names`; size 1 where it has none.
Tensor aligned(const Named& x, const std::string& names, Location at) {
  Shape order, shape;
  for (char c : names) {
    const std::size_t i = x.names.find(c);
    if (i != std::string::npos) order.push_back(static_cast<std::int64_t>(i));
    shape.push_back(x.size_of_axis(c));
  }
  return reshape(permute(x.tensor, order, at), shape, at);
}

// Sums over the axes that `wanted` lacks.
Named summed(const Named& x, const std::string& wanted, Location at) {
  Shape axes;
  std::string names;
  for (std::size_t i = 0; i < x.names.size(); i++) {
    if (wanted.find(x.names[i]) != std::string::npos) {
      names += x.names[i];
    } else {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (axes.empty()) return x;
  return {sum(x.tensor, axes, false, at), names};
}

// One product, summed over the axes that nothing later wants: (kept, summed of both).
Named contracted(const Named& a, const Named& b, const std::string& wanted, Location at) {
  std::string kept, gone;
  for (char c : a.names + b.names) {
    std::string& to = wanted.find(c) != std::string::npos ? kept : gone;
    if (to.find(c) == std::string::npos) to += c;
  }
  const DType dtype = promote(a.tensor.dtype(), b.tensor.dtype());
  const DType wide = is_float(dtype) ? accumulator(dtype) : dtype;
  const Tensor left = aligned(a, kept + gone, at).cast(wide);
  const Tensor right = aligned(b, kept + gone, at).cast(wide);
  Shape axes;
  for (std::size_t i = 0; i < gone.size(); i++) {
    axes.push_back(static_cast<std::int64_t>(kept.size() + i));
  }
  const Tensor product = left * right;
  return {(axes.empty() ? product : sum(product, axes, false, at)).cast(dtype), kept};
}

// The names of a result that the formula does not give, from those of all operands: broadcast axes,
// then the letters that occur once, in order.
std::string implied_result(const std::string& all) {
  std::string dots, letters;
  for (char c : all) {
    if (c <= last_dot) {
      if (dots.find(c) == std::string::npos) dots += c;
    } else if (std::count(all.begin(), all.end(), c) == 1) {
      letters += c;
    }
  }
  std::sort(dots.rbegin(), dots.rend());
  std::sort(letters.begin(), letters.end());
  return dots + letters;
}

void check_sizes(const Call& call, std::span<const Named> operands) {
  for (const Named& x : operands) {
    for (char c : x.names) {
      for (const Named& y : operands) {
        const std::int64_t a = x.size_of_axis(c), b = y.size_of_axis(c);
        call.require(a == b || a == 1 || b == 1, "axis '{}' has sizes {} and {}",
                     c <= last_dot ? '.' : c, a, b);
      }
    }
  }
}

}  // namespace

Tensor einsum(std::string_view formula, std::span<const Tensor> operands, Location at) {
  const Call call("einsum", {}, at);
  const std::string text = without_spaces(formula);
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> inputs = split_text(text.substr(0, arrow), ',');
  call.require(inputs.size() == operands.size(), "'{}' is for {} operands, not {}", formula,
               inputs.size(), operands.size());
  std::vector<Named> parts;
  std::string names;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const Named x{operands[i], expanded_names(call, inputs[i], operands[i].ndim())};
    names += x.names;
    parts.push_back(without_repeats(call, x, at));
  }
  check_sizes(call, parts);

  std::string result = implied_result(names);
  if (arrow != std::string::npos) {
    std::string dots;
    for (char c : result) {
      if (c <= last_dot) dots += c;
    }
    const std::string wanted = text.substr(arrow + 2);
    const std::size_t place = wanted.find("...");
    result = wanted;
    if (place != std::string::npos) result.replace(place, 3, dots);
  }
  for (char c : result) {
    const bool known = std::any_of(parts.begin(), parts.end(), [&](const Named& x) {
      return x.names.find(c) != std::string::npos;
    });
    call.require(known && std::count(result.begin(), result.end(), c) == 1,
                 "the result of '{}' names an axis that is not there, or twice", formula);
  }

  Named total = parts[0];
  for (std::size_t i = 0; i < parts.size(); i++) {
    std::string wanted = result;
    for (std::size_t k = i + 1; k < parts.size(); k++) wanted += parts[k].names;
    total = i == 0 ? summed(total, wanted, at) : contracted(total, parts[i], wanted, at);
    // A sum of integers is Int64; as a factor it is what it was.
    if (i == 0 && parts.size() > 1) total.tensor = total.tensor.cast(operands[0].dtype());
  }
  return aligned(total, result, at);
}

Tensor einsum(std::string_view formula, std::initializer_list<Tensor> operands, Location at) {
  return einsum(formula, std::span(operands.begin(), operands.size()), at);
}

// ---- rearrange --------------------------------------------------------------------------------

namespace {

// One side: groups of names; "..." is a group of its own.
using Groups = std::vector<std::vector<std::string>>;

Groups parse_side(const Call& call, std::string_view text) {
  Groups groups;
  bool open = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ') {
      i++;
    } else if (c == '(' || c == ')') {
      call.require(open == (c == ')'), "the parentheses of '{}' do not match", text);
      if (c == '(') groups.emplace_back();
      open = c == '(';
      i++;
    } else {
      std::size_t end = i;
      while (end < text.size() && text[end] != ' ' && text[end] != '(' && text[end] != ')') end++;
      if (!open) groups.emplace_back();
      groups.back().emplace_back(text.substr(i, end - i));
      i = end;
    }
  }
  call.require(!open, "the parentheses of '{}' do not match", text);
  return groups;
}

// The sizes of names, and of the axes that "..." stands for.
struct AxisSizes {
  std::vector<std::pair<std::string, std::int64_t>> known;
  Shape dots;

  std::int64_t* find(const std::string& name) {
    for (auto& [n, size] : known) {
      if (n == name) return &size;
    }
    return nullptr;
  }
};

// Finds the size of the one unknown name of a group.
void infer(const Call& call, const std::vector<std::string>& group, std::int64_t size,
           AxisSizes& sizes) {
  std::int64_t product = 1;
  std::string unknown;
  for (const std::string& name : group) {
    if (name == "1") continue;
    if (const std::int64_t* s = sizes.find(name)) {
      product *= *s;
    } else {
      call.require(unknown.empty(), "the sizes of '{}' and '{}' are not given", unknown, name);
      unknown = name;
    }
  }
  if (!unknown.empty() && product > 0 && size % product == 0) {
    sizes.known.emplace_back(unknown, size / product);
    product = size;
  }
  call.require(product == size, "an axis of size {} is not what the formula says", size);
}

}  // namespace

Tensor rearrange(const Tensor& x, std::string_view formula, NamedSizes given, Location at) {
  const Call call("rearrange", {&x}, at);
  const std::size_t arrow = formula.find("->");
  call.require(arrow != std::string_view::npos, "'{}' has no '->'", formula);
  const Groups from = parse_side(call, formula.substr(0, arrow));
  const Groups to = parse_side(call, formula.substr(arrow + 2));
  AxisSizes sizes;
  for (const auto& [name, size] : given) sizes.known.emplace_back(name, size);

  const auto is_dots = [](const std::vector<std::string>& g) {
    return g.size() == 1 && g[0] == "...";
  };
  const bool has_dots = std::any_of(from.begin(), from.end(), is_dots);
  const int dots = x.ndim() - static_cast<int>(from.size()) + 1;
  call.require(has_dots ? dots >= 0 : static_cast<int>(from.size()) == x.ndim(),
               "'{}' does not fit {} axes", formula, x.ndim());
  // Every axis of its own, and which name stands where.
  Shape apart;
  std::vector<std::string> names;
  std::int64_t axis = 0;
  for (const std::vector<std::string>& group : from) {
    if (is_dots(group)) {
      for (int i = 0; i < dots; i++) {
        apart.push_back(x.shape()[axis++]);
        names.push_back("..." + std::to_string(i));
      }
      continue;
    }
    infer(call, group, x.shape()[axis++], sizes);
    for (const std::string& name : group) {
      if (name == "1") continue;
      const auto twice = std::find(names.begin(), names.end(), name);
      call.require(twice == names.end(), "'{}' is named twice", name);
      apart.push_back(*sizes.find(name));
      names.push_back(name);
    }
  }
  Shape order, result;
  const auto take = [&](const std::string& name) {
    const auto it = std::find(names.begin(), names.end(), name);
    call.require(it != names.end(), "'{}' is on one side only", name);
    order.push_back(it - names.begin());
    return apart[it - names.begin()];
  };
  for (const std::vector<std::string>& group : to) {
    if (is_dots(group)) {
      for (int i = 0; i < dots; i++) result.push_back(take("..." + std::to_string(i)));
      continue;
    }
    std::int64_t size = 1;
    for (const std::string& name : group) {
      if (name != "1") size *= take(name);
    }
    result.push_back(size);
  }
  call.require(order.size() == apart.size(), "the sides of '{}' have different names", formula);
  return reshape(permute(reshape(x, apart, at), order, at), result, at);
}

Tensor rearrange(const Tensor& x, std::string_view formula,
                 std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes,
                 Location at) {
  return rearrange(x, formula, NamedSizes(sizes.begin(), sizes.size()), at);
}

}  // namespace croze
