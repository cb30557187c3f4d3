// Hash map and set for small trivially copyable keys, iterated in the order of insertion.
//
// Entries lie densely in one array, and an open-addressing index of (hash, position) pairs finds
// them.  The order of a loop over the map therefore never depends on addresses or hashes, which
// keeps the compiler deterministic, and such a loop is as fast as over a vector.  Erasing moves the
// last entry into the gap.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "croze/base/hash.h"

namespace croze {
namespace detail {

// The index: finds the position of an entry by its hash.  The entries are the caller's: `same` and
// `hash_at` are asked about positions.
class FlatIndex {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  template <typename Same>
  uint32_t find(uint64_t hash, Same same) const {
    if (slots_.empty()) return none;
    for (size_t i = home(hash);; i = next(i)) {
      const Slot& slot = slots_[i];
      if (slot.position == none) return none;
      if (slot.hash == tag(hash) && same(slot.position)) return slot.position;
    }
  }

  // Adds a position that find() does not know; `count` is the number of positions before it.
  void insert(uint64_t hash, uint32_t position, int64_t count) {
    reserve(count + 1);
    place({tag(hash), position});
  }

  // Makes room for `count` positions, at most two thirds full.
  void reserve(int64_t count) {
    if (static_cast<size_t>(count) * 3 <= slots_.size() * 2) return;
    int bits = 3;
    while ((size_t{2} << bits) < static_cast<size_t>(count) * 3) ++bits;
    std::vector<Slot> old(size_t{1} << bits, Slot{0, none});
    old.swap(slots_);
    shift_ = 32 - bits;
    for (const Slot& slot : old) {
      if (slot.position != none) place(slot);
    }
  }

  // Renames the entry at position `from` to `to`.
  void move(uint64_t hash, uint32_t from, uint32_t to) {
    slots_[slot_of(hash, from)].position = to;
  }

  // Removes a position, closing the gap so that no search stops too early.
  void erase(uint64_t hash, uint32_t position) {
    size_t gap = slot_of(hash, position);
    for (size_t i = next(gap); slots_[i].position != none; i = next(i)) {
      // The slot may move back to the gap unless its home lies behind the gap, cyclically.
      size_t distance_home = (i - home(slots_[i].hash)) & (slots_.size() - 1);
      size_t distance_gap = (i - gap) & (slots_.size() - 1);
      if (distance_home >= distance_gap) {
        slots_[gap] = slots_[i];
        gap = i;
      }
    }
    slots_[gap].position = none;
  }

  void clear() { slots_.assign(slots_.size(), Slot{0, none}); }

 private:
  struct Slot {
    uint32_t hash;
    uint32_t position;
  };

  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash); }
  // The upper bits of the tag: the order of slots is then the order of tags in a table of any size,
  // and growing walks both tables from front to back.
  size_t home(uint64_t hash) const { return tag(hash) >> shift_; }
  size_t next(size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void place(Slot slot) {
    size_t i = home(slot.hash);
    while (slots_[i].position != none) i = next(i);
    slots_[i] = slot;
  }

  size_t slot_of(uint64_t hash, uint32_t position) const {
    size_t i = home(hash);
    while (slots_[i].position != position) i = next(i);
    return i;
  }

  std::vector<Slot> slots_;  // size is 0 or 2^(32 - shift_)
  int shift_ = 32;
};

}  // namespace detail

// A map from Key to any movable Value.  Pointers to entries are invalid after an insertion or an
// erasure.  Holds less than 2^32 entries.
template <typename Key, typename Value, typename Hasher = Hash<Key>>
class FlatMap {
  static_assert(std::is_trivially_copyable_v<Key>);

 public:
  struct Entry {
    Key key;
    Value value;
  };

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  bool empty() const { return entries_.empty(); }
  bool contains(const Key& key) const { return find(key) != nullptr; }

