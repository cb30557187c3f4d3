// train.cpp -- croze train: models from random weights to a file.
#include "commands.h"

namespace croze::tool {

void add_train(const Command& program) {
  const Command command = program.group("train", "Train a model");
  add_train_fashion(command);
  add_train_gpt(command);
}

}  // namespace croze::tool
