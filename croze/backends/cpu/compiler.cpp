// compiler.cpp -- LLVM in process, through its C interface.
#include "croze/backends/cpu/compiler.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "croze/backends/cpu/llvm_library.h"
#include "croze/base/error.h"

namespace croze {

#if CROZE_HAVE_LLVM

namespace {

// Codegen has made vectors and unrolled loops already and merges equal expressions by construction.
// What is left for LLVM: registers out of allocas, address arithmetic, and invariants out of loops.
// Of the 2.5 ms that a small kernel takes, these passes are a fifth.
constexpr const char* passes =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,loop-mssa(licm))";

// Owns a thing of LLVM's that a function of the library disposes of.
template <typename T>
class Owned {
 public:
  using Dispose = void (*)(T);
  Owned(T value, Dispose dispose) : value_(value), dispose_(dispose) {}
  ~Owned() {
    if (value_) dispose_(value_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T get() const { return value_; }

 private:
  T value_;
  Dispose dispose_;
};

class OwnedText : public Owned<char*> {
 public:
  explicit OwnedText(char* text) : Owned(text, llvm_library().LLVMDisposeMessage) {}
};

// What LLVM says of this machine.
struct Host {
  std::string triple, cpu, features;

  Host() {
    const LlvmLibrary& llvm = llvm_library();
    triple = OwnedText(llvm.LLVMGetDefaultTargetTriple()).get();
    cpu = OwnedText(llvm.LLVMGetHostCPUName()).get();
    features = OwnedText(llvm.LLVMGetHostCPUFeatures()).get();
  }
};

const Host& host() {
  static const Host& result = *new Host;
  return result;
}

[[noreturn]] void fail_compile(const std::string& name, const std::string& message) {
  fail_internal({"llvm", name}, "LLVM does not compile {}: {}", name, message);
}

// Without a handler LLVM prints its complaints and ends the process.
void collect_diagnostic(LLVMDiagnosticInfoRef diagnostic, void* context) {
  const LlvmLibrary& llvm = llvm_library();
  if (llvm.LLVMGetDiagInfoSeverity(diagnostic) != LLVMDSError) return;
  const OwnedText text(llvm.LLVMGetDiagInfoDescription(diagnostic));
  static_cast<std::string*>(context)->append(text.get());
}

// Kernels are no faster at the default level, and take a tenth longer to compile.
LLVMTargetMachineRef create_target_machine(const std::string& name) {
  const LlvmLibrary& llvm = llvm_library();
  LLVMTargetRef target = nullptr;
  char* message = nullptr;
  if (llvm.LLVMGetTargetFromTriple(host().triple.c_str(), &target, &message)) {
    fail_compile(name, OwnedText(message).get());
  }
  return llvm.LLVMCreateTargetMachine(target, host().triple.c_str(), host().cpu.c_str(),
                                      host().features.c_str(), LLVMCodeGenLevelLess, LLVMRelocPIC,
                                      LLVMCodeModelDefault);
}

// A target machine of this thread's own.  It learns what the features of the processor mean with
// its first kernel, a twentieth of the time that one takes, so those that are done wait for the
// next.
class TargetMachine {
 public:
  explicit TargetMachine(const std::string& name) {
    const std::lock_guard lock(idle().mutex);
    auto& machines = idle().machines;
    machine_ = machines.empty() ? create_target_machine(name) : machines.back();
    if (!machines.empty()) machines.pop_back();
  }
  ~TargetMachine() {
    const std::lock_guard lock(idle().mutex);
    idle().machines.push_back(machine_);
  }
  TargetMachine(const TargetMachine&) = delete;
  TargetMachine& operator=(const TargetMachine&) = delete;
  LLVMTargetMachineRef get() const { return machine_; }

 private:
  // Process-wide: named in docs/architecture.md as global state.
  struct Idle {
    std::mutex mutex;
    std::vector<LLVMTargetMachineRef> machines;
  };
  static Idle& idle() {
    static Idle& result = *new Idle;
    return result;
  }

  LLVMTargetMachineRef machine_;
};

LLVMModuleRef parse(LLVMContextRef context, const std::string& name, const std::string& source) {
  const LlvmLibrary& llvm = llvm_library();
  // The parser takes the buffer and gives it back to no one, even if it fails.
  LLVMMemoryBufferRef buffer = llvm.LLVMCreateMemoryBufferWithMemoryRange(
      source.data(), source.size(), name.c_str(), /*RequiresNullTerminator=*/true);
  LLVMModuleRef module = nullptr;
  char* message = nullptr;
  if (llvm.LLVMParseIRInContext(context, buffer, &module, &message)) {
    fail_compile(name, OwnedText(message).get());
  }
  return module;
}

// Text may parse and still break a rule that later passes take for granted.
void verify(LLVMModuleRef module, const std::string& name) {
  char* message = nullptr;
  const bool broken =
      llvm_library().LLVMVerifyModule(module, LLVMReturnStatusAction, &message) != 0;
  const OwnedText text(message);
  if (broken) fail_compile(name, text.get());
}

void run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const std::string& name) {
  const LlvmLibrary& llvm = llvm_library();
  const Owned options(llvm.LLVMCreatePassBuilderOptions(), llvm.LLVMDisposePassBuilderOptions);
  LLVMErrorRef error = llvm.LLVMRunPasses(module, passes, machine, options.get());
  if (!error) return;
  const Owned message(llvm.LLVMGetErrorMessage(error), llvm.LLVMDisposeErrorMessage);
  fail_compile(name, message.get());
}

}  // namespace

bool must_start_llvm() {
  static std::atomic<bool> is_started{false};
  return !is_started.exchange(true);
}

void start_llvm() noexcept {
  try {
    const TargetMachine machine("nothing yet");
  } catch (const std::exception&) {  // compile_llvm_ir() will say it
  }
}

std::string compile_llvm_ir(const std::string& name, const std::string& source) {
  const LlvmLibrary& llvm = llvm_library();
  const TargetMachine machine(name);
  const Owned context(llvm.LLVMContextCreate(), llvm.LLVMContextDispose);
  std::string complaint;
  llvm.LLVMContextSetDiagnosticHandler(context.get(), collect_diagnostic, &complaint);

  const Owned module(parse(context.get(), name, source), llvm.LLVMDisposeModule);
  llvm.LLVMSetTarget(module.get(), host().triple.c_str());
  verify(module.get(), name);
  run_passes(module.get(), machine.get(), name);

  LLVMMemoryBufferRef object = nullptr;
  char* message = nullptr;
  if (llvm.LLVMTargetMachineEmitToMemoryBuffer(machine.get(), module.get(), LLVMObjectFile,
                                               &message, &object)) {
    fail_compile(name, OwnedText(message).get());
  }
  const Owned owned_object(object, llvm.LLVMDisposeMemoryBuffer);
  if (!complaint.empty()) fail_compile(name, complaint);
  return {llvm.LLVMGetBufferStart(object), llvm.LLVMGetBufferSize(object)};
}

std::string disassemble(std::span<const std::byte> code) {
  const LlvmLibrary& llvm = llvm_library();
  const Owned disassembler(
      llvm.LLVMCreateDisasmCPUFeatures(host().triple.c_str(), host().cpu.c_str(),
                                       host().features.c_str(), nullptr, 0, nullptr, nullptr),
      llvm.LLVMDisasmDispose);
  ensure(disassembler.get() != nullptr, "LLVM has no disassembler for {}", host().triple);

  std::string result;
  auto* bytes = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(code.data()));
  for (std::size_t at = 0; at < code.size();) {
    char text[256] = "";
    const std::size_t length = llvm.LLVMDisasmInstruction(disassembler.get(), bytes + at,
                                                          code.size() - at, at, text, sizeof(text));
    result += fmt::format("{:6x}:{}\n", at, length ? text : "\t(bad)");
    at += length ? length : 1;
  }
  return result;
}

#else

bool must_start_llvm() { return false; }

void start_llvm() noexcept {}

std::string compile_llvm_ir(const std::string&, const std::string&) {
  fail({}, "this croze was built without LLVM: it has no compiler for the device CPU");
}

std::string disassemble(std::span<const std::byte>) { return {}; }

#endif

}  // namespace croze