  // The value of `key`, or null.
  Value* find(const Key& key) {
    uint32_t position = locate(key, Hasher{}(key));
    return position == detail::FlatIndex::none ? nullptr : &entries_[position].value;
  }
  const Value* find(const Key& key) const { return const_cast<FlatMap*>(this)->find(key); }

  // Inserts unless the key is there already; returns its value, and whether it was inserted.
  std::pair<Value*, bool> insert(const Key& key, Value value) {
    uint64_t hash = Hasher{}(key);
    if (uint32_t position = locate(key, hash); position != detail::FlatIndex::none) {
      return {&entries_[position].value, false};
    }
    return {&append(key, hash, std::move(value)), true};
  }

  // The value of `key`, default-constructed if it was not there.
  Value& operator[](const Key& key) {
    uint64_t hash = Hasher{}(key);
    uint32_t position = locate(key, hash);
    return position != detail::FlatIndex::none ? entries_[position].value
                                               : append(key, hash, Value{});
  }

  // Returns whether the key was there.
  bool erase(const Key& key) {
    uint64_t hash = Hasher{}(key);
    uint32_t position = locate(key, hash);
    if (position == detail::FlatIndex::none) return false;
    index_.erase(hash, position);
    uint32_t last = static_cast<uint32_t>(entries_.size() - 1);
    if (position != last) {
      index_.move(Hasher{}(entries_[last].key), last, position);
      entries_[position] = std::move(entries_[last]);
    }
    entries_.pop_back();
    return true;
  }

  void clear() {
    entries_.clear();
    index_.clear();
  }
  void reserve(int64_t count) {
    entries_.reserve(static_cast<size_t>(count));
    index_.reserve(count);
  }

  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  uint32_t locate(const Key& key, uint64_t hash) const {
    return index_.find(hash, [&](uint32_t position) { return entries_[position].key == key; });
  }

  Value& append(const Key& key, uint64_t hash, Value value) {
    index_.insert(hash, static_cast<uint32_t>(entries_.size()), size());
    entries_.push_back({key, std::move(value)});
    return entries_.back().value;
  }

  std::vector<Entry> entries_;
  detail::FlatIndex index_;
};

// A set of keys, iterated in the order of insertion.
template <typename Key, typename Hasher = Hash<Key>>
class FlatSet {
  static_assert(std::is_trivially_copyable_v<Key>);

 public:
  int64_t size() const { return static_cast<int64_t>(keys_.size()); }
  bool empty() const { return keys_.empty(); }
  bool contains(const Key& key) const {
    return locate(key, Hasher{}(key)) != detail::FlatIndex::none;
  }

  // Returns whether the key is new.
  bool insert(const Key& key) {
    uint64_t hash = Hasher{}(key);
    if (locate(key, hash) != detail::FlatIndex::none) return false;
    index_.insert(hash, static_cast<uint32_t>(keys_.size()), size());
    keys_.push_back(key);
    return true;
  }

  // Returns whether the key was there.
  bool erase(const Key& key) {
    uint64_t hash = Hasher{}(key);
    uint32_t position = locate(key, hash);
    if (position == detail::FlatIndex::none) return false;
    index_.erase(hash, position);
    uint32_t last = static_cast<uint32_t>(keys_.size() - 1);
    if (position != last) {
      index_.move(Hasher{}(keys_[last]), last, position);
      keys_[position] = keys_[last];
    }
    keys_.pop_back();
    return true;
  }

  void clear() {
    keys_.clear();
    index_.clear();
  }
  void reserve(int64_t count) {
    keys_.reserve(static_cast<size_t>(count));
    index_.reserve(count);
  }

  auto begin() const { return keys_.begin(); }
  auto end() const { return keys_.end(); }

 private:
  uint32_t locate(const Key& key, uint64_t hash) const {
    return index_.find(hash, [&](uint32_t position) { return keys_[position] == key; });
  }

  std::vector<Key> keys_;
  detail::FlatIndex index_;
};

}  // namespace croze
