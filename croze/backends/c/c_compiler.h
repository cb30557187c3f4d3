// c_compiler.h -- the system's C compiler, run as a process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace croze {

// A directory of its own under $TMPDIR or /tmp, removed with the files in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();  // throws Error if it cannot be made
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

void write_temporary(const std::string& path, std::string_view bytes);  // throws Error
std::string read_temporary(const std::string& path);                    // throws Error

class CCompiler {
 public:
  // The compiler called `cc`, if the PATH has one that runs.
  static std::optional<CCompiler> find();

  const std::string& version() const { return version_; }  // the first line of cc --version

  // The bytes of a shared object.  Safe to call from several threads.  Throws InternalError with
  // the compiler's messages if it rejects the source.
  std::string compile(const std::string& name, std::string_view source) const;

 private:
  CCompiler(std::string path, std::string version)
      : path_(std::move(path)), version_(std::move(version)) {}

  std::string path_;
  std::string version_;
};

}  // namespace croze
