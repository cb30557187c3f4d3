// suites.h -- the subcommands of croze-bench, each in a file of its name.
#pragma once

namespace CLI {
class App;
}

namespace croze::bench {

void add_compile(CLI::App& app);
void add_cpu(CLI::App& app);
void add_memory(CLI::App& app);
void add_opencl(CLI::App& app);
void add_rewrite(CLI::App& app);
void add_ulp(CLI::App& app);

}  // namespace croze::bench
