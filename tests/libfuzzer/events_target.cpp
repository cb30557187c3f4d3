// events_target.cpp -- libFuzzer: any bytes are an event file, and the message of a record in a
// right frame, or an Error.
#include "croze/base/error.h"
#include "croze/log/event.h"
#include "croze/log/record_frame.h"

namespace {

void read(std::span<const std::byte> bytes) {
  try {
    std::vector<croze::logs::Event> events;
    croze::logs::read_events(bytes, "input", events);
  } catch (const croze::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read(std::as_bytes(std::span(data, size)));
  std::string framed;
  croze::logs::append_record(framed, {reinterpret_cast<const char*>(data), size});
  read(std::as_bytes(std::span(framed)));
  return 0;
}
