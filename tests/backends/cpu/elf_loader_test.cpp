// elf_loader_test.cpp -- objects whole and damaged.
#include "croze/backends/cpu/elf_loader.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "croze/backends/cpu/compiler.h"
#include "croze/base/error.h"

namespace croze {
namespace {

double twice(double x) { return 2 * x; }

const void* resolve(std::string_view name) {
  return name == "twice" ? reinterpret_cast<const void*>(&twice) : nullptr;
}

// Uses a constant table, a function of its own and one from outside.
const std::string& object() {
  static const std::string result = compile_llvm_ir("sample", R"(
@table = internal constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
declare double @twice(double)
define internal double @pick(i64 %i) noinline {
  %p = getelementptr double, ptr @table, i64 %i
  %x = load double, ptr %p
  ret double %x
}
define double @sample(i64 %i) nounwind {
  %x = call double @pick(i64 %i)
  %y = call double @twice(double %x)
  %z = fadd double %y, 0.3
  ret double %z
}
)");
  return result;
}

using Function = double (*)(std::int64_t);

TEST(ElfLoader, ResolvesConstantsAndCalls) {
  const CodeImage image(object(), resolve);
  const auto sample = reinterpret_cast<Function>(const_cast<void*>(image.entry()));
  for (std::int64_t i = 0; i < 4; i++) {
    EXPECT_EQ(sample(i), 2 * static_cast<double>(1 << i) + 0.3);
  }
  EXPECT_FALSE(image.code().empty());
}

// A caller that checks what it calls reads there; code begins with a page otherwise.
TEST(ElfLoader, BytesInFrontOfTheCodeCanBeRead) {
  const CodeImage image(compile_llvm_ir("alone", R"(
define double @alone(i64 %i) nounwind {
  ret double 0.3
}
)"),
                        resolve);
  std::uint64_t signature = 1;
  std::memcpy(&signature, static_cast<const std::byte*>(image.entry()) - sizeof(signature),
              sizeof(signature));
  EXPECT_EQ(signature, 0u);
}

TEST(ElfLoader, AnUnknownSymbolIsNamed) {
  try {
    CodeImage(object(), [](std::string_view) -> const void* { return nullptr; });
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("'twice'"), std::string::npos);
  }
}

// Loads, but does not run, what may be damaged: either it is refused or it fits its pages.
void load(const std::string& bytes) {
  try {
    const CodeImage image(bytes, resolve);
  } catch (const Error&) {
  } catch (const InternalError&) {
  }
}

TEST(ElfLoader, EveryPrefixIsRefused) {
  for (std::size_t size = 0; size < object().size(); size++) {
    EXPECT_THROW(CodeImage(object().substr(0, size), resolve), Error) << size;
  }
}

TEST(ElfLoader, DamagedBytesNeverReachOutside) {
  const std::string values("\x00\x01\x7f\x80\xff", 5);
  for (std::size_t i = 0; i < object().size(); i++) {
    for (char value : values) {
      std::string damaged = object();
      damaged[i] = value;
      load(damaged);
    }
  }
  std::mt19937 random(7);
  for (int round = 0; round < 20000; round++) {
    std::string damaged = object();
    for (int k = 0; k < 8; k++) damaged[random() % damaged.size()] = static_cast<char>(random());
    load(damaged);
  }
}

TEST(ElfLoader, CodeOfAnotherMachineIsAnError) {
  std::string foreign = object();
  const std::uint16_t machine = EM_S390;
  std::memcpy(foreign.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
  EXPECT_THROW(CodeImage(foreign, resolve), Error);
}

}  // namespace
}  // namespace croze
