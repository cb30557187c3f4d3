// staging.h -- copies between the host and the device by way of pinned memory.
//
// The device copies by itself only from and to memory that the system leaves where it is.  So bytes
// go through two such pieces: one is copied by the device while the host fills or empties the
// other.
#pragma once

#include <cstddef>
#include <span>

#include "croze/backends/cuda/context.h"

namespace croze::cuda {

// Of one stream.
class Staging {
 public:
  explicit Staging(Context& context) : context_(context) {}
  // The stream is done with it.
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Returns when the bytes of the host have been read.
  void copy_in(StreamHandle stream, Address to, std::span<const std::byte> from);
  // Returns when they have been written.
  void copy_out(StreamHandle stream, std::span<std::byte> to, Address from);

 private:
  static constexpr std::size_t piece_bytes = 4 << 20;
  struct Piece {
    std::byte* memory = nullptr;
    EventHandle done = nullptr;  // what the device was to do with it
  };

  void prepare();
  void wait_for(const Piece& piece);
  void empty_into(const Piece& piece, std::span<std::byte> to);

  Context& context_;
  Piece pieces_[2];
  bool is_prepared_ = false;
};

}  // namespace croze::cuda
