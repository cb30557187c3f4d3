// writer.h -- a trace under construction.
//
// The program that is traced goes on whatever happens to the file: where it cannot be written, or
// has grown to its limit, records are counted and dropped.  Memory is bounded: a chunk that waits
// to be written, and tables of what has been written once, which are begun anew when they are full.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "croze/base/append_file.h"
#include "croze/trace/encoder.h"
#include "croze/trace/records.h"
#include "croze/trace/trace.h"

namespace croze::traces {

// Not thread-safe.
class Writer {
 public:
  // Throws Error if no file can be made there.
  Writer(std::string path, std::int64_t max_bytes);
  // Without finish() the last chunk is lost.
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // The number of a text, which is written if it is new.  Very long ones are cut.
  Name name(std::string_view text);

  // Writes a record and returns its number among those of its kind.  One that is dropped gets a
  // number, too: whatever names it is dropped as well.
  template <typename Record>
  Number add(Record record) {
    const Number number = counts_[static_cast<std::size_t>(Record::kind)]++;
    if (is_full_) {
      lost_.records++;
    } else {
      encoder_.record(record);
      waiting_++;
      if (std::ssize(encoder_.bytes()) >= chunk_bytes) flush();
    }
    return number;
  }

  // Writes what waits.
  void flush();
  // The same, and how much was lost.
  void finish();

  // Why the file could not be written; "" if it could.
  const std::string& failure() const { return failure_; }
  std::int64_t bytes_written() const { return written_; }

 private:
  static constexpr std::int64_t chunk_bytes = 256 << 10;

  void write(std::string_view bytes);

  AppendFile file_;
  std::int64_t max_bytes_, written_ = 0;
  Encoder encoder_;
  std::int64_t waiting_ = 0;  // records in the chunk
  Number counts_[32] = {};
  bool is_full_ = false;  // nothing more is written: the limit, or an error
  Lost lost_;
  std::string failure_;
  std::unordered_map<std::string, Name> names_;
  std::int64_t name_bytes_ = 0;
  Name last_name_ = 0;
};

// The bytes of a trace with more facts, (key, value), at its end.
std::string with_facts(std::string_view bytes, const Trace& trace,
                       const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace croze::traces
