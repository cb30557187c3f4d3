// elf_loader.h -- machine code from an ELF relocatable object, in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace croze {

// Code and constants in pages of their own, which are written first and made executable then, never
// both at once.
class CodeImage {
 public:
  // The address of a function of the outside world, null if there is none of that name.
  using Resolve = const void* (*)(std::string_view symbol);

  // Throws Error if `object` is damaged or of another machine, InternalError if it needs a symbol
  // or a kind of relocation that is not provided for.
  CodeImage(std::string_view object, Resolve resolve);
  ~CodeImage();
  CodeImage(CodeImage&& other) noexcept
      : pages_(std::exchange(other.pages_, {})), entry_(other.entry_), code_(other.code_) {}
  CodeImage& operator=(CodeImage&&) = delete;

  // The one function that the object exports.
  const void* entry() const { return entry_; }
  // The instructions of all functions, for a disassembler.
  std::span<const std::byte> code() const { return code_; }

 private:
  friend class ElfLoader;
  std::span<std::byte> pages_;
  const void* entry_ = nullptr;
  std::span<const std::byte> code_;
};

}  // namespace croze
