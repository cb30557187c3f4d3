// 64-bit hashing: the same value hashes the same in every run and on every machine, so hashes may
// name files in the disk cache.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace croze {

// Mixes two words into one: the 128-bit product of both, its halves folded together.  Every bit of
// either input moves about half of the output's.
constexpr uint64_t hash_mix(uint64_t a, uint64_t b) {
  // Odd constants without structure: digits of pi and of the golden ratio.
  unsigned __int128 product =
      static_cast<unsigned __int128>(a ^ 0x243f6a8885a308d3u) * (b ^ 0x9e3779b97f4a7c15u);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// One word; integers that differ little give hashes that differ much.
constexpr uint64_t hash_word(uint64_t value) { return hash_mix(value, 0x13198a2e03707344u); }

// Bytes, read as little-endian words.  Different seeds give independent hashes.
inline uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0) {
  uint64_t hash = hash_mix(seed, bytes.size());
  while (bytes.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    hash = hash_mix(hash, word);
    bytes.remove_prefix(8);
  }
  uint64_t tail = 0;
  if (!bytes.empty()) std::memcpy(&tail, bytes.data(), bytes.size());
  return hash_mix(hash, tail);
}

// The hash of a key in FlatMap and FlatSet: numbers, enumerators and pointers here, other types by
// their member `uint64_t hash() const`.
template <typename T>
struct Hash {
  uint64_t operator()(const T& value) const {
    if constexpr (std::is_pointer_v<T>) {
      return hash_word(reinterpret_cast<uintptr_t>(value));
    } else if constexpr (std::integral<T> || std::is_enum_v<T>) {
      return hash_word(static_cast<uint64_t>(value));
    } else {
      return value.hash();
    }
  }
};

}  // namespace croze
