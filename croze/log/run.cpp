// run.cpp -- notes to events, and events to the file.
#include "croze/log/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "croze/base/bytes.h"
#include "croze/base/call_site.h"
#include "croze/base/error.h"
#include "croze/base/log.h"
#include "croze/io/image_codec.h"

namespace croze::logs {
namespace {

constexpr std::size_t most_waiting = 1 << 20;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

// A file that is not there yet.  TensorBoard reads those of a folder in the order of their names,
// which is that of time.
std::unique_ptr<AppendFile> new_file(const std::string& folder, std::string& path) {
  const auto seconds = static_cast<std::int64_t>(seconds_since_1970());
  for (int number = 0;; number++) {
    path = fmt::format("{}/events.out.tfevents.{:010}.{}.{}.{}", folder, seconds, host_name(),
                       getpid(), number);
    if (auto file = AppendFile::create(path)) {
      return std::make_unique<AppendFile>(std::move(*file));
    }
  }
}

// A message of `describe` for all that is no picture.
struct PictureShape {
  std::int64_t height, width, channels;
  bool is_channels_first;
};

PictureShape picture_shape(const Tensor& image, ImageLayout layout) {
  const Shape shape = image.shape();
  const bool is_first = layout == ImageLayout::ChannelsFirst;
  check(shape.size() == 2 || shape.size() == 3, "a picture has shape {} or (height, width), not {}",
        is_first ? "(channels, height, width)" : "(height, width, channels)", to_text(shape));
  PictureShape p{shape[0], shape[1], 1, is_first};
  if (shape.size() == 3 && is_first) p = {shape[1], shape[2], shape[0], true};
  if (shape.size() == 3 && !is_first) p.channels = shape[2];
  check(p.channels >= 1 && p.channels <= 4, "a picture of shape {} has {} channels, not 1 to 4{}",
        to_text(shape), p.channels,
        is_first ? "; ImageLayout::ChannelsLast is for (height, width, channels)" : "");
  return p;
}

std::uint8_t sample_of(float value) {
  // NaN is black.
  return value > 0 ? static_cast<std::uint8_t>(std::lround(std::min(value, 1.0f) * 255)) : 0;
}

std::vector<std::uint8_t> samples_of(const Tensor& image) {
  const DType dtype = image.dtype();
  check(dtype == DType::UInt8 || is_float(dtype),
        "a picture has dtype UInt8 or that of floats from 0 to 1, not {}", name_of(dtype));
  if (dtype == DType::UInt8) return image.to_vector<std::uint8_t>();
  const std::vector<float> values = image.to_vector<float>();
  std::vector<std::uint8_t> samples(values.size());
  std::ranges::transform(values, samples.begin(), sample_of);
  return samples;
}

// Channels of a pixel side by side.
std::vector<std::uint8_t> channels_last(const std::vector<std::uint8_t>& samples,
                                        std::size_t channels) {
  const std::size_t pixels = samples.size() / channels;
  std::vector<std::uint8_t> result(samples.size());
  for (std::size_t c = 0; c < channels; c++) {
    for (std::size_t i = 0; i < pixels; i++) result[i * channels + c] = samples[c * pixels + i];
  }
  return result;
}

}  // namespace

Run::Run(const std::string& name, RunOptions options, Location at)
    : flush_seconds_(options.flush_seconds), flushed_(Clock::now()) {
  const CallScope scope("logs::Run", at);
  check(!name.empty(), "a run has a name");
  folder_ = (std::filesystem::path(options.folder) / name).string();
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  check(!error, "cannot make the folder {}: {}", folder_, error.message());
  file_ = new_file(folder_, path_);
  append_file_head(waiting_, seconds_since_1970());
  flush();
}

Run::~Run() {
  if (!file_) return;
  try {
    flush();
  } catch (const Error& error) {
    log_warning(error.message());
  }
}

void Run::scalar(std::string_view tag, double value, std::int64_t step, Location at) {
  const CallScope scope("scalar", at);
  add({.step = step, .tag = std::string(tag), .value = value});
}

void Run::scalar(std::string_view tag, const Tensor& value, std::int64_t step, Location at) {
  const CallScope scope("scalar", at);
  scalar(tag, value.item<double>(at), step, at);
}

void Run::histogram(std::string_view tag, const Tensor& values, std::int64_t step, Location at) {
  const CallScope scope("histogram", at);
  const std::vector<double> elements = values.to_vector<double>(at);
  Histogram h = histogram_of(elements);
  const double not_finite = static_cast<double>(elements.size()) - h.count;
  if (not_finite > 0) scalar(fmt::format("{}/not finite", tag), not_finite, step, at);
  add({.step = step, .tag = std::string(tag), .value = std::move(h)});
}

void Run::image(std::string_view tag, const Tensor& image, std::int64_t step, ImageLayout layout,
                Location at) {
  const CallScope scope("image", at);
  const auto [height, width, channels, is_channels_first] = picture_shape(image, layout);
  check_size(height, width, path_);
  croze::Picture picture{height, width, channels, samples_of(image)};
  if (is_channels_first && channels > 1) {
    picture.samples = channels_last(picture.samples, static_cast<std::size_t>(channels));
  }
  const std::vector<std::byte> png = write_png(picture, path_);
  add({.step = step,
       .tag = std::string(tag),
       .value = Picture{height, width, channels, std::string(as_text(png))}});
}

void Run::text(std::string_view tag, std::string_view text, std::int64_t step, Location at) {
  const CallScope scope("text", at);
  add({.step = step, .tag = std::string(tag), .value = std::string(text)});
}

void Run::add(const Event& event) {
  check(!event.tag.empty(), "a note of a run has a tag");
  check(file_ != nullptr, "{} could not be written before: nothing more is", path_);
  Event timed = event;
  timed.time = seconds_since_1970();
  append_event(waiting_, timed);
  const std::chrono::duration<double> waited = Clock::now() - flushed_;
  if (waiting_.size() >= most_waiting || waited.count() >= flush_seconds_) flush();
}

void Run::flush() {
  check(file_ != nullptr, "{} could not be written before: nothing more is", path_);
  try {
    file_->write(waiting_);
  } catch (const Error&) {
    file_.reset();  // a piece of a record may stand at its end
    throw;
  }
  waiting_.clear();
  flushed_ = Clock::now();
}

}  // namespace croze::logs
