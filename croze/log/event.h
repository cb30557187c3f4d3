// event.h -- what event files hold, as bytes and as values.
//
// The files are TensorBoard's: TFRecord frames of `Event` messages
// (https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/util/event.proto).  Read
// are the kinds of values that Run writes, whoever has written them; others are passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "croze/log/histogram.h"

namespace croze::logs {

// A picture, as the bytes of a PNG file.
struct Picture {
  std::int64_t height = 0, width = 0, channels = 0;
  std::string png;
};

struct Event {
  double time = 0;  // seconds since 1970
  std::int64_t step = 0;
  std::string tag;
  std::variant<double, Histogram, Picture, std::string> value;
};

// Appends what an event file begins with, and an event.
void append_file_head(std::string& file, double time);
void append_event(std::string& file, const Event& event);

// Reads the whole records at the front of `bytes`, appends their events, and returns how many bytes
// they took.  What is left is a record that has not been written to its end.  Throws Error, naming
// the file, where the bytes are damaged or no event file.
std::int64_t read_events(std::span<const std::byte> bytes, std::string_view name,
                         std::vector<Event>& events);

}  // namespace croze::logs
