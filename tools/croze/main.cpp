// main.cpp -- the croze command.  Exit status: 0 done, 1 an error, 2 wrong use.
#include <cstdio>
#include <string>

#include "commands.h"
#include "croze/base/log.h"
#include "croze/base/options.h"
#include "croze/base/version.h"
#include "croze/graph/rewrite/rule_statistics.h"
#include "guarded.h"

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
                             add_devices,   add_kernels,  add_fuzz,          add_replay,
                             add_options,   add_docs,     add_rules,         add_tune,
                             add_viz},
                            count, arguments);
}

}  // namespace

int main(int count, char** arguments) {
  return guarded("croze", [&] {
    const int status = run(count, arguments);
    if (croze::Options::flag(croze::Option::RuleStats)) {
      std::fputs(croze::rule_statistics().text().c_str(), stderr);
    }
    return status;
  });
}
