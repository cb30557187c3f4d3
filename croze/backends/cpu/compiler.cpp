// compiler.cpp -- what LLVM is asked for where this machine runs the code.
#include "croze/backends/cpu/compiler.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "croze/backends/cpu/extensions.h"
#include "croze/base/error.h"
#include "croze/device/llvm/compile.h"

namespace croze {

namespace {

// Codegen has made vectors and unrolled loops already and merges equal expressions by construction.
// What is left for LLVM: registers out of allocas, what addresses have in common, and invariants
// out of loops. Instcombine is left out: it takes longer than these together, finds little in what
// codegen has simplified, and of one select for all sums makes one for each.
constexpr const char* passes = "function(mem2reg,early-cse,loop-mssa(licm))";
// Sums of tiles stay in their registers only if nothing stands between a loop and the store that
// follows it: licm leaves copies there.
constexpr const char* passes_of_tiles =
    "function(mem2reg,early-cse,instcombine<no-verify-fixpoint>,loop-mssa(licm),instsimplify)";

LlvmProcessor usable_host() {
  LlvmProcessor host = llvm_host();
  host.features = usable_features(std::move(host.features));
  return host;
}

const LlvmProcessor& host() {
  static const LlvmProcessor& result = *new LlvmProcessor(usable_host());
  return result;
}

}  // namespace

bool must_start_llvm() {
#if CROZE_HAVE_LLVM
  static std::atomic<bool> is_started{false};
  return !is_started.exchange(true);
#else
  return false;
#endif
}

void start_llvm() noexcept {
  try {
    prepare_llvm_for(host(), {.name = {}, .passes = passes});
  } catch (const std::exception&) {  // compile_llvm_ir() will say it
  }
}

// Kernels are no faster at LLVM's default level, and take a tenth longer to compile.
std::string compile_llvm_ir(const std::string& name, const std::string& source) {
  const bool has_tiles = source.find("x86_amx") != std::string::npos;
  return compile_llvm_ir(host(), {.name = name, .passes = has_tiles ? passes_of_tiles : passes},
                         source);
}

std::string disassemble(std::span<const std::byte> code) {
  std::string result;
  for (const DisassembledInstruction& i : disassemble_for(host(), code)) {
    result += fmt::format("{:6x}:{}\n", i.offset, i.text);
  }
  return result;
}

}  // namespace croze
