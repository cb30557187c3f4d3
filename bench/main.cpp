// croze-bench: what croze costs and how fast its kernels are, measured.
#include <cstdio>
#include <exception>

#include "croze/base/version.h"
#include "suites.h"

int main(int count, char** arguments) {
  using namespace croze::bench;
  try {
    return croze::run_program(
        {.name = "croze-bench",
         .description = "Measures croze.  Every suite prints a table, or with --json one line.",
         .version = croze::version()},
        {add_accuracy, add_all, add_beam, add_compile, add_cpu, add_fusion, add_gpt, add_gpu,
         add_kernels, add_llm, add_memory, add_onnx, add_opencl, add_rewrite, add_step, add_threads,
         add_trace, add_ulp},
        count, arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "croze-bench: %s\n", e.what());
    return 1;
  }
}
