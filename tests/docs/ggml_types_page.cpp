// ggml_types_page.cpp -- writes docs/ggml_types.md: each type of block that GGUF files have,
// decoded and compared with what ggml's own package makes of it.
//
//     ggml_types_page [BLOCKS.gguf]
//
// The file has for each type a tensor of random blocks and what they decode to, as
// golden/make_gguf.py writes it.  The status is 1 if a bit differs.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "croze/io/gguf/gguf.h"

namespace {

using namespace croze;

std::int64_t differences(const std::vector<float>& found, const std::vector<float>& wanted) {
  if (found.size() != wanted.size()) return std::ssize(wanted);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < found.size(); i++) {
    count += std::memcmp(&found[i], &wanted[i], sizeof(float)) != 0;
  }
  return count;
}

// Whether all bits of the type are as they should be.
bool print_row(const GgufFile& file, const GgmlTypeInfo& type) {
  const GgufTensor& blocks = file.tensor(type.name);
  const std::int64_t differ =
      differences(blocks.decoded().to_vector<float>(),
                  file.tensor(std::string(type.name) + ".decoded").stored.to_vector<float>());
  fmt::print("| {} | {} | {} | {:.4g} | {} | {} |\n", type.name, type.block_elements,
             type.block_bytes,
             8. * static_cast<double>(type.block_bytes) / static_cast<double>(type.block_elements),
             blocks.stored.numel() / type.block_bytes, differ == 0 ? "all" : "DIFFERS");
  return differ == 0;
}

bool print_page(const char* path) {
  fmt::print(R"(# Types of ggml

What the tensors of GGUF files are made of. `F32`, `F16`, `BF16`, `F64`, `I8`, `I16`, `I32` and `I64` are
numbers, each a dtype of croze's. The others are blocks, which croze keeps as the bytes that they are and
decodes in the kernels that use them (`croze/io/gguf/decode.h`).

This table is written by a program, `make docs`, that decodes random blocks and compares every bit with
what ggml's package `gguf` makes of them (`tests/golden/make_gguf.py`); `ctest -L llm` does so with
a hundred times as many blocks where the package is installed.

| type | elements of a block | bytes | bits an element | blocks compared | equal |
|---|---|---|---|---|---|
)");
  const GgufFile file = load_gguf(path, {.device = "CPU"});
  bool good = true;
  for (std::uint32_t number = 0; number < 64; number++) {
    const GgmlTypeInfo* type = ggml_type_info(number);
    if (type != nullptr && type->is_blocks()) good = print_row(file, *type) && good;
  }
  return good;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return print_page(count > 1 ? arguments[1] : GGUF_GOLDEN "/blocks.gguf") ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
