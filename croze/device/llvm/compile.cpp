// compile.cpp -- LLVM in process, through its C interface.
#include "croze/device/llvm/compile.h"

#include <cstdint>
#include <map>
#include <mutex>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "croze/device/llvm/library.h"

namespace croze {

#if CROZE_HAVE_LLVM

namespace {

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

LLVMTargetMachineRef create_target_machine(const LlvmProcessor& processor, bool optimizes) {
  const LlvmLibrary& llvm = llvm_library();
  LLVMTargetRef target = nullptr;
  char* message = nullptr;
  const char* const triple = processor.triple.c_str();
  if (llvm.LLVMGetTargetFromTriple(triple, &target, &message)) {
    const OwnedText text(message);
    fail({}, "this libLLVM does not compile for {}: {}", processor.triple, text.get());
  }
  return llvm.LLVMCreateTargetMachine(target, triple, processor.cpu.c_str(),
                                      processor.features.c_str(),
                                      optimizes ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelLess,
                                      LLVMRelocPIC, LLVMCodeModelDefault);
}

// What one thread compiles with: a target machine, and its passes where croze's own library keeps
// them.  The machine learns what the features of the processor mean with its first kernel, a
// twentieth of the time that one takes, and passes take another tenth to set up, so those that are
// done wait for the next kernel.
class Compiler {
 public:
  Compiler(const LlvmProcessor& processor, const LlvmJob& job)
      : key_(processor.triple + ' ' + processor.cpu + ' ' + processor.features +
             (job.optimizes ? " 2 " : " 1 ") + job.passes) {
    const std::lock_guard lock(idle().mutex);
    auto& parts = idle().parts[key_];
    if (parts.empty()) {
      parts_ = create(processor, job);
    } else {
      parts_ = parts.back();
      parts.pop_back();
    }
  }
  ~Compiler() {
    if (parts_.pipeline && is_spoilt_) {
      llvm_library().croze_llvm_dispose_pipeline(parts_.pipeline);
      llvm_library().LLVMDisposeTargetMachine(parts_.machine);
      return;
    }
    const std::lock_guard lock(idle().mutex);
    idle().parts[key_].push_back(parts_);
  }
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  LLVMTargetMachineRef machine() const { return parts_.machine; }
  // Null where LLVM has to be asked by its C interface.
  CrozeLlvmPipeline* pipeline() const { return parts_.pipeline; }
  void fail(const std::string& name, const std::string& message) {
    is_spoilt_ = true;
    fail_compile(name, message);
  }

 private:
  struct Parts {
    LLVMTargetMachineRef machine = nullptr;
    CrozeLlvmPipeline* pipeline = nullptr;
  };
  // Process-wide: named in docs/architecture.md as global state.
  struct Idle {
    std::mutex mutex;
    std::map<std::string, std::vector<Parts>> parts;  // by processor and passes
  };
  static Idle& idle() {
    static Idle& result = *new Idle;
    return result;
  }

  static Parts create(const LlvmProcessor& processor, const LlvmJob& job) {
    const LlvmLibrary& llvm = llvm_library();
    Parts result = {create_target_machine(processor, job.optimizes)};
    if (llvm.croze_llvm_create_pipeline) {
      result.pipeline = llvm.croze_llvm_create_pipeline(result.machine, job.passes);
    }
    return result;
  }

  std::string key_;
  Parts parts_;
  bool is_spoilt_ = false;
};

// The text says nothing of the processor: how large pointers are, say.
void set_processor(LLVMModuleRef module, const LlvmProcessor& processor,
                   LLVMTargetMachineRef machine) {
  const LlvmLibrary& llvm = llvm_library();
  llvm.LLVMSetTarget(module, processor.triple.c_str());
  const Owned layout(llvm.LLVMCreateTargetDataLayout(machine), llvm.LLVMDisposeTargetData);
  llvm.LLVMSetModuleDataLayout(module, layout.get());
}

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
  if (!Options::flag(Option::CheckSpec)) return;
  char* message = nullptr;
  const bool broken =
      llvm_library().LLVMVerifyModule(module, LLVMReturnStatusAction, &message) != 0;
  const OwnedText text(message);
  if (broken) fail_compile(name, text.get());
}

void run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const LlvmJob& job) {
  const LlvmLibrary& llvm = llvm_library();
  const Owned options(llvm.LLVMCreatePassBuilderOptions(), llvm.LLVMDisposePassBuilderOptions);
  LLVMErrorRef error = llvm.LLVMRunPasses(module, job.passes, machine, options.get());
  if (!error) return;
  const Owned message(llvm.LLVMGetErrorMessage(error), llvm.LLVMDisposeErrorMessage);
  fail_compile(job.name, message.get());
}

