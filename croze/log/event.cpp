// event.cpp -- the messages Event, Summary and what they hold, field by field.  The numbers of
// fields are those of event.proto, summary.proto, histogram.proto and tensor.proto.
#include "croze/log/event.h"

#include <optional>
#include <utility>

#include "croze/base/error.h"
#include "croze/io/protobuf.h"
#include "croze/log/record_frame.h"

namespace croze::logs {
namespace {

using protobuf::Field;
using protobuf::Reader;
using protobuf::Writer;

constexpr std::int64_t string_dtype = 7;  // DT_STRING

// ---- writing ----------------------------------------------------------------------------------

std::string message_of(const Histogram& h) {
  Writer message;
  message.real64(1, h.least);
  message.real64(2, h.most);
  message.real64(3, h.count);
  message.real64(4, h.sum);
  message.real64(5, h.sum_of_squares);
  message.reals64(6, h.limits);
  message.reals64(7, h.counts);
  return message.message();
}

std::string message_of(const Picture& p) {
  Writer message;
  message.integer(1, p.height);
  message.integer(2, p.width);
  message.integer(3, p.channels);
  message.bytes(4, p.png);
  return message.message();
}

// A tensor of one text.
std::string message_of(const std::string& text) {
  Writer size, shape, message;
  size.integer(1, 1);
  shape.bytes(2, size.message());
  message.integer(1, string_dtype);
  message.bytes(2, shape.message());
  message.bytes(8, text);
  return message.message();
}

// By which TensorBoard knows that the tensor is a text.
std::string text_metadata() {
  Writer plugin, message;
  plugin.bytes(1, "text");
  message.bytes(1, plugin.message());
  return message.message();
}

std::string summary_value(const Event& event) {
  Writer value;
  value.bytes(1, event.tag);
  if (const auto* scalar = std::get_if<double>(&event.value)) {
    value.real(2, static_cast<float>(*scalar));
  } else if (const auto* histogram = std::get_if<Histogram>(&event.value)) {
    value.bytes(5, message_of(*histogram));
  } else if (const auto* picture = std::get_if<Picture>(&event.value)) {
    value.bytes(4, message_of(*picture));
  } else {
    value.bytes(8, message_of(std::get<std::string>(event.value)));
    value.bytes(9, text_metadata());
  }
  return value.message();
}

// ---- reading ----------------------------------------------------------------------------------

// The numbers come one by one or packed; other fields are passed over.
Histogram read_histogram(std::span<const std::byte> bytes, std::string_view name) {
  Histogram h;
  Reader reader(bytes, name);
  for (Field f; reader.next(f);) {
    switch (f.number()) {
      case 1: h.least = f.real64(); break;
      case 2: h.most = f.real64(); break;
      case 3: h.count = f.real64(); break;
      case 4: h.sum = f.real64(); break;
      case 5: h.sum_of_squares = f.real64(); break;
      case 6: f.append_to(h.limits); break;
      case 7: f.append_to(h.counts); break;
      default: break;
    }
  }
  check(h.limits.size() == h.counts.size(), "{}: a histogram of {} limits and {} counts", name,
        h.limits.size(), h.counts.size());
  return h;
}

Picture read_picture(std::span<const std::byte> bytes, std::string_view name) {
  Picture p;
  Reader reader(bytes, name);
  for (Field f; reader.next(f);) {
    switch (f.number()) {
      case 1: p.height = f.integer(); break;
      case 2: p.width = f.integer(); break;
      case 3: p.channels = f.integer(); break;
      case 4: p.png = f.text(); break;
      default: break;
    }
  }
  return p;
}

// The first text of a tensor of texts.
std::optional<std::string> read_text(std::span<const std::byte> bytes, std::string_view name) {
  Reader reader(bytes, name);
  for (Field f; reader.next(f);) {
    if (f.number() == 8) return std::string(f.text());
  }
  return std::nullopt;
}

// One value of a summary; its step and time are those of the event around it.
void read_value(std::span<const std::byte> bytes, std::string_view name, const Event& around,
                std::vector<Event>& events) {
  Event event = around;
  bool is_known = false;
  const auto set = [&](auto value) {
    event.value = std::move(value);
    is_known = true;
  };
  Reader reader(bytes, name);
  for (Field f; reader.next(f);) {
    switch (f.number()) {
      case 1: event.tag = f.text(); break;
      case 2: set(double{f.real()}); break;
      case 4: set(read_picture(f.bytes(), name)); break;
      case 5: set(read_histogram(f.bytes(), name)); break;
      case 8:
        if (auto text = read_text(f.bytes(), name)) set(std::move(*text));
        break;
      default: break;
    }
  }
  if (is_known) events.push_back(std::move(event));
}

void read_event(std::span<const std::byte> bytes, std::string_view name,
                std::vector<Event>& events) {
  Event event;
  std::vector<std::span<const std::byte>> summaries;
  Reader reader(bytes, name);
  for (Field f; reader.next(f);) {
    switch (f.number()) {
      case 1: event.time = f.real64(); break;
      case 2: event.step = f.integer(); break;
      case 5: summaries.push_back(f.bytes()); break;
      default: break;
    }
  }
  for (const auto summary : summaries) {
    Reader values(summary, name);
    for (Field f; values.next(f);) {
      if (f.number() == 1) read_value(f.bytes(), name, event, events);
    }
  }
}

}  // namespace

void append_file_head(std::string& file, double time) {
  Writer event;
  event.real64(1, time);
  event.bytes(3, "brain.Event:2");
  append_record(file, event.message());
}

void append_event(std::string& file, const Event& e) {
  Writer summary, event;
  summary.bytes(1, summary_value(e));
  event.real64(1, e.time);
  event.integer(2, e.step);
  event.bytes(5, summary.message());
  append_record(file, event.message());
}

std::int64_t read_events(std::span<const std::byte> bytes, std::string_view name,
                         std::vector<Event>& events) {
  std::int64_t read = 0;
  while (true) {
    const auto rest = bytes.subspan(static_cast<std::size_t>(read));
    const std::int64_t size = frame_size(rest, name);
    if (size == 0 || size > std::ssize(rest)) return read;
    read_event(record_in(rest.first(static_cast<std::size_t>(size)), name), name, events);
    read += size;
  }
}

}  // namespace croze::logs
