// croze-bench: what croze costs and how fast its kernels are, measured.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"
#include "suites.h"

int main(int argc, char** argv) {
  CLI::App app("Measures croze.  Every suite prints a table, or with --json one line.");
  app.require_subcommand(1);
  croze::bench::add_compile(app);
  croze::bench::add_cpu(app);
  croze::bench::add_memory(app);
  croze::bench::add_opencl(app);
  croze::bench::add_rewrite(app);
  croze::bench::add_ulp(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "croze-bench: %s\n", e.what());
    return 1;
  }
}
