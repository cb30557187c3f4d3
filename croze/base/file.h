// Files: opened so that nothing at a path can make the program wait, mapped, and replaced whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "croze/base/bytes.h"

namespace croze {

// An open file or folder, closed at the end of its life.  Negative: none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Opens a regular file for reading.  Throws Error if it cannot be opened, and for all that is no
// regular file: a FIFO or a terminal could be waited for without end.
FileDescriptor open_file(const std::string& path);
// The same for a file of an open folder, which may not be a symbolic link.  `path` is what messages
// call it.
FileDescriptor open_file(const FileDescriptor& folder, const std::string& name,
                         const std::string& path);

// The bytes of a file.  A file of up to `max_copied_bytes` is read; a larger one is mapped, so what
// another process writes into it later is seen, and if it is cut short then, reading the lost part
// ends the process, as with any mapping.  Files that are replaced, as FileWriter does, are safe.
class MappedFile {
 public:
  static constexpr int64_t max_copied_bytes = 1 << 20;

  // Throws Error as open_file does.  An empty file has no bytes.
  explicit MappedFile(const std::string& path);
  // The bytes of an open file; `path` is what messages call it.
  MappedFile(const FileDescriptor& file, std::string path);
  // A file that a file of `folder` names.  Throws Error as above, and if `name` is absolute or
  // holds "..", if it or a folder on the way is a symbolic link, or if the file has another name (a
  // hard link): what untrusted data name cannot lie outside of the folder.
  static MappedFile inside(const std::string& folder, std::string_view name);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> data() const { return data_; }
  const std::string& path() const { return path_; }
  ByteReader reader() const { return ByteReader(data_, path_); }

 private:
  std::string path_;
  std::span<const std::byte> data_;
};

// A file under construction.  It is written beside its destination and takes its place at commit():
// whoever opens the path sees the old file or the whole new one, even after a crash.
//
// A symbolic link is written through: the file that it leads to is replaced, in its own folder. The
// new file has the mode of the old one, and its owner where the system allows it.
//
// The system gets whole pieces of some megabytes: it keeps a file in pages as large as what was
// written at once allows, and through large pages a mapped file is read faster.
class FileWriter {
 public:
  // Throws Error if no file can be made in the folder of `path`, or if something stands there that
  // is no regular file.  What writers that died left in the folder is removed.
  explicit FileWriter(std::string path);
  // A file of an open folder that the user alone may read, for what can be made again: commit()
  // does not wait for the disk, so after a power cut the file may be torn.  `path` is what messages
  // call it.  The folder outlives the writer.
  FileWriter(const FileDescriptor& folder, std::string name, std::string path);
  // Without commit() the destination stays as it was.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // All throw Error if the system refuses, for example because the disk is full; what is less than
  // a piece is written, and may be refused, by a later call.
  void write(std::span<const std::byte> data);
  void write(std::string_view text);
  void commit();

 private:
  void make_temporary(unsigned mode);
  void write_now(std::span<const std::byte> data);
  [[noreturn]] void fail_to_write(int error_number) const;

  std::string path_;  // as the user named it
  FileDescriptor own_folder_, file_;
  int folder_ = -1;
  std::string name_, temporary_name_;  // in the folder
  std::vector<std::byte> waiting_;     // less than a piece
  int64_t final_mode_ = -1;            // of the file that is replaced, if there is one
  bool waits_for_disk_ = true;
};

// Writes a whole file in one go.
void write_file(const std::string& path, std::span<const std::byte> data);

// Names of what an open folder holds, without "." and ".."; none if it may not be read.
std::vector<std::string> names_in(const FileDescriptor& folder);

// Whether a file is one that a FileWriter has made or would make before commit().
bool is_name_under_construction(std::string_view name);

// Removes from an open folder what FileWriters of processes that died left there.
void remove_abandoned_files(const FileDescriptor& folder);

}  // namespace croze
