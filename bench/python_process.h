// python_process.h -- a Python program beside this one that answers lines of JSON.
//
// It is given the scripts as its program, so that it may run in a root folder of its own (chroot).
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "command_line/json.h"
#include "croze/base/file.h"

namespace croze::bench {

class PythonProcess {
 public:
  // `command` runs a Python.  The scripts, paths within this folder, are one program in their
  // order; the last one calls serve() (answers.py).  Throws Error if it cannot be started.
  PythonProcess(const std::string& command, std::span<const char* const> scripts, int threads);
  ~PythonProcess();
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  // Throws Error if it has ended, and with what it says if it fails.
  Json ask(const Json& request);

 private:
  // Empty: the process has ended.
  std::string read_line();

  pid_t child_ = 0;
  FileDescriptor socket_;
  std::string unread_;
};

}  // namespace croze::bench
