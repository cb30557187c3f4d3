// tokenizer_target.cpp -- libFuzzer: any bytes are a tokenizer, which takes any text, or an Error.
#include <algorithm>

#include "croze/base/error.h"
#include "croze/llm/tokenizer/tokenizer.h"
#include "libfuzzer/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace croze::llm;
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const croze::test::MemoryFile file(bytes);
  try {
    const Tokenizer tokenizer = Tokenizer::load(file.path());
    const std::string text =
        "Ab<s> \u00e9 a1b\n" + bytes.substr(size - std::min<std::size_t>(size, 64));
    const auto ids = tokenizer.encode(text, {.parse_special = true});
    tokenizer.decode(ids, {.skip_special = false});
    TokenStream stream(tokenizer);
    for (const TokenId id : ids) stream.push(id);
    stream.finish();
  } catch (const croze::Error&) {
  }
  return 0;
}
