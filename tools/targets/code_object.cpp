// code_object.cpp -- ELF, and in it a note of kind 32 by AMDGPU (LLVM's user guide for the target,
// "Note Records" and "Code Object Metadata").
#include "targets/code_object.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "croze/base/error.h"
#include "croze/device/llvm/compile.h"
#include "targets/message_pack.h"

extern char** environ;

namespace croze::targets {
namespace {

constexpr std::uint16_t amdgpu_machine = 224;  // EM_AMDGPU
constexpr std::uint32_t metadata_note = 32;    // NT_AMDGPU_METADATA

template <typename T>
T read_at(std::string_view bytes, std::size_t at) {
  check(at <= bytes.size() && bytes.size() - at >= sizeof(T), "a code object ends too early");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Section {
  std::string_view name, bytes;
  std::uint32_t type = 0;
};

std::vector<Section> sections_of(std::string_view object) {
  check(is_code_object(object), "this is no object for AMD's graphics processors");
  const auto head = read_at<Elf64_Ehdr>(object, 0);
  const auto header = [&](std::size_t i) {
    return read_at<Elf64_Shdr>(object, head.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto content = [&](const Elf64_Shdr& h) {
    if (h.sh_type == SHT_NOBITS) return std::string_view();
    check(h.sh_offset <= object.size() && object.size() - h.sh_offset >= h.sh_size,
          "a code object ends too early");
    return object.substr(h.sh_offset, h.sh_size);
  };
  const std::string_view names = content(header(head.e_shstrndx));
  std::vector<Section> sections;
  for (std::size_t i = 0; i < head.e_shnum; i++) {
    const Elf64_Shdr h = header(i);
    std::string_view name = names.substr(std::min<std::size_t>(h.sh_name, names.size()));
    sections.push_back({name.substr(0, name.find('\0')), content(h), h.sh_type});
  }
  return sections;
}

std::size_t in_words(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

PackedValue metadata_in(std::string_view notes) {
  while (!notes.empty()) {
    const auto head = read_at<Elf64_Nhdr>(notes, 0);
    const std::size_t name_at = sizeof head, content_at = name_at + in_words(head.n_namesz),
                      end = content_at + in_words(head.n_descsz);
    check(end <= notes.size(), "a code object ends too early");
    if (head.n_type == metadata_note && notes.substr(name_at).starts_with("AMDGPU"))
      return unpack_message(notes.substr(content_at, head.n_descsz));
    notes.remove_prefix(end);
  }
  return {};
}

// The exit status, or -1 if the program did not run.
int run(std::vector<std::string> command, const std::string& log) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  while (!failed && waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return !failed && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

bool is_code_object(std::string_view bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr) || !bytes.starts_with(ELFMAG)) return false;
  return read_at<Elf64_Ehdr>(bytes, 0).e_machine == amdgpu_machine;
}

std::vector<KernelUse> uses_in_code_object(std::string_view object) {
  std::vector<KernelUse> uses;
  for (const Section& s : sections_of(object)) {
    if (s.type != SHT_NOTE) continue;
    for (const PackedValue& kernel : metadata_in(s.bytes)["amdhsa.kernels"].items) {
      const auto number = [&](std::string_view name) {
        return static_cast<int>(kernel[name].number);
      };
      const int spilled = number(".vgpr_spill_count") + number(".sgpr_spill_count");
      uses.push_back({.name = kernel[".name"].text,
                      .registers = number(".vgpr_count"),
                      .stack_bytes = number(".private_segment_fixed_size"),
                      .spill_stores = spilled,
                      .spill_loads = spilled});
    }
  }
  check(!uses.empty(), "a code object does not tell of its kernels");
  return uses;
}

std::map<std::string, int> count_instructions(std::string_view object,
                                              const std::string& processor) {
  std::map<std::string, int> counts;
  for (const Section& s : sections_of(object)) {
    if (s.name != ".text") continue;
    const LlvmProcessor target{"amdgcn-amd-amdhsa", processor, ""};
    for (const auto& i : disassemble_for(target, std::as_bytes(std::span(s.bytes)))) {
      const std::size_t begin = std::min(i.text.find_first_not_of(" \t"), i.text.size());
      counts[i.text.substr(begin, i.text.find_first_of(" \t", begin) - begin)]++;
    }
  }
  return counts;
}

std::optional<std::string> find_code_linker() {
  const char* variable = std::getenv("PATH");
  for (const char* name : {"ld.lld", "ld.lld-19", "ld.lld-20", "ld.lld-21", "ld.lld-22"}) {
    std::string_view path = variable ? variable : "";
    while (!path.empty()) {
      const std::string_view folder = path.substr(0, path.find(':'));
      path.remove_prefix(std::min(path.size(), folder.size() + 1));
      const std::string candidate = std::string(folder) + "/" + name;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  return std::nullopt;
}

namespace {

// A folder that is gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "croze-link-XXXXXX").string()) {
    check(mkdtemp(path_.data()) != nullptr, "no temporary folder can be made: {}",
          std::strerror(errno));
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

std::string linked(const std::string& linker, std::span<const std::string_view> objects,
                   std::vector<std::string> options) {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.hsaco"), log = folder.file("log"),
                    list = folder.file("objects");
  std::ofstream paths(list);
  for (std::size_t i = 0; i < objects.size(); i++) {
    const std::string path = folder.file(std::to_string(i) + ".o");
    std::ofstream(path, std::ios::binary).write(objects[i].data(), std::ssize(objects[i]));
    paths << path << "\n";
  }
  paths.close();
  std::vector<std::string> command{linker, "-shared", "--no-undefined", "-o", out, "@" + list};
  command.insert(command.end(), options.begin(), options.end());
  const int status = run(std::move(command), log);
  check(status == 0, "{} does not link a kernel: {}", linker, text_of(log));
  return text_of(out);
}

}  // namespace

std::string link_code_object(const std::string& linker, std::string_view object) {
  return linked(linker, {&object, 1}, {});
}

std::string link_code_objects(const std::string& linker, std::span<const std::string> objects) {
  const std::vector<std::string_view> all(objects.begin(), objects.end());
  return linked(linker, all, {"--allow-multiple-definition"});
}

}  // namespace croze::targets
