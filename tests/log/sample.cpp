// log_sample FOLDER: writes a run whose values are known, for read_with_tensorboard.py.
#include <croze/croze.h>
#include <croze/log/run.h>

#include <cmath>

using namespace croze;

int main(int count, char** arguments) {
  if (count != 2) return 2;
  logs::Run run("sample", {.folder = arguments[1]});
  for (int step = 0; step < 1000; step++) {
    run.scalar("loss", 1.0 / (1 + step), step);
    run.scalar("accuracy/train", Tensor::full({1}, step) / 1000, step);
  }
  run.scalar("negative step", -3.5, -7);
  run.scalar("infinite", INFINITY, 0);
  std::vector<float> values;
  for (int i = 0; i < 1000; i++) values.push_back(0.01f * static_cast<float>(i - 300));
  values.push_back(NAN);
  run.histogram("weights", Tensor::from_data(values, {7, 11, 13}), 3);
  // Red grows to the right, green downwards, blue is 51.
  std::vector<float> picture;
  for (int i = 0; i < 3 * 4 * 5; i++) {
    const int channel = i / 20, y = i / 5 % 4, x = i % 5;
    picture.push_back(channel == 0   ? 0.2f * static_cast<float>(x)
                      : channel == 1 ? 0.2f * static_cast<float>(y)
                                     : 0.2f);
  }
  run.image("picture", Tensor::from_data(picture, {3, 4, 5}), 9);
  run.text("notes", "learning rate **0.1**, größer", 1);
}
