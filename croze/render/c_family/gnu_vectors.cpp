// gnu_vectors.cpp -- the vector types of gcc and clang.
#include <fmt/format.h>

#include "croze/render/c_family/vector_instructions.h"
#include "croze/render/c_family/vector_words.h"

namespace croze::c_family {
namespace {

class GnuVectors final : public VectorWords {
 public:
  VectorType type(DType t, std::string_view element, std::int64_t lanes) const override {
    return {fmt::format("{}x{}", name_of(t), lanes), std::string(element), t, lanes};
  }
  std::vector<Helper> declarations(const VectorType& type) const override {
    const std::string text = fmt::format(
        "typedef {0} {1} __attribute__((vector_size({2})));\n"
        "typedef {0} {1}_at __attribute__((vector_size({2}), aligned({3}), may_alias));\n",
        type.element, type.name, type.lanes * size_of(type.dtype), size_of(type.dtype));
    return {{type.name, "#if CROZE_VECTORS\n" + text + "#endif\n"}};
  }

  std::string lane(std::string_view variable, std::string_view k) const override {
    return fmt::format("{}[{}]", variable, k);
  }
  bool names_each_lane() const override { return false; }

  // Narrower integers are done lane by lane, promoted to int as C has it.
  bool has_operators(DType t) const override { return t != DType::Bool && size_of(t) >= 4; }
  // The difference to zero is the number itself, -0 and all.
  std::string of_one(const VectorType& type, std::string_view number) const override {
    return fmt::format("({} - ({}){{0}})", number, type.name);
  }
  std::string of_all(const VectorType& type, std::string_view numbers) const override {
    return fmt::format("({}){{{}}}", type.name, numbers);
  }
  std::string of_same_bits(const VectorType& type, std::string_view x) const override {
    return fmt::format("({}){}", type.name, x);
  }
  std::string converted(const VectorType& type, std::string_view x) const override {
    return fmt::format("__builtin_convertvector({}, {})", x, type.name);
  }
  std::string selected(const VectorType& type, const VectorType& mask_type, std::string_view mask,
                       std::string_view a, std::string_view b) const override {
    return fmt::format("({0})(({1} & ({2}){3}) | (~{1} & ({2}){4}))", type.name, mask,
                       mask_type.name, a, b);
  }
  std::string load(const VectorType& type, std::string_view element) const override {
    return fmt::format("*(const {}_at*)&{}", type.name, element);
  }
  std::optional<Helper> function(Op op, const VectorType& type) const override {
    if (op != Op::Sqrt) return {};
    return sqrt_macro(type.name, type.dtype, type.lanes);
  }
  std::string store(const VectorType& type, std::string_view element,
                    std::string_view value) const override {
    return fmt::format("*({}_at*)&{} = {};", type.name, element, value);
  }

  std::vector<Helper> before_macros() const override { return {instructions_header()}; }
  Helper multiply_add(const VectorType& type) const override {
    return fma_macro(type.name, type.dtype, type.lanes);
  }
  Helper masked_load(const VectorType& type, const VectorType& mask) const override {
    return load_macro(type.name, mask.name, type.dtype, type.lanes);
  }
  Helper masked_store(const VectorType& type, const VectorType& mask) const override {
    return store_macro(type.name, mask.name, type.dtype, type.lanes);
  }
  Helper gather(const VectorType& type, const VectorType& mask) const override {
    return gather_macro(type.name, mask.name, type.dtype, type.lanes);
  }
  Helper scatter(const VectorType& type, const VectorType& mask) const override {
    return scatter_macro(type.name, mask.name, type.dtype, type.lanes);
  }
  std::optional<Helper> look_up(const VectorType& type, const VectorType& mask) const override {
    return look_up_macro(type.name, mask.name, type.dtype, type.lanes);
  }
  std::optional<Helper> every_other(const VectorType& type) const override {
    return every_other_macro(type.name, type.lanes);
  }
  Helper select(const VectorType& type, const VectorType& mask) const override {
    return select_macro(type.name, mask.name, type.dtype, type.lanes);
  }
};

}  // namespace

const VectorWords& gnu_vectors() {
  static const GnuVectors words;
  return words;
}

}  // namespace croze::c_family
