// viz_runs FOLDER NAME FIRST LAST: notes steps FIRST up to LAST of a training that is made up, in a
// run of this name.  tests/viz/runs_page_test.mjs knows the values.
#include <croze/croze.h>
#include <croze/log/run.h>

#include <cmath>
#include <string>
#include <vector>

using namespace croze;

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const std::string name = arguments[2];
  const int first = std::stoi(arguments[3]), last = std::stoi(arguments[4]);
  const double speed = name == "slow" ? 0.01 : 0.03;
  logs::Run run(name, {.folder = arguments[1]});
  manual_seed(static_cast<std::uint64_t>(first + 1));
  for (int step = first; step < last; step++) {
    const double noise = 0.05 * std::sin(step * 12.9898);
    run.scalar("loss/train", 2.3 * std::exp(-speed * step) + 0.2 + noise, step);
    run.scalar("accuracy/train", 1 - 0.9 * std::exp(-speed * step) + noise / 5, step);
    if (step == 5) run.scalar("loss/train", NAN, step);
    if (step % 10 != 0) continue;
    const double width = 1 / (1 + 0.02 * step);
    run.histogram("weights", Tensor::randn({1000}) * width + 0.01 * step, step);
    // A red column that moves.
    std::vector<std::uint8_t> picture(3 * 16 * 16);
    for (std::size_t y = 0; y < 16; y++) picture[16 * y + step / 10 % 16] = 255;
    run.image("picture", Tensor::from_data(picture, {3, 16, 16}), step);
  }
  run.text("notes", "step <b>" + std::to_string(first) + "</b>", first);
}
