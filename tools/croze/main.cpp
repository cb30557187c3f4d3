// main.cpp -- the croze command.  Exit status: 0 done, 1 an error, 2 wrong use.
#include <croze/base/error.h>
#include <croze/base/log.h>
#include <croze/base/options.h>
#include <croze/base/version.h>
#include <croze/graph/rule_set.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "command.h"

namespace {

constexpr int failure = 1, wrong_use = 2;

int run(int count, char** arguments) {
  CLI::App app{"croze: a deep-learning compiler and framework", "croze"};
  app.set_version_flag("--version", std::string("croze ") + croze::version());
  app.require_subcommand(1);
  croze::tool::add_train(app);
  croze::tool::add_eval(app);
  croze::tool::add_run(app);
  croze::tool::add_info(app);
  croze::tool::add_onnx_conformance(app);
  croze::tool::add_devices(app);
  croze::tool::add_fuzz(app);
  croze::tool::add_options(app);
  croze::tool::add_docs(app);
  croze::tool::add_rules(app);
  try {
    croze::warn_of_unknown_options();
    app.parse(count, arguments);
    return 0;
  } catch (const CLI::ParseError& e) {
    // Prints help to standard output, complaints to standard error.
    return app.exit(e) == 0 ? 0 : wrong_use;
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const int status = run(count, arguments);
    if (croze::Options::flag(croze::Option::RuleStats)) {
      std::fputs(croze::rule_statistics_text().c_str(), stderr);
    }
    if (std::fflush(stdout) == 0) return status;
    std::fputs("croze: cannot write to standard output\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "croze: %s\n", e.what());
  }
  return failure;
}
