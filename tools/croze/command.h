// command.h -- the subcommands: each function, in a file of its name, adds one to the program.
#pragma once

namespace CLI {
class App;
}

namespace croze::tool {

void add_devices(CLI::App& app);
void add_docs(CLI::App& app);
void add_eval(CLI::App& app);
void add_fuzz(CLI::App& app);
void add_info(CLI::App& app);
void add_onnx_conformance(CLI::App& app);
void add_options(CLI::App& app);
void add_run(CLI::App& app);
void add_rules(CLI::App& app);
void add_train(CLI::App& app);

}  // namespace croze::tool
