// elf_loader.cpp -- a linker for the objects that LLVM makes of kernels.
//
// An object has a few sections to load (code and constants, nothing writable), a symbol table, and
// relocations that say where an address has to be filled in.  Calls out of the object and addresses
// loaded through a table go through one 16-byte slot per symbol behind the sections:
//
//   jmp *[next word]; the address; two bytes of padding
//
// because the libraries may lie further away than a 32-bit displacement reaches.  All numbers in
// the object are checked before use, since it may come from a damaged cache file.
#include "croze/backends/cpu/elf_loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "croze/base/error.h"

namespace croze {
namespace {

constexpr std::uint64_t max_image_bytes = 1 << 30;
constexpr std::uint64_t slot_bytes = 16;
constexpr std::uint64_t slot_address = 6;  // of the address in a slot
// Bytes that are there to be read in front of the code: programs compiled to check their indirect
// calls (-fsanitize=function) look for a signature there.
constexpr std::uint64_t bytes_before_code = 16;
constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

#if defined(__x86_64__)
constexpr int host_machine = EM_X86_64;
#else
constexpr int host_machine = EM_NONE;  // no objects are made for other machines yet
#endif

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace

class ElfLoader {
 public:
  ElfLoader(std::string_view object, CodeImage::Resolve resolve)
      : object_(object), resolve_(resolve) {}

  void load(CodeImage& image);

 private:
  template <typename T>
  std::vector<T> table(std::uint64_t offset, std::uint64_t count) const;
  std::string_view bytes_of(const Elf64_Shdr& section) const;
  std::string_view name_of(const Elf64_Sym& symbol) const;

  void read_header();
  void place_sections();
  void read_symbols();
  void place_slots();
  bool needs_slot(const Elf64_Rela& relocation) const;

  void copy_sections();
  void fill_slots();
  void relocate();
  void apply(std::uint64_t place, const Elf64_Rela& relocation);
  void store_relative(std::uint64_t place, std::uint64_t target);
  std::uint64_t target_of(std::size_t symbol) const;
  void find_entry(CodeImage& image) const;

  template <typename F>
  void for_relocations(F f) const;

  std::string_view object_;
  CodeImage::Resolve resolve_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<std::uint64_t> offsets_;  // of loaded sections in the image, `none` for others
  std::vector<Elf64_Sym> symbols_;
  std::string_view names_;            // of the symbols
  std::vector<std::uint64_t> slots_;  // of symbols, offset in the image
  std::uint64_t size_ = bytes_before_code;
  std::byte* image_ = nullptr;
};

// ---- reading ----------------------------------------------------------------------------------

template <typename T>
std::vector<T> ElfLoader::table(std::uint64_t offset, std::uint64_t count) const {
  check(offset <= object_.size() && count <= (object_.size() - offset) / sizeof(T),
        "object code is damaged: a table leaves the file");
  std::vector<T> result(count);
  if (count) std::memcpy(result.data(), object_.data() + offset, count * sizeof(T));
  return result;
}

std::string_view ElfLoader::bytes_of(const Elf64_Shdr& section) const {
  check(
      section.sh_offset <= object_.size() && section.sh_size <= object_.size() - section.sh_offset,
      "object code is damaged: a section leaves the file");
  return object_.substr(section.sh_offset, section.sh_size);
}

void ElfLoader::read_header() {
  check(object_.starts_with(ELFMAG), "object code is damaged: it is no ELF file");
  const Elf64_Ehdr header = table<Elf64_Ehdr>(0, 1)[0];
  check(header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
            header.e_type == ET_REL && header.e_shentsize == sizeof(Elf64_Shdr),
        "object code is damaged: it is no relocatable file");
  check(header.e_machine == host_machine, "object code is for machine {}, this is {}",
        static_cast<int>(header.e_machine), host_machine);
  sections_ = table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
}

void ElfLoader::place_sections() {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  offsets_.assign(sections_.size(), none);
  for (std::size_t i = 0; i < sections_.size(); i++) {
    const Elf64_Shdr& section = sections_[i];
    if (!(section.sh_flags & SHF_ALLOC) || section.sh_size == 0) continue;
    const std::uint64_t alignment = section.sh_addralign ? section.sh_addralign : 1;
    check(std::has_single_bit(alignment) && alignment <= page && bytes_of(section).size() &&
              section.sh_type != SHT_NOBITS && !(section.sh_flags & (SHF_WRITE | SHF_TLS)),
          "object code is damaged: it has a section of a kind that kernels do not have");
    offsets_[i] = align_up(size_, alignment);
    size_ = offsets_[i] + section.sh_size;
    check(size_ <= max_image_bytes, "object code is damaged: it asks for {} bytes", size_);
  }
}

void ElfLoader::read_symbols() {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_SYMTAB) continue;
    symbols_ = table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    check(section.sh_link < sections_.size(), "object code is damaged: symbols without names");
    names_ = bytes_of(sections_[section.sh_link]);
  }
}

