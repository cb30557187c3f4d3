// process.cpp -- asks the system, and starts programs.
#include "process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "croze/base/error.h"

namespace croze {
namespace {

std::string read_to_end(int descriptor) {
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(descriptor, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(n));
  }
  return text;
}

// Pointers as the system wants them, with null at the end.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// The first of two variables of one name is the one that is found.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> result;
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  for (char** variable = environ; *variable; variable++) result.emplace_back(*variable);
  return result;
}

}  // namespace

// What getrusage() knows is no less than what the process had that started this one.
std::int64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    std::int64_t kilobytes = 0;
    if (name == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return std::int64_t{use.ru_maxrss} * 1024;
}

ProcessResult run_process(std::vector<std::string> line,
                          const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> environment = environment_with(variables);
  const std::vector<char*> argv = pointers_to(line), envp = pointers_to(environment);

  int ends[2];
  check(pipe(ends) == 0, "pipe: {}", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ProcessResult result;
  if (failure == 0) result.output = read_to_end(ends[0]);
  close(ends[0]);
  check(failure == 0, "cannot start {}: {}", line[0], std::strerror(failure));

  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

int run_in_terminal(std::vector<std::string> line,
                    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> environment = environment_with(variables);
  const std::vector<char*> argv = pointers_to(line), envp = pointers_to(environment);
  // Ctrl-C is for the program; this one goes on with what it leaves.
  struct sigaction ignored {
  }, before{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignored, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  int status = 0;
  if (failure == 0) waitpid(child, &status, 0);
  sigaction(SIGINT, &before, nullptr);
  check(failure == 0, "cannot start {}: {}", line[0], std::strerror(failure));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string run_self(const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> line{"/proc/self/exe"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<std::pair<std::string, std::string>> with = variables;
  with.emplace_back("CROZE_TRACE", "");  // this process writes to that file
  const ProcessResult result = run_process(std::move(line), with);
  check(result.status == 0, "\"{}\" failed in a process of its own", fmt::join(arguments, " "));
  return result.output;
}

}  // namespace croze
