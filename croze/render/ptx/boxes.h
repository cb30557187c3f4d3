// boxes.h -- Op::CopyBox in PTX, and the barriers in shared memory that await such copies.
//
// A batch of boxes (program.h) has a barrier, which counts their bytes: what an item begins is
// expected there, and at the end of the batch that item arrives, too.  Then the barrier's phase is
// over as soon as all bytes have come.  Batches take turns at as many barriers as may be on their
// way at once, so the number of a batch says which one it has, and whether that phase is an even
// one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "croze/render/program.h"
#include "croze/render/ptx/memory.h"
#include "croze/render/ptx/text.h"

namespace croze::ptx {

class BoxCopies {
 public:
  BoxCopies(const LinearProgram& program, Text& text);

  // Whether the program has any; else nothing below is asked for.
  bool are_there() const { return barriers_ > 0; }

  // The map of each way to copy from a buffer, and by how many elements the buffer begins behind
  // the address that the map has.
  std::vector<std::string> parameters() const;
  // The declaration of the barriers.
  std::string array() const;

  // In the prologue: maps, and barriers that the first item makes ready.
  void begin();
  // Registers or constants of Int32, or Int64, for coordinates.
  void copy(const BoxedBuffer& box, const Place& to, std::span<const std::string> coordinates,
            DType coordinate);
  // The batch ends, and all but the last `left` have come.
  void await(std::int64_t left);

 private:
  struct Map {
    std::string address, shift;
  };
  void begin_map(std::size_t number);
  // The address of that of a batch.
  std::string barrier_of(const std::string& batch);

  Text& text_;
  const std::vector<BoxedBuffer> boxed_;
  const Launch& launch_;
  std::int64_t barriers_;
  std::vector<Map> maps_;
  std::string is_first_;         // a predicate: of the group
  std::string array_;            // the address of the barriers
  std::string begun_, awaited_;  // batches that have ended, and that have been awaited
};

}  // namespace croze::ptx
