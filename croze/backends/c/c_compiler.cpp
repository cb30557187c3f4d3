// c_compiler.cpp -- files in, one process, a file out.  No shell, so no name is ever interpreted.
#include "croze/backends/c/c_compiler.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "croze/base/error.h"

extern char** environ;

namespace croze {
namespace {

// Runs a program, its output going to the file `log`.  Returns its exit status, or -1 if it did not
// start or was killed.
int run(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) return -1;

  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The first executable file of that name in the directories of PATH; empty if there is none.
std::string find_on_path(std::string_view name) {
  const char* variable = std::getenv("PATH");
  std::string_view path = variable ? variable : "";
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), directory.size() + 1));
    if (!directory.starts_with('/')) continue;
    const std::string candidate = std::string(directory) + "/" + std::string(name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  const char* variable = std::getenv("TMPDIR");
  path_ = std::string(variable && *variable ? variable : "/tmp") + "/croze-XXXXXX";
  check(mkdtemp(path_.data()) != nullptr, "cannot make a temporary directory like {}: {}", path_,
        std::strerror(errno));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (DIR* directory = opendir(path_.c_str())) {
    while (const dirent* entry = readdir(directory)) unlink(file(entry->d_name).c_str());
    closedir(directory);
  }
  rmdir(path_.c_str());
}

void write_temporary(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  check(out.good(), "cannot write {}: {}", path, std::strerror(errno));
}

std::string read_temporary(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  check(in.good(), "cannot read {}: {}", path, std::strerror(errno));
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<CCompiler> CCompiler::find() {
  const std::string path = find_on_path("cc");
  if (path.empty()) return std::nullopt;
  TemporaryDirectory directory;
  const std::string log = directory.file("log");
  if (run({path, "--version"}, log) != 0) return std::nullopt;
  const std::string text = read_temporary(log);
  return CCompiler(path, text.substr(0, text.find('\n')));
}

std::string CCompiler::compile(const std::string& name, std::string_view source) const {
  TemporaryDirectory directory;
  const std::string in = directory.file("kernel.c"), out = directory.file("kernel.so"),
                    log = directory.file("log");
  write_temporary(in, source);
  // No contraction and no errno: the one changes results, the other turns sqrt into a call.
  const int status = run({path_, "-std=c11", "-O2", "-ftree-vectorize", "-ffp-contract=off",
                          "-fno-math-errno", "-w", "-fPIC", "-shared", "-o", out, in, "-lm"},
                         log);
  ensure(status == 0, "kernel {}: the C compiler failed:\n{}", name, read_temporary(log));
  return read_temporary(out);
}

}  // namespace croze
