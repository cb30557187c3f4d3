// export.h -- models that leave as plain C.
//
//     auto step = capture([&](const Tensor& image) { return net(image); });
//     step(Tensor::zeros({1, 1, 28, 28}));
//     export_c(step, "out", {.name = "fashion", .inputs = {"image"}, .outputs = {"scores"}});
//
// writes a folder that needs neither croze nor anything else but a C compiler, libc and libm:
//
//   fashion.h, fashion.c    fashion_init, fashion_reset, fashion_run; all state is in a struct
//   fashion_weights.h       what the step reads and never writes, or fashion.weights if asked for
//   CMakeLists.txt, main.c  a library, and a program that calls it
//
// Sizes that the step leaves open are parameters of fashion_run.  Tensors that the step assigns to
// (running averages, the state of a GRU, parameters and what an
// optimizer keeps of them) are fields of the struct; they start, and start again after a reset,
// with what they hold when the step is exported.  docs/export.md is the contract of what is
// written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/nn/state.h"

namespace croze {

struct CExportOptions {
  // Of the files, and what every function begins with: a C identifier.
  std::string name = "model";
  // Of the inputs and results of the step, in order, which become parameters in C.  What is no
  // identifier is made one; none: input0, input1, .. and output0, output1, ..
  std::vector<std::string> inputs = {}, outputs = {};
  // What tensors that the step uses are called in C, nn::state_dict(net) for example.  Others have
  // numbers.
  StateDict tensors = {};
  // What the kernels are made for.  "portable" takes vectors of 16 bytes and no fused
  // multiply-adds. "x86-64-v3", "x86-64-v4" and "arm64" have what compilers mean by -march of these
  // names; the text stays portable, but is slow where the machine has less.
  std::string machine = "portable";
  // Weights as arrays of C; else a file beside it, which the caller loads or maps.
  bool embed_weights = true;
  // Sizes that the step leaves open (Captured::open) are parameters of the run function; else they
  // are those of the last call.
  bool open_sizes = true;
};

// What was written.  Sizes are in bytes.
struct CExportSummary {
  std::vector<std::string> files;  // paths
  std::int64_t arena_bytes = 0;    // that a run works in
  std::int64_t state_bytes = 0;    // of tensors that the step assigns to
  std::int64_t weight_bytes = 0;   // of those that it only reads
  std::int64_t kernels = 0;        // distinct functions
  std::int64_t calls = 0;          // of them in a run, a block of a sequence counting once
};

// Writes a captured step, which has been called at least once, and at two sizes of each that stays
// open, into a folder, which is made if need
// be; files of these names are replaced.  Throws Error if the step was not called, if an input or
// a result has no elements, if names are wrong, or if the folder cannot be written: then nothing is
// left behind that was not there before, unless it was the last act that failed, in which complete
// files get their names one after the other.
CExportSummary export_c(const Step& step, const std::string& folder,
                        const CExportOptions& options = {}, Location at = Location::current());

template <typename F>
CExportSummary export_c(const Captured<F>& step, const std::string& folder,
                        const CExportOptions& options = {}, Location at = Location::current()) {
  return export_c(step.step(), folder, options, at);
}

}  // namespace croze
