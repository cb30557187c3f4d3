// machine.cpp -- the capabilities that can be counted on.
#include "croze/export/c/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "croze/base/error.h"
#include "croze/render/c_family/c.h"

namespace croze::plain_c {
namespace {

struct Description {
  std::string_view name;
  std::int64_t vector_bytes, vector_registers;
  // Without an instruction fma() is a slow call, and C says at no price whether there is one.
  bool has_fma;
};

// 16 bytes is what SSE2, NEON and the vectors of WebAssembly have.
constexpr std::array descriptions{
    Description{"portable", 16, 16, false},
    Description{"arm64", 16, 32, true},
    Description{"x86-64-v3", 32, 16, true},
    Description{"x86-64-v4", 64, 32, true},
};

Caps described(const Description& machine) {
  Caps caps;
  caps.device = "C";
  caps.architecture = machine.name;
  caps.ops = CRenderer::ops();
  if (!machine.has_fma) caps.ops &= ~set_of({Op::MulAdd});
  caps.dtypes = caps.storage = CRenderer::dtypes();
  caps.threads = 1;
  caps.vector_bytes = machine.vector_bytes;
  caps.vector_registers = machine.vector_registers;
  caps.masked_vectors = true;
  // Sequences: what nests pass to each other is small and stays in the cache.
  caps.joins_nests = true;
  caps.l1_bytes = 32 << 10;
  caps.l2_bytes = 256 << 10;
  return caps;
}

template <std::size_t number>
const Caps& caps_of(int /*device*/) {
  static const Caps caps = described(descriptions[number]);
  return caps;
}

template <std::size_t... numbers>
constexpr std::array<Machine, sizeof...(numbers)> machines(std::index_sequence<numbers...>) {
  return {caps_of<numbers>...};
}

}  // namespace

Machine machine_called(std::string_view name) {
  constexpr auto all = machines(std::make_index_sequence<descriptions.size()>());
  const auto found = std::ranges::find(descriptions, name, &Description::name);
  if (found != descriptions.end()) {
    return all[static_cast<std::size_t>(found - descriptions.begin())];
  }
  std::vector<std::string_view> names;
  for (const Description& d : descriptions) names.push_back(d.name);
  fail({}, "there is no machine \"{}\" to export for, but {}", name, fmt::join(names, ", "));
}

}  // namespace croze::plain_c
