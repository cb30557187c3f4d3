// command.h -- the subcommands: each function, in a file of its name, adds one to the program.
#pragma once

#include "command_line/command.h"

namespace croze::tool {

void add_bench_llm(const Command& program);
void add_chat(const Command& program);
void add_chat_template(const Command& program);
void add_devices(const Command& program);
void add_docs(const Command& program);
void add_eval(const Command& program);
void add_explain(const Command& program);
void add_export(const Command& program);
void add_fuzz(const Command& program);
void add_info(const Command& program);
void add_kernels(const Command& program);
void add_onnx_conformance(const Command& program);
void add_options(const Command& program);
void add_profile(const Command& program);
void add_quantize(const Command& program);
void add_replay(const Command& program);
void add_run(const Command& program);
void add_rules(const Command& program);
void add_serve(const Command& program);
void add_embed(const Command& program);
void add_step(const Command& program);
void add_tokenize(const Command& program);
void add_train(const Command& program);
void add_train_fashion(const Command& train_command);
void add_train_gpt(const Command& train_command);
void add_tune(const Command& program);
void add_viz(const Command& program);

}  // namespace croze::tool