std::string_view ElfLoader::name_of(const Elf64_Sym& symbol) const {
  check(symbol.st_name < names_.size(), "object code is damaged: a symbol without a name");
  const std::string_view rest = names_.substr(symbol.st_name);
  return rest.substr(0, rest.find('\0'));
}

// Calls f(section, relocation) for all relocations of loaded sections.
template <typename F>
void ElfLoader::for_relocations(F f) const {
  for (const Elf64_Shdr& table_section : sections_) {
    if (table_section.sh_type != SHT_RELA) continue;
    const std::size_t target = table_section.sh_info;
    check(target < sections_.size(), "object code is damaged: relocations of no section");
    if (offsets_[target] == none) continue;
    const std::uint64_t count = table_section.sh_size / sizeof(Elf64_Rela);
    for (const Elf64_Rela& r : table<Elf64_Rela>(table_section.sh_offset, count)) {
      check(ELF64_R_SYM(r.r_info) < symbols_.size(),
            "object code is damaged: a relocation to no symbol");
      f(target, r);
    }
  }
}

bool ElfLoader::needs_slot(const Elf64_Rela& r) const {
  const auto type = ELF64_R_TYPE(r.r_info);
  return symbols_[ELF64_R_SYM(r.r_info)].st_shndx == SHN_UNDEF || type == R_X86_64_GOTPCREL ||
         type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
}

void ElfLoader::place_slots() {
  slots_.assign(symbols_.size(), none);
  size_ = align_up(size_, slot_bytes);
  for_relocations([&](std::size_t, const Elf64_Rela& r) {
    std::uint64_t& slot = slots_[ELF64_R_SYM(r.r_info)];
    if (!needs_slot(r) || slot != none) return;
    slot = size_;
    size_ += slot_bytes;
  });
}

// ---- writing ----------------------------------------------------------------------------------

void ElfLoader::copy_sections() {
  for (std::size_t i = 0; i < sections_.size(); i++) {
    if (offsets_[i] == none) continue;
    const std::string_view bytes = bytes_of(sections_[i]);
    std::memcpy(image_ + offsets_[i], bytes.data(), bytes.size());
  }
}

// The address of a symbol of this object, or of its slot.
std::uint64_t ElfLoader::target_of(std::size_t symbol) const {
  const Elf64_Sym& s = symbols_[symbol];
  const auto base = reinterpret_cast<std::uint64_t>(image_);
  if (s.st_shndx == SHN_UNDEF) return base + slots_[symbol];
  check(s.st_shndx < sections_.size() && offsets_[s.st_shndx] != none &&
            s.st_value <= sections_[s.st_shndx].sh_size,
        "object code is damaged: a symbol outside of its section");
  return base + offsets_[s.st_shndx] + s.st_value;
}

void ElfLoader::fill_slots() {
  constexpr std::uint8_t jump_through_next_word[slot_address] = {0xff, 0x25, 0, 0, 0, 0};
  for (std::size_t i = 0; i < symbols_.size(); i++) {
    if (slots_[i] == none) continue;
    std::uint64_t address;
    if (symbols_[i].st_shndx == SHN_UNDEF) {
      const std::string_view name = name_of(symbols_[i]);
      const void* resolved = resolve_(name);
      ensure(resolved, "the code of a kernel needs '{}', which croze does not provide", name);
      address = reinterpret_cast<std::uint64_t>(resolved);
    } else {
      address = target_of(i);
    }
    std::memcpy(image_ + slots_[i], jump_through_next_word, slot_address);
    std::memcpy(image_ + slots_[i] + slot_address, &address, sizeof(address));
  }
}

