// pipeline.cpp -- passes that are made once.
//
// LLVM's C interface makes the 130 passes of a processor anew for each module, and orders them by
// what they need of each other: a third of a millisecond, of the three that a small kernel takes.
// They may as well be run again, as `llc -compile-twice` does.  Of these passes a third are for
// what kernels never have, exceptions, garbage collectors, debuggers and mitigations; each asks for
// analyses and visits all blocks to find that there is nothing to do.  They are left out.
#include "croze/device/llvm/pipeline.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Pass.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace {

// By the names that LLVM prints.  One that a version of LLVM calls otherwise is run, to no effect.
constexpr llvm::StringLiteral idle_passes[] = {
    // Numbers and calls that no kernel has.
    "Expand large div/rem",
    "Expand large fp convert",
    "Merge contiguous icmps into a memcmp",
    "Expand memcmp() to load/stores",
    "Replace intrinsics with calls to vector library",
    "Partially inline calls to library functions",
    "Expand vector predication intrinsics",
    "TLS Variable Hoist",
    "Local Dynamic TLS Access Clean-up",
    "Lower constant intrinsics",
    "Expand indirectbr instructions",
    "Prepare callbr",
    "Argument Stack Rebase",
    "X86 FP Stackifier",
    "X86 insert wait instruction",
    // Counters that codegen has made already, which LLVM doesn't see through.
    "Canonicalize Freeze Instructions in Loops",
    "Loop Strength Reduction",
    // What codegen has joined, ordered and chosen already: constants, shuffles, blocks, sides.
    "Constant Hoisting",
    "Interleaved Access Pass",
    "Early Tail Duplication",
    "Tail Duplication",
    "Optimize machine instruction PHIs",
    "Early If-Conversion",
    "X86 Domain Reassignment Pass",
    "X86 LEA Optimize",
    // What bytes and words, small processors and copies of structures make slow.
    "X86 Byte/Word Instruction Fixup",
    "X86 Atom pad short functions",
    "X86 Avoid Store Forwarding Blocks",
    // Variables on the stack, of changing size or that live at different times.
    "X86 DynAlloca Expander",
    "Merge disjoint stack slots",
    "Local Stack Slot Allocation",
    // Exceptions and unwinding.
    "Exception handling preparation",
    "Contiguously Lay Out Funclets",
    "Check CFA info and insert CFI instructions if needed",
    "Shrink Wrapping analysis",
    // Garbage collectors.
    "Lower Garbage Collection Instructions",
    "Shadow Stack GC Lowering",
    "Fixup Statepoint Caller Saved",
    "Analyze Machine Code For Garbage Collection",
    "StackMap Liveness Analysis",
    // Debuggers, profilers and sanitizers.
    "Instrument function entry/exit with calls to e.g. mcount() (post inlining)",
    "Insert fentry calls",
    "Insert XRay ops",
    "Implement the 'patchable-function' attribute",
    "Remove Redundant DEBUG_VALUE analysis",
    "Live DEBUG_VALUE analysis",
    "Machine Sanitizer Binary Metadata",
    "Stack Frame Layout Analysis",
    "Pseudo Probe Inserter",
    "X86 Discriminate Memory Operands",
    "X86 Insert Cache Prefetches",
    "Register Allocation Pass Scoring",
    // What shuts out attackers.
    "Safe Stack instrumentation pass",
    "Insert stack protectors",
    "Insert KCFI indirect call checks",
    "Unpack machine instruction bundles",
    "X86 Windows Fixup Buffer Security Check",
    "X86 speculative load hardening",
    "X86 Load Value Injection (LVI) Load Hardening",
    "X86 Load Value Injection (LVI) Ret-Hardening",
    "X86 Indirect Branch Tracking",
    "X86 Speculative Execution Side Effect Suppression",
    "X86 Indirect Thunks",
    "X86 Return Thunks",
    // Schedulers, which are off.
    "Machine Instruction Scheduler",
    "Post RA top-down list latency scheduler",
};

bool is_idle(llvm::StringRef pass) {
  return std::find(std::begin(idle_passes), std::end(idle_passes), pass) != std::end(idle_passes);
}

// Takes all passes but the idle ones.
class BusyPasses final : public llvm::legacy::PassManagerBase {
 public:
  explicit BusyPasses(llvm::legacy::PassManagerBase& manager) : manager_(manager) {}

  void add(llvm::Pass* pass) override {
    if (is_idle(pass->getPassName())) {
      delete pass;
    } else {
      manager_.add(pass);
    }
  }

 private:
  llvm::legacy::PassManagerBase& manager_;
};

bool runs_again(const llvm::Triple& processor) {
  return processor.isX86() || processor.isAArch64();
}

// The list is of this processor at this level: others have their uses for some of these passes.
bool has_idle_passes(const llvm::TargetMachine& machine) {
  return machine.getTargetTriple().getArch() == llvm::Triple::x86_64 &&
         machine.getOptLevel() == llvm::CodeGenOptLevel::Less;
}

}  // namespace

struct CrozeLlvmPipeline {
  explicit CrozeLlvmPipeline(llvm::TargetMachine& machine) : builder(&machine) {
    builder.registerModuleAnalyses(of_modules);
    builder.registerCGSCCAnalyses(of_components);
    builder.registerFunctionAnalyses(of_functions);
    builder.registerLoopAnalyses(of_loops);
    builder.crossRegisterProxies(of_loops, of_functions, of_components, of_modules);
  }

  void forget_analyses() {
    of_modules.clear();
    of_components.clear();
    of_functions.clear();
    of_loops.clear();
  }

  llvm::LoopAnalysisManager of_loops;
  llvm::FunctionAnalysisManager of_functions;
  llvm::CGSCCAnalysisManager of_components;
  llvm::ModuleAnalysisManager of_modules;
  llvm::PassBuilder builder;
  llvm::ModulePassManager passes;

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream{object};
  llvm::legacy::PassManager code_passes;
};

CrozeLlvmPipeline* croze_llvm_create_pipeline(LLVMTargetMachineRef machine, const char* passes) {
  auto& target = *reinterpret_cast<llvm::TargetMachine*>(machine);
  if (!runs_again(target.getTargetTriple())) return nullptr;
  auto pipeline = std::make_unique<CrozeLlvmPipeline>(target);
  if (llvm::Error error = pipeline->builder.parsePassPipeline(pipeline->passes, passes)) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  BusyPasses busy(pipeline->code_passes);
  llvm::legacy::PassManagerBase& all = pipeline->code_passes;
  const bool fails =
      target.addPassesToEmitFile(has_idle_passes(target) ? busy : all, pipeline->stream, nullptr,
                                 llvm::CodeGenFileType::ObjectFile);
  return fails ? nullptr : pipeline.release();
}

void croze_llvm_dispose_pipeline(CrozeLlvmPipeline* pipeline) { delete pipeline; }

const char* croze_llvm_run_pipeline(CrozeLlvmPipeline* pipeline, LLVMModuleRef module,
                                    std::size_t* size) {
  llvm::Module& m = *llvm::unwrap(module);
  pipeline->passes.run(m, pipeline->of_modules);
  pipeline->forget_analyses();
  pipeline->object.clear();
  pipeline->code_passes.run(m);
  *size = pipeline->object.size();
  return pipeline->object.data();
}
