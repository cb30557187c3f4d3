#include "croze/backends/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace croze::cuda {

Staging::~Staging() {
  if (!context_.try_enter()) return;
  for (const Piece& p : pieces_) {
    if (p.done) context_.driver().destroy_event(p.done);
    if (p.memory) context_.driver().free_pinned(p.memory);
  }
}

void Staging::prepare() {
  if (is_prepared_) return;
  const Driver& driver = context_.driver();
  for (Piece& p : pieces_) {
    void* memory = p.memory;
    if (!memory) {
      context_.check(driver.allocate_pinned(&memory, piece_bytes, host_portable),
                     "pinning memory of the host");
    }
    p.memory = static_cast<std::byte*>(memory);
    if (!p.done) {
      context_.check(driver.create_event(&p.done, event_disable_timing), "making an event");
    }
  }
  is_prepared_ = true;
}

// An event that was never recorded is done.
void Staging::wait_for(const Piece& piece) {
  context_.check(context_.driver().finish_event(piece.done), "waiting for a copy");
}

void Staging::copy_in(StreamHandle stream, Address to, std::span<const std::byte> from) {
  prepare();
  const Driver& driver = context_.driver();
  for (std::size_t at = 0, turn = 0; at < from.size(); at += piece_bytes, turn ^= 1) {
    const std::size_t size = std::min(piece_bytes, from.size() - at);
    const Piece& piece = pieces_[turn];
    wait_for(piece);
    std::memcpy(piece.memory, from.data() + at, size);
    context_.check(driver.copy_in(to + at, piece.memory, size, stream), "copy to the device");
    context_.check(driver.record_event(piece.done, stream), "recording an event");
  }
}

void Staging::copy_out(StreamHandle stream, std::span<std::byte> to, Address from) {
  prepare();
  const Driver& driver = context_.driver();
  std::span<std::byte> before;  // what the piece copied last is for
  std::size_t turn = 0;
  for (std::size_t at = 0; at < to.size(); at += piece_bytes, turn ^= 1) {
    const std::size_t size = std::min(piece_bytes, to.size() - at);
    const Piece& piece = pieces_[turn];
    wait_for(piece);
    context_.check(driver.copy_out(piece.memory, from + at, size, stream), "copy from the device");
    context_.check(driver.record_event(piece.done, stream), "recording an event");
    empty_into(pieces_[turn ^ 1], before);
    before = to.subspan(at, size);
  }
  empty_into(pieces_[turn ^ 1], before);
}

void Staging::empty_into(const Piece& piece, std::span<std::byte> to) {
  if (to.empty()) return;
  wait_for(piece);
  std::memcpy(to.data(), piece.memory, to.size());
}

}  // namespace croze::cuda
