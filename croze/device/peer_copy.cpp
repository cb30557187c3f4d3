// peer_copy.cpp -- as few copies as the two devices allow.
#include "croze/device/peer_copy.h"

#include <cstring>
#include <span>

#include "croze/base/checked.h"
#include "croze/base/error.h"

namespace croze {

void copy_between(const DeviceWork& target, MemoryView to, const DeviceWork& source,
                  MemoryView from) {
  ensure(to.bytes == from.bytes, "copy of {} bytes to {} bytes", from.bytes, to.bytes);
  if (from.bytes == 0) return;
  const auto size = static_cast<std::size_t>(from.bytes);
  std::byte* const seen_from = source.device.host_address(from);
  std::byte* const seen_to = target.device.host_address(to);
  if (seen_from && seen_to) {
    source.stream.finish();  // it has been written
    target.stream.finish();  // nobody uses what was there
    std::memcpy(seen_to, seen_from, size);
  } else if (seen_from) {
    source.stream.finish();
    target.stream.copy_in(to, {seen_from, size});
    target.stream.finish();
  } else if (seen_to) {
    target.stream.finish();
    source.stream.copy_out({seen_to, size}, from);
    source.stream.finish();
  } else {
    source.stream.finish();
    target.stream.finish();
    if (target.device.copy_from(to, source.device, from)) return;
    auto host = sized_vector<std::byte>(from.bytes, "a copy between devices");
    source.stream.copy_out(host, from);
    source.stream.finish();
    target.stream.copy_in(to, host);
    target.stream.finish();
  }
}

}  // namespace croze