// The object that the parts of LLVM's C interface make, one after the other.
std::string emit(LLVMModuleRef module, LLVMTargetMachineRef machine, const LlvmJob& job) {
  const LlvmLibrary& llvm = llvm_library();
  run_passes(module, machine, job);
  LLVMMemoryBufferRef object = nullptr;
  char* message = nullptr;
  if (llvm.LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message,
                                               &object)) {
    fail_compile(job.name, OwnedText(message).get());
  }
  const Owned owned_object(object, llvm.LLVMDisposeMemoryBuffer);
  return {llvm.LLVMGetBufferStart(object), llvm.LLVMGetBufferSize(object)};
}

std::string emit(LLVMModuleRef module, CrozeLlvmPipeline* pipeline) {
  std::size_t size = 0;
  const char* const object = llvm_library().croze_llvm_run_pipeline(pipeline, module, &size);
  return {object, size};
}

}  // namespace

LlvmProcessor llvm_host() {
  const LlvmLibrary& llvm = llvm_library();
  return {OwnedText(llvm.LLVMGetDefaultTargetTriple()).get(),
          OwnedText(llvm.LLVMGetHostCPUName()).get(),
          OwnedText(llvm.LLVMGetHostCPUFeatures()).get()};
}

int llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  llvm_library().LLVMGetVersion(&major, &minor, &patch);
  return static_cast<int>(major);
}

void prepare_llvm_for(const LlvmProcessor& processor, const LlvmJob& job) {
  const Compiler compiler(processor, job);
}

std::string compile_llvm_ir(const LlvmProcessor& processor, const LlvmJob& job,
                            const std::string& source) {
  const LlvmLibrary& llvm = llvm_library();
  Compiler compiler(processor, job);
  const Owned context(llvm.LLVMContextCreate(), llvm.LLVMContextDispose);
  std::string complaint;
  llvm.LLVMContextSetDiagnosticHandler(context.get(), collect_diagnostic, &complaint);

  const Owned module(parse(context.get(), job.name, source), llvm.LLVMDisposeModule);
  set_processor(module.get(), processor, compiler.machine());
  verify(module.get(), job.name);
  std::string object = compiler.pipeline() ? emit(module.get(), compiler.pipeline())
                                           : emit(module.get(), compiler.machine(), job);
  if (!complaint.empty()) compiler.fail(job.name, complaint);
  return object;
}

std::vector<DisassembledInstruction> disassemble_for(const LlvmProcessor& processor,
                                                     std::span<const std::byte> code) {
  const LlvmLibrary& llvm = llvm_library();
  const Owned disassembler(
      llvm.LLVMCreateDisasmCPUFeatures(processor.triple.c_str(), processor.cpu.c_str(),
                                       processor.features.c_str(), nullptr, 0, nullptr, nullptr),
      llvm.LLVMDisasmDispose);
  ensure(disassembler.get() != nullptr, "LLVM has no disassembler for {}", processor.triple);

  std::vector<DisassembledInstruction> result;
  auto* bytes = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(code.data()));
  for (std::size_t at = 0; at < code.size();) {
    char text[256] = "";
    const std::size_t length = llvm.LLVMDisasmInstruction(disassembler.get(), bytes + at,
                                                          code.size() - at, at, text, sizeof(text));
    result.push_back({at, length ? length : 1, length ? text : "\t(bad)"});
    at += result.back().bytes;
  }
  return result;
}

#else

int llvm_version() { return 0; }

void prepare_llvm_for(const LlvmProcessor&, const LlvmJob&) {}

LlvmProcessor llvm_host() { return {}; }

std::string compile_llvm_ir(const LlvmProcessor&, const LlvmJob&, const std::string&) {
  fail({}, "this croze was built without LLVM: it has no compiler for kernels in LLVM IR");
}

std::vector<DisassembledInstruction> disassemble_for(const LlvmProcessor&,
                                                     std::span<const std::byte>) {
  return {};
}

#endif

}  // namespace croze
