// suites.h -- the subcommands of croze-bench, each in a file of its name.
#pragma once

#include <string>
#include <vector>

#include "command_line/command.h"

namespace croze::bench {

void add_accuracy(const Command& program);
void add_all(const Command& program);
void add_beam(const Command& program);
void add_compile(const Command& program);
void add_cpu(const Command& program);
void add_fusion(const Command& program);
void add_gpt(const Command& program);
void add_gpu(const Command& program);
void add_kernels(const Command& program);
void add_llm(const Command& program);
void add_memory(const Command& program);
void add_onnx(const Command& program);
void add_opencl(const Command& program);
void add_rewrite(const Command& program);
void add_step(const Command& program);
void add_threads(const Command& program);
void add_trace(const Command& program);
void add_ulp(const Command& program);

// The names that croze-bench cpu --suite knows.
std::vector<std::string> cpu_suites();

}  // namespace croze::bench
