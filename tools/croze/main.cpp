// main.cpp -- the croze command.  Exit status: 0 done, 1 an error, 2 wrong use.
#include <cstdio>
#include <exception>
#include <string>

#include "commands.h"
#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/base/version.h"
#include "croze/graph/rewrite/rule_statistics.h"

namespace {

using namespace croze::tool;

int run(int count, char** arguments) {
  croze::warn_of_unknown_options();
  return croze::run_program({.name = "croze",
                             .description = "croze: a deep-learning compiler and framework",
                             .version = std::string("croze ") + croze::version()},
                            {add_train,     add_eval,     add_run,           add_profile,
                             add_explain,   add_export,   add_step,          add_quantize,
                             add_info,      add_chat,     add_serve,         add_embed,
                             add_bench_llm, add_tokenize, add_chat_template, add_onnx_conformance,
                             add_devices,   add_fuzz,     add_replay,        add_options,
                             add_docs,      add_rules,    add_tune,          add_viz},
                            count, arguments);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const int status = run(count, arguments);
    if (croze::Options::flag(croze::Option::RuleStats)) {
      std::fputs(croze::rule_statistics().text().c_str(), stderr);
    }
    if (std::fflush(stdout) == 0) return status;
    std::fputs("croze: cannot write to standard output\n", stderr);
  } catch (const croze::Error& e) {
    // Its place is a line of the command, which says nothing to who uses it.
    croze::ErrorDetails details = e.details();
    details.where = {};
    std::fprintf(stderr, "croze: %s\n", croze::Error(e.message(), details).what());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "croze: %s\n", e.what());
  }
  return 1;
}
