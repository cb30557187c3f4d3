// python.cpp -- starts the Python process and talks to it over a socket.
#include "cpu/peers/python.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/file.h"

namespace croze::bench {
namespace {

// In this order they are one program.
constexpr const char* scripts[] = {"inputs.py", "operations.py", "training.py", "serve.py"};

std::string program() {
  std::string text;
  for (const char* name : scripts) {
    const MappedFile file(std::string(CROZE_BENCH_SOURCES "/cpu/peers/") + name);
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
                                  "OMP_PROC_BIND=true",  // serve.py says why
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

std::vector<Signature> signatures_in(const Json& list) {
  std::vector<Signature> all;
  for (const Json& json : list.elements()) {
    Signature s{json["count"].get<std::int64_t>(), json["norm"].get<double>(), {}};
    for (const Json& element : json["some"].elements()) s.some.push_back(element.get<double>());
    all.push_back(std::move(s));
  }
  return all;
}

Json json_of(const Case& c) {
  Json inputs = Json::array();
  for (const Input& input : c.inputs) {
    inputs.push_back(
        {{"shape", Json(std::vector<std::int64_t>(input.shape.begin(), input.shape.end()))},
         {"dtype", name_of(input.dtype)},
         {"below", input.below}});
  }
  Json json{{"operation", c.operation}, {"options", c.options}, {"inputs", std::move(inputs)}};
  // The process may see another root folder, and ours through the files of processes.
  if (c.options.contains("file")) {
    json["options"]["path"] = fmt::format("/proc/{}/root" CROZE_BENCH_MODELS "/{}", getpid(),
                                          c.options["file"].get<std::string>());
  }
  return json;
}

}  // namespace

PythonPeers::PythonPeers(const PeerOptions& options) {
  try {
    start(options);
    const Json hello =
        ask({{"threads", options.threads}, {"is_limited", options.vector_bytes != 0}});
    found_ = hello["found"];
    missing_ = hello["missing"];
  } catch (const Error& e) {
    for (const char* name : {"PyTorch", "oneDNN", "onnxruntime"}) missing_[name] = e.message();
  }
}

PythonPeers::~PythonPeers() {
  if (socket_ >= 0) close(socket_);  // the process ends with its input
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

void PythonPeers::start(const PeerOptions& options) {
  std::vector<std::string> line = words_of(options.python);
  line.insert(line.end(), {"-c", program()});
  std::vector<std::string> environment = environment_of_peers(options.threads);
  const std::vector<char*> argv = pointers_to(line), envp = pointers_to(environment);
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair: {}",
        std::strerror(errno));
  socket_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int failure = posix_spawnp(&child_, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failure != 0) child_ = 0;
  check(failure == 0, "cannot start {}: {}", line[0], std::strerror(failure));
}

Json PythonPeers::ask(const Json& request) {
  const std::string text = request.dump() + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
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

std::string PythonPeers::read_line() {
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    char part[65536];
    const ssize_t n = recv(socket_, part, sizeof part, 0);
    if (n <= 0) return {};
    unread_.append(part, static_cast<std::size_t>(n));
  }
}

std::vector<Contestant> PythonPeers::prepare(const Case& c) {
  if (found_.names().empty()) return {};
  const Json answer = ask({{"prepare", json_of(c)}});
  const Json& failed = answer["failed"];
  for (const std::string& name : failed.names()) missing_[name + ", " + c.name] = failed[name];
  std::vector<Contestant> all;
  for (const std::string& name : answer["results"].names()) {
    const auto take_turn = [this, name](double seconds) {
      return ask({{"turn", name}, {"seconds", seconds}})["seconds"].get<double>();
    };
    all.push_back({name, take_turn, signatures_in(answer["results"][name])});
  }
  return all;
}

}  // namespace croze::bench
