// shared_cache.h -- values by key, shared by threads: each is made once, and the least recently
// used go first.
//
// Who claims a key that is not there has to make its value, without any lock, and others who want
// it wait for that one value only.  A thread that makes several values makes all that it has
// claimed before it waits for those of others, so nobody waits in a circle.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "croze/base/error.h"

namespace croze {

template <typename Value>
class SharedCache {
  struct Slot;

 public:
  using Pointer = std::shared_ptr<const Value>;

  // How many values are kept, and what they may weigh together.  The last one made is always kept;
  // what is dropped lives on where it is in use.
  struct Limits {
    std::int64_t values;
    std::int64_t weight;
  };

  // A key that was asked for.  Its value stays as long as the claim, whatever the limits are.
  class Claim {
   public:
    Claim(SharedCache& cache, std::shared_ptr<Slot> slot, bool must_make)
        : cache_(&cache), slot_(std::move(slot)), must_make_(must_make) {}
    ~Claim() {
      if (must_make_) fail(std::make_exception_ptr(InternalError("a value was never made")));
    }
    Claim(Claim&& other) noexcept
        : cache_(other.cache_),
          slot_(std::move(other.slot_)),
          must_make_(std::exchange(other.must_make_, false)) {}
    Claim& operator=(Claim&&) = delete;

    // Whether it is for the caller to make the value, and to call put() or fail().
    bool must_make() const { return must_make_; }

    void put(Pointer value, std::int64_t weight) {
      must_make_ = false;
      cache_->put(*slot_, std::move(value), weight);
    }
    // Nothing was made: those who wait get the exception, and who asks for the key next tries
    // again.
    void fail(std::exception_ptr failure) {
      must_make_ = false;
      cache_->fail(*slot_, std::move(failure));
    }

    // The value, once it is made.  Throws what its maker failed with.
    Pointer wait() const { return cache_->wait(*slot_); }

   private:
    SharedCache* cache_;
    std::shared_ptr<Slot> slot_;
    bool must_make_;
  };

  explicit SharedCache(Limits limits) : limits_(limits) {}

  // The value of the key if there is one now; null if there is none or it is being made.
  Pointer find(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto it = by_key_.find(key);
    if (it == by_key_.end()) return nullptr;
    touch(it->second);
    return (*it->second)->value;
  }

  Claim claim(std::string_view key) {
    const std::lock_guard lock(mutex_);
    if (const auto it = by_key_.find(key); it != by_key_.end()) {
      touch(it->second);
      return Claim(*this, *it->second, false);
    }
    slots_.push_front(std::make_shared<Slot>());
    slots_.front()->key = key;
    by_key_.emplace(slots_.front()->key, slots_.begin());
    return Claim(*this, slots_.front(), true);
  }

  // The value of the key, made by make(weight) if there is none.
  template <typename F>
  Pointer get(std::string_view key, F make) {
    Claim wanted = claim(key);
    if (wanted.must_make()) {
      try {
        std::int64_t weight = 1;
        Pointer value = make(weight);
        wanted.put(std::move(value), weight);
      } catch (...) {
        wanted.fail(std::current_exception());
      }
    }
    return wanted.wait();
  }

  // Drops all that is made.
  void clear() {
    const std::lock_guard lock(mutex_);
    for (auto it = slots_.begin(); it != slots_.end();) {
      it = (*it)->is_made ? drop(it) : std::next(it);
    }
  }

 private:
  struct Slot {
    std::string key;
    Pointer value;
    std::exception_ptr failure;
    std::int64_t weight = 0;
    bool is_made = false;
  };
  using Place = typename std::list<std::shared_ptr<Slot>>::iterator;

  void put(Slot& slot, Pointer value, std::int64_t weight) {
    const std::lock_guard lock(mutex_);
    slot.value = std::move(value);
    slot.weight = weight;
    slot.is_made = true;
    weight_ += weight;
    drop_least_recent(slot);
    made_.notify_all();
  }

  void fail(Slot& slot, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    slot.failure = std::move(failure);
    slot.is_made = true;
    drop(by_key_.at(slot.key));
    made_.notify_all();
  }

  Pointer wait(const Slot& slot) {
    std::unique_lock lock(mutex_);
    made_.wait(lock, [&] { return slot.is_made; });
    if (slot.failure) std::rethrow_exception(slot.failure);
    return slot.value;
  }

  void touch(Place place) { slots_.splice(slots_.begin(), slots_, place); }

  // Returns the place after it.
  Place drop(Place place) {
    weight_ -= (*place)->weight;
    by_key_.erase((*place)->key);
    return slots_.erase(place);
  }

  void drop_least_recent(const Slot& newest) {
    for (Place it = slots_.end(); it != slots_.begin();) {
      if (std::ssize(slots_) <= limits_.values && weight_ <= limits_.weight) return;
      --it;
      if ((*it)->is_made && it->get() != &newest) it = drop(it);
    }
  }

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable made_;
  std::list<std::shared_ptr<Slot>> slots_;  // the most recently used first
  std::unordered_map<std::string_view, Place> by_key_;
  std::int64_t weight_ = 0;
};

}  // namespace croze
