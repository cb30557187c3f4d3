// run.h -- notes of a training that can be watched while it runs.
//
//     logs::Run run("resnet");                       // in runs/resnet
//     run.scalar("loss", loss, step);
//     run.histogram("first layer", net.first.weight, step);
//     run.image("input", images[0], step);
//
// `croze viz runs` shows them in the browser as they come, and so does TensorBoard (`tensorboard
// --logdir runs`): the files are its event files.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "croze/base/append_file.h"
#include "croze/log/event.h"
#include "croze/tensor/tensor.h"

namespace croze::logs {

struct RunOptions {
  std::string folder = "runs";  // where the folder of the run stands
  double flush_seconds = 5;     // how long notes may wait in memory
};

// What the axes of a picture are.
enum class ImageLayout : std::uint8_t {
  ChannelsFirst,  // (channels, height, width), as networks take it
  ChannelsLast,   // (height, width, channels), as files have it
};

// One run of a training: a folder with an event file of its own.  A run of a name that there is
// already goes on in the same folder, in another file.
//
// Notes are gathered, and written once a megabyte or `flush_seconds` have come together, when the
// next note is made, by flush() and at the end; what was written stays even if the program is
// killed.  No thread is started.  Not thread-safe.
//
// All functions throw Error if the file cannot be written, for example because the disk is full;
// nothing more is written then.  `step` counts as the caller likes, mostly updates of parameters.
class Run {
 public:
  // Makes the folder if there is none.  Throws Error if that or the file cannot be made.
  explicit Run(const std::string& name, RunOptions options = {}, Location at = Location::current());
  // Writes what waits.  What fails then is said in a warning.
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // A number, kept as Float32.  A tensor has one element, and is computed if need be.
  void scalar(std::string_view tag, double value, std::int64_t step,
              Location at = Location::current());
  void scalar(std::string_view tag, const Tensor& value, std::int64_t step,
              Location at = Location::current());

  // How the elements of a tensor of any shape are spread.  NaN and infinities are left out; if
  // there are any, a scalar "<tag>/not finite" says how many.
  void histogram(std::string_view tag, const Tensor& values, std::int64_t step,
                 Location at = Location::current());

  // A picture of 1 to 4 channels (grey, grey and alpha, red green blue, and alpha), as PNG;
  // (height, width) is grey.  UInt8 are samples; floats are 0 for black to 1 for white, and
  // clamped.  Throws Error for other dtypes and shapes, and if croze was built without libpng.
  void image(std::string_view tag, const Tensor& image, std::int64_t step,
             ImageLayout layout = ImageLayout::ChannelsFirst, Location at = Location::current());

  // UTF-8; TensorBoard reads it as Markdown.
  void text(std::string_view tag, std::string_view text, std::int64_t step,
            Location at = Location::current());

  // Writes what waits.
  void flush();

  // Of the run, and of its file in there.
  const std::string& folder() const { return folder_; }
  const std::string& path() const { return path_; }

 private:
  using Clock = std::chrono::steady_clock;

  void add(const Event& event);

  std::string folder_, path_;
  double flush_seconds_;
  std::unique_ptr<AppendFile> file_;  // none once writing has failed
  std::string waiting_;
  Clock::time_point flushed_;
};

}  // namespace croze::logs
