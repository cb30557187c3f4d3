// python_process.cpp -- starts the Python process and talks to it over a socket.
#include "python_process.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "croze/base/error.h"

namespace croze::bench {
namespace {

std::string program_of(std::span<const char* const> scripts) {
  std::string text;
  for (const char* name : scripts) {
    const MappedFile file(std::string(CROZE_BENCH_SOURCES "/") + name);
    text.append(reinterpret_cast<const char*>(file.data().data()), file.data().size());
  }
  return text;
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  check(!words.empty(), "--python names no command");
  return words;
}

// glibc gives large pieces of memory back to the system and gets them with a page fault for every
// 4 KiB.  A peer that is slow because of that would flatter us: here it keeps them.
std::vector<std::string> environment_of_peers(int threads) {
  std::vector<std::string> all = {"MALLOC_MMAP_THRESHOLD_=17179869184",
                                  "MALLOC_TRIM_THRESHOLD_=17179869184", "MALLOC_TOP_PAD_=67108864",
                                  "OMP_PROC_BIND=true",  // answers.py says why
                                  "OMP_NUM_THREADS=" + std::to_string(threads)};
  for (char** variable = environ; *variable; variable++) all.emplace_back(*variable);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

PythonProcess::PythonProcess(const std::string& command, std::span<const char* const> scripts,
                             int threads) {
  std::vector<std::string> line = words_of(command);
  line.insert(line.end(), {"-c", program_of(scripts)});
  std::vector<std::string> environment = environment_of_peers(threads);
  const std::vector<char*> argv = pointers_to(line), envp = pointers_to(environment);
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair: {}",
        std::strerror(errno));
  socket_ = FileDescriptor(ends[0]);
  const FileDescriptor other_end(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int failure = posix_spawnp(&child_, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  check(failure == 0, "cannot start {}: {}", line[0], std::strerror(failure));
}

PythonProcess::~PythonProcess() {
  socket_ = FileDescriptor();  // the process ends with its input
  waitpid(child_, nullptr, 0);
}

Json PythonProcess::ask(const Json& request) {
  const std::string text = request.dump() + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = send(socket_.number(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    check(n > 0, "the Python process has ended");
    sent += static_cast<std::size_t>(n);
  }
  const std::string line = read_line();
  check(!line.empty(), "the Python process has ended");
  Json answer = Json::parse(line);
  check(!answer.contains("error"), "the Python process says: {}",
        answer.contains("error") ? answer["error"].get<std::string>() : "");
  return answer;
}

std::string PythonProcess::read_line() {
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    char part[65536];
    const ssize_t n = recv(socket_.number(), part, sizeof part, 0);
    if (n <= 0) return {};
    unread_.append(part, static_cast<std::size_t>(n));
  }
}

}  // namespace croze::bench