void ElfLoader::relocate() {
  for_relocations([&](std::size_t target, const Elf64_Rela& r) {
    const Elf64_Shdr& section = sections_[target];
    const bool wide =
        ELF64_R_TYPE(r.r_info) == R_X86_64_64 || ELF64_R_TYPE(r.r_info) == R_X86_64_PC64;
    const std::uint64_t width = wide ? 8 : 4;
    check(section.sh_size >= width && r.r_offset <= section.sh_size - width,
          "object code is damaged: a relocation outside of its section");
    apply(offsets_[target] + r.r_offset, r);
  });
}

void ElfLoader::apply(std::uint64_t place, const Elf64_Rela& r) {
  const std::size_t symbol = ELF64_R_SYM(r.r_info);
  const auto base = reinterpret_cast<std::uint64_t>(image_);
  const auto addend = static_cast<std::uint64_t>(r.r_addend);
  switch (ELF64_R_TYPE(r.r_info)) {
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return store_relative(place, target_of(symbol) + addend);
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return store_relative(place, base + slots_[symbol] + slot_address + addend);
    case R_X86_64_PC64:
    case R_X86_64_64: {
      const bool relative = ELF64_R_TYPE(r.r_info) == R_X86_64_PC64;
      const std::uint64_t value = target_of(symbol) + addend - (relative ? base + place : 0);
      std::memcpy(image_ + place, &value, sizeof(value));
      return;
    }
    default:
      fail_internal({"elf_loader", {}}, "relocation kind {} is not provided for",
                    ELF64_R_TYPE(r.r_info));
  }
}

void ElfLoader::store_relative(std::uint64_t place, std::uint64_t target) {
  const auto distance =
      static_cast<std::int64_t>(target - reinterpret_cast<std::uint64_t>(image_) - place);
  check(distance == static_cast<std::int32_t>(distance),
        "object code is damaged: a relocation leads out of the image");
  const auto value = static_cast<std::int32_t>(distance);
  std::memcpy(image_ + place, &value, sizeof(value));
}

void ElfLoader::find_entry(CodeImage& image) const {
  for (std::size_t i = 0; i < symbols_.size(); i++) {
    const Elf64_Sym& s = symbols_[i];
    if (ELF64_ST_BIND(s.st_info) != STB_GLOBAL || ELF64_ST_TYPE(s.st_info) != STT_FUNC) continue;
    const auto address = static_cast<std::uint64_t>(target_of(i));
    check(sections_[s.st_shndx].sh_flags & SHF_EXECINSTR, "object code is damaged: no function");
    image.entry_ = reinterpret_cast<const void*>(address);
    image.code_ = {image_ + offsets_[s.st_shndx], sections_[s.st_shndx].sh_size};
  }
  check(image.entry_ != nullptr, "object code is damaged: it exports no function");
}

void ElfLoader::load(CodeImage& image) {
  read_header();
  place_sections();
  read_symbols();
  place_slots();
  check(size_ > 0, "object code is damaged: it is empty");

  void* pages = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(pages != MAP_FAILED, "no memory for {} bytes of code", size_);
  image_ = static_cast<std::byte*>(pages);
  image.pages_ = {image_, size_};

  copy_sections();
  fill_slots();
  relocate();
  find_entry(image);
  check(mprotect(pages, size_, PROT_READ | PROT_EXEC) == 0,
        "the system does not allow code made at run time");
}

CodeImage::CodeImage(std::string_view object, Resolve resolve) {
  try {
    ElfLoader(object, resolve).load(*this);
  } catch (...) {
    if (!pages_.empty()) munmap(pages_.data(), pages_.size());
    throw;
  }
}

CodeImage::~CodeImage() {
  if (!pages_.empty()) munmap(pages_.data(), pages_.size());
}

}  // namespace croze
