// opencl_vectors.cpp -- the vector types of OpenCL C.
//
// A gated access has no instruction of its own: where all lanes are there, which is nearly always,
// it is a plain one, and else goes lane by lane.
#include <fmt/format.h>

#include <array>

#include "croze/render/c_family/vector_words.h"

namespace croze::c_family {
namespace {

std::string in_macro(std::string_view head, std::string_view body) {
  return fmt::format("#define {} \\\n  do {{ {} }} while (0)\n", head, body);
}

// The text for each lane, {0} being its number and {1} what its component is called.
std::string for_each_lane(std::int64_t lanes, std::string_view text) {
  std::string all;
  for (std::int64_t k = 0; k < lanes; k++) {
    all += fmt::format(fmt::runtime(text), k, fmt::format("s{:x}", k));
  }
  return all;
}

class OpenClVectors final : public VectorWords {
 public:
  VectorType type(DType t, std::string_view element, std::int64_t lanes) const override {
    return {fmt::format("{}{}", element, lanes), std::string(element), t, lanes};
  }
  std::vector<Helper> declarations(const VectorType&) const override { return {}; }

  std::string lane(std::string_view variable, std::string_view k) const override {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto number = static_cast<std::size_t>(std::stoi(std::string(k)));
    return fmt::format("{}.s{}", variable, digits[number]);
  }
  bool names_each_lane() const override { return true; }

  // Vectors of narrow integers are not promoted.  Of floats those below 32 bits are stored only.
  bool has_operators(DType t) const override {
    return t != DType::Bool && (!is_float(t) || size_of(t) >= 4);
  }
  std::string of_one(const VectorType& type, std::string_view number) const override {
    return fmt::format("({})({})", type.name, number);
  }
  std::string of_all(const VectorType& type, std::string_view numbers) const override {
    return fmt::format("({})({})", type.name, numbers);
  }
  std::string of_same_bits(const VectorType& type, std::string_view x) const override {
    return fmt::format("as_{}({})", type.name, x);
  }
  std::string converted(const VectorType& type, std::string_view x) const override {
    return fmt::format("convert_{}({})", type.name, x);
  }
  std::string selected(const VectorType&, const VectorType&, std::string_view mask,
                       std::string_view a, std::string_view b) const override {
    return fmt::format("select({}, {}, {})", b, a, mask);
  }
  std::string load(const VectorType& type, std::string_view element) const override {
    return fmt::format("vload{}(0, &{})", type.lanes, element);
  }
  std::optional<Helper> function(Op op, const VectorType&) const override {
    switch (op) {
      case Op::Sqrt: return Helper{"sqrt", ""};
      case Op::Trunc: return Helper{"trunc", ""};
      default: return {};
    }
  }
  std::string store(const VectorType& type, std::string_view element,
                    std::string_view value) const override {
    return fmt::format("vstore{}({}, 0, &{});", type.lanes, value, element);
  }

  std::vector<Helper> before_macros() const override { return {}; }
  Helper multiply_add(const VectorType& type) const override {
    const std::string name = "fma_" + type.name;
    return {name, in_macro(name + "(result, a, b, c)", "(result) = fma(a, b, c);")};
  }
  Helper masked_load(const VectorType& type, const VectorType& mask) const override {
    const std::string name = "load_" + type.name;
    const std::string each =
        for_each_lane(type.lanes, "(result).{1} = lanes_.{1} ? (base)[(at) + {0}] : 0; ");
    return {name,
            in_macro(name + "(result, open, mask, base, at)",
                     fmt::format("const {1} lanes_ = (mask); if (open) (result) = vload{2}(0, "
                                 "(base) + (at)); else {{ (result) = ({0})(0); {3}}}",
                                 type.name, mask.name, type.lanes, each))};
  }
  Helper masked_store(const VectorType& type, const VectorType& mask) const override {
    const std::string name = "store_" + type.name;
    const std::string each =
        for_each_lane(type.lanes, "if (lanes_.{1}) (base)[(at) + {0}] = values_.{1}; ");
    return {name,
            in_macro(name + "(value, open, mask, base, at)",
                     fmt::format("const {0} values_ = (value); const {1} lanes_ = (mask); "
                                 "if (open) vstore{2}(values_, 0, (base) + (at)); else {{ {3}}}",
                                 type.name, mask.name, type.lanes, each))};
  }
  Helper gather(const VectorType& type, const VectorType& mask) const override {
    const std::string name = "gather_" + type.name;
    const std::string each = for_each_lane(
        type.lanes, "(result).{1} = lanes_.{1} ? (base)[(at) + {0} * (long)(step)] : 0; ");
    return {name, in_macro(name + "(result, mask, base, at, step)",
                           fmt::format("const {1} lanes_ = (mask); (result) = ({0})(0); {2}",
                                       type.name, mask.name, each))};
  }
  Helper scatter(const VectorType& type, const VectorType& mask) const override {
    const std::string name = "scatter_" + type.name;
    const std::string each = for_each_lane(
        type.lanes, "if (lanes_.{1}) (base)[(at) + {0} * (long)(step)] = values_.{1}; ");
    return {name,
            in_macro(name + "(value, mask, base, at, step)",
                     fmt::format("const {0} values_ = (value); const {1} lanes_ = (mask); {2}",
                                 type.name, mask.name, each))};
  }
  std::optional<Helper> look_up(const VectorType&, const VectorType&) const override { return {}; }
  std::optional<Helper> every_other(const VectorType&) const override { return {}; }
  Helper select(const VectorType& type, const VectorType&) const override {
    const std::string name = "select_" + type.name;
    return {name, fmt::format("#define {}(mask, a, b) select(b, a, mask)\n", name)};
  }
};

}  // namespace

const VectorWords& opencl_vectors() {
  static const OpenClVectors words;
  return words;
}

}  // namespace croze::c_family
