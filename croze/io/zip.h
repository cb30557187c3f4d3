// zip.h -- the files in a zip archive, read and written.
//
// Archives are not trusted: entries are found through the central directory, may not overlap, and
// may not claim to unpack to more than deflate can make of their bytes, so memory is bounded by the
// size of the archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "croze/base/file.h"

namespace croze {

struct ZipEntry {
  std::string name;
  std::int64_t bytes = 0;  // unpacked
  std::int64_t packed_bytes = 0;
  std::int64_t offset = 0;  // of the packed bytes in the archive
  std::uint32_t checksum = 0;
  bool is_stored = false;  // as it is, not deflated
};

class ZipReader {
 public:
  // Throws Error naming the file if it is no zip archive or damaged, if it is encrypted, split or
  // has more than 2^20 entries, or if a name stands twice.
  explicit ZipReader(const std::string& path);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  const std::shared_ptr<const MappedFile>& file() const { return file_; }

  // The bytes of an entry as they stand in the archive; only of stored entries.  Their checksum is
  // checked.
  std::span<const std::byte> stored(const ZipEntry& entry) const;
  // The bytes of an entry as they stand in the archive, packed or not; unchecked.
  std::span<const std::byte> packed(const ZipEntry& entry) const;
  // The unpacked bytes.  Throws Error if they are damaged or not as many as the entry says.
  std::vector<std::byte> read(const ZipEntry& entry) const;

 private:
  void check_sum(const ZipEntry& entry, std::span<const std::byte> bytes) const;

  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipEntry> entries_;
};

// Writes an archive of stored entries.
class ZipWriter {
 public:
  // Throws as FileWriter does.
  explicit ZipWriter(const std::string& path) : file_(path) {}

  // Appends a file that is made of these parts.  Throws Error if the archive grows beyond 4 GB,
  // which needs a form that few programs read.
  void add(const std::string& name, std::span<const std::span<const std::byte>> parts);
  // Without it no archive appears.
  void commit();

 private:
  FileWriter file_;
  std::vector<ZipEntry> entries_;
  std::int64_t written_ = 0;
};

}  // namespace croze
