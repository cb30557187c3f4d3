// pipeline.h -- LLVM's passes set up once and run for one module after the other: what croze's own
// library of LLVM (linked.cpp) has beside LLVM's C interface.
#pragma once

#if CROZE_HAVE_LLVM

#include <llvm-c/TargetMachine.h>
#include <llvm-c/Types.h>

#include <cstddef>

extern "C" {

struct CrozeLlvmPipeline;

// What LLVMRunPasses() and LLVMTargetMachineEmitToMemoryBuffer() do, for modules of one processor.
// `passes` is what the first one takes.  Null if it does not parse; that, the first one says
// better. The machine must live as long.
CrozeLlvmPipeline* croze_llvm_create_pipeline(LLVMTargetMachineRef machine, const char* passes);
void croze_llvm_dispose_pipeline(CrozeLlvmPipeline* pipeline);

// The object of a module.  The bytes stand until the next call.  After an error, which the handler
// of the context is told of, the pipeline is of no more use.
const char* croze_llvm_run_pipeline(CrozeLlvmPipeline* pipeline, LLVMModuleRef module,
                                    std::size_t* size);
}

#endif  // CROZE_HAVE_LLVM
