// demo.cpp -- croze-demo: the part of the croze command that `make demo` runs, linked with the
// layers that a training needs and not with the readers of models and the language models, so that
// a fresh checkout compiles half as much for it.
#include "commands.h"
#include "croze/base/log.h"
#include "croze/base/version.h"
#include "guarded.h"

int main(int count, char** arguments) {
  using namespace croze;
  return tool::guarded("croze-demo", [&] {
    warn_of_unknown_options();
    return run_program({.name = "croze-demo",
                        .description = "Trains a model, as croze train does",
                        .version = std::string("croze-demo ") + version()},
                       {tool::add_train_fashion}, count, arguments);
  });
}
