// gzip.h -- reads a file that may be compressed with gzip, as a stream of bounded reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace croze {

// The bytes of a file, decompressed if it is a gzip file (told by its first two bytes; several gzip
// members in a row count as one, as in gzip itself) and as they are otherwise.  Memory grows with
// what is read, never with what a header promises.
class GzipReader {
 public:
  // Throws Error if the file cannot be opened.
  explicit GzipReader(const std::string& path);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // The next bytes, up to `count` of them; fewer only at the end.  Throws Error naming the file if
  // it is truncated or damaged.
  std::vector<std::byte> read(std::int64_t count);

  // Fills `to`.  Returns how many bytes there were.
  std::int64_t read_into(std::span<std::byte> to);

  // Exactly `count` bytes; throws Error if the data ends before.
  std::vector<std::byte> read_exactly(std::int64_t count);

  // Whether nothing is left.  Throws Error as read() does: the checksum at the end is checked here.
  bool at_end();

  const std::string& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace croze
