// build_id.cpp -- the build id, read from the notes of the loaded module.
#include "base/build_id.h"

#include <elf.h>
#include <fmt/core.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace croze {
namespace {

// A function of this module: its address tells the module from the others.
const void* here() { return reinterpret_cast<const void*>(&build_id); }

struct Search {
  std::string id;
};

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 3) & ~std::uint64_t{3}; }

std::string id_in_notes(const char* notes, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const std::uint64_t name = at + sizeof header;
    const std::uint64_t value = name + aligned(header.n_namesz);
    at = value + aligned(header.n_descsz);
    if (at > bytes) break;
    if (header.n_type != NT_GNU_BUILD_ID ||
        std::string_view(notes + name, header.n_namesz) != std::string_view("GNU\0", 4)) {
      continue;
    }
    std::string id;
    for (std::uint64_t i = 0; i < header.n_descsz; i++) {
      id += fmt::format("{:02x}", static_cast<unsigned char>(notes[value + i]));
    }
    return id;
  }
  return {};
}

int visit(dl_phdr_info* module, std::size_t, void* context) {
  bool ours = false;
  for (int i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr)& p = module->dlpi_phdr[i];
    const auto begin = module->dlpi_addr + p.p_vaddr;
    const auto address = reinterpret_cast<std::uintptr_t>(here());
    ours = ours || (p.p_type == PT_LOAD && address >= begin && address < begin + p.p_memsz);
  }
  if (!ours) return 0;
  auto* search = static_cast<Search*>(context);
  for (int i = 0; i < module->dlpi_phnum && search->id.empty(); i++) {
    const ElfW(Phdr)& p = module->dlpi_phdr[i];
    if (p.p_type != PT_NOTE) continue;
    search->id =
        id_in_notes(reinterpret_cast<const char*>(module->dlpi_addr + p.p_vaddr), p.p_memsz);
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    Search search;
    dl_iterate_phdr(visit, &search);
    return search.id;
  }();
  return id;
}

}  // namespace croze
