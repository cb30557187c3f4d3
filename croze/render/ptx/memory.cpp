// memory.cpp -- which accesses are vectors, and their guards.
//
// A vector access must be a multiple of its own size, or the GPU stops.  How the index is aligned
// is known when the text is written; that the buffer is, is not, since a view may begin at any
// element.  So vectors of a buffer stand beside the same elements one by one, and a predicate that
// the prologue has found chooses.
#include "croze/render/ptx/memory.h"

#include <algorithm>

#include "croze/graph/eval.h"
#include "croze/render/ptx/elementwise.h"

namespace croze::ptx {
namespace {

constexpr std::int64_t most_bytes = 16, most_elements = 4;

// How many of the elements from `first` on are one access.
std::int64_t width_at(const Place& place, std::int64_t first, std::int64_t elements) {
  const std::int64_t size = size_of(place.dtype);
  std::int64_t width = std::min(most_elements, most_bytes / size);
  while (width > 1 && (first + width > elements || first % width || place.multiple % width)) {
    width /= 2;
  }
  return width;
}

std::string address(const Place& place, std::int64_t element) {
  const std::int64_t offset = place.offset + element * size_of(place.dtype);
  return offset == 0 ? fmt::format("[{}]", place.base) : fmt::format("[{}+{}]", place.base, offset);
}

std::string guard(std::string_view predicate) {
  return predicate.empty() ? std::string() : fmt::format("@{} ", predicate);
}

// A predicate that holds where both do; `a` may be none.
std::string both(Text& text, const std::string& a, const std::string& b) {
  return a.empty() ? b : text.define(DType::Bool, "and.pred", {a, b});
}

// "ld.global.v4.f32", without the part for vectors where there is one element.
std::string instruction(std::string_view name, const Place& place, std::int64_t width) {
  const std::string vector = width > 1 ? fmt::format(".v{}", width) : std::string();
  return fmt::format("{}{}.{}", name, vector, memory_type(place.dtype));
}

std::string operand(std::span<const std::string> registers) {
  return registers.size() == 1 ? registers[0] : fmt::format("{{{}}}", fmt::join(registers, ", "));
}

// Calls access(predicate, first, width) for whole vectors where they are allowed, and for single
// elements where they might not be.
template <typename F>
void by_vectors(Text& text, const Place& place, std::int64_t elements, F access) {
  const bool has_both = !place.is_aligned.empty() && width_at(place, 0, elements) > 1;
  std::string whole = place.gate, alone;
  if (has_both) {
    whole = both(text, place.gate, place.is_aligned);
    alone = both(text, place.gate, text.define(DType::Bool, "not.pred", {place.is_aligned}));
  }
  for (std::int64_t first = 0; first < elements;) {
    const std::int64_t width = width_at(place, first, elements);
    access(width > 1 ? whole : place.gate, first, width);
    if (width > 1 && has_both) {
      for (std::int64_t k = 0; k < width; k++) access(alone, first + k, 1);
    }
    first += width;
  }
}

// What stands in memory for a register of the dtype: Bool is a byte.
RegisterClass memory_class(DType t) {
  return t == DType::Bool ? RegisterClass::Bits16 : class_of(t);
}

}  // namespace

std::vector<std::string> load(Text& text, const Place& place, std::int64_t elements) {
  const DType t = place.dtype;
  std::vector<std::string> loaded;
  for (std::int64_t k = 0; k < elements; k++) {
    loaded.push_back(text.fresh(memory_class(t)));
    if (place.gate.empty()) continue;
    copy(text, t == DType::Bool ? DType::UInt8 : t, loaded.back(),
         t == DType::Bool ? "0" : literal(0, t));
  }
  const std::string name = fmt::format("ld.{}{}", place.space, place.is_constant ? ".nc" : "");
  by_vectors(text, place, elements,
             [&](const std::string& predicate, std::int64_t first, std::int64_t width) {
               const auto registers = std::span(loaded).subspan(static_cast<std::size_t>(first),
                                                                static_cast<std::size_t>(width));
               text.line("{}{} {}, {};", guard(predicate), instruction(name, place, width),
                         operand(registers), address(place, first));
             });
  if (t == DType::Bool) {
    for (std::string& x : loaded) x = text.define(t, "setp.ne.s16", {x, "0"});
  }
  return loaded;
}

void store(Text& text, const Place& place, std::span<const std::string> values) {
  std::vector<std::string> stored(values.begin(), values.end());
  for (std::string& x : stored) {
    if (place.dtype == DType::Bool) {
      x = text.define(RegisterClass::Bits16, "selp.b16", {"1", "0", x});
    } else if (x[0] != '%') {
      x = copied(text, place.dtype, x);  // constants are no parts of vectors
    }
  }
  const std::string name = fmt::format("st.{}", place.space);
  by_vectors(text, place, std::ssize(stored),
             [&](const std::string& predicate, std::int64_t first, std::int64_t width) {
               const auto registers = std::span(stored).subspan(static_cast<std::size_t>(first),
                                                                static_cast<std::size_t>(width));
               text.line("{}{} {}, {};", guard(predicate), instruction(name, place, width),
                         address(place, first), operand(registers));
             });
}

// Where the gate of what is read is false, nothing of it is, and zeros come instead.
void begin_copy(Text& text, const Place& to, const Place& from, std::int64_t elements) {
  const std::int64_t bytes = elements * size_of(to.dtype);
  const bool may_lack = !from.gate.empty() && from.gate != to.gate;
  const bool has_both = elements > 1 && !from.is_aligned.empty();
  std::string size;
  if (may_lack) {
    size =
        ", " + text.define(DType::UInt32, "selp.b32", {fmt::format("{}", bytes), "0", from.gate});
  }
  text.line("{}cp.async.{}.shared.global {}, {}, {}{};",
            guard(has_both ? both(text, to.gate, from.is_aligned) : to.gate),
            bytes == most_bytes ? "cg" : "ca", address(to, 0), address(from, 0), bytes, size);
  if (!has_both) return;
  const std::string alone =
      both(text, to.gate, text.define(DType::Bool, "not.pred", {from.is_aligned}));
  Place source = from, target = to;
  source.multiple = target.multiple = 1;
  source.gate = may_lack ? both(text, from.gate, alone) : alone;
  target.gate = alone;
  store(text, target, load(text, source, elements));
}

}  // namespace croze::ptx
