// memory.cpp -- from memory to slots and back, by width and space.
#include "croze/backends/ptx_interp/memory.h"

#include <cstddef>
#include <type_traits>

namespace croze::ptx_interp {
namespace {

// What is narrower than its register is extended.
template <typename T, Space space>
void load(Item& item, const Step& step) {
  const std::byte* memory = item.load<space>(step, step.count * std::int64_t{sizeof(T)});
  for (std::size_t k = 0; k < step.count; k++) {
    T value;
    std::memcpy(&value, memory + k * sizeof(T), sizeof(T));
    if constexpr (std::is_signed_v<T>) {
      item.set(step.registers[k], std::int64_t{value});
    } else {
      item.set(step.registers[k], value);
    }
  }
}

template <typename T, Space space>
void store(Item& item, const Step& step) {
  T values[4];
  for (std::size_t k = 0; k < step.count; k++) values[k] = item.get<T>(step.registers[k]);
  item.store<space>(step, std::as_bytes(std::span(values, step.count)));
}

template <Space space, bool is_store, typename T>
Handler of() {
  return is_store ? store<T, space> : load<T, space>;
}

template <Space space, bool is_store>
Handler by_type(Type t) {
  switch (t) {
    case Type::B8:
    case Type::U8: return of<space, is_store, std::uint8_t>();
    case Type::S8: return of<space, is_store, std::int8_t>();
    case Type::B16:
    case Type::U16: return of<space, is_store, std::uint16_t>();
    case Type::S16: return of<space, is_store, std::int16_t>();
    case Type::B32:
    case Type::U32:
    case Type::F32: return of<space, is_store, std::uint32_t>();
    case Type::S32: return of<space, is_store, std::int32_t>();
    case Type::B64:
    case Type::U64:
    case Type::S64:
    case Type::F64: return of<space, is_store, std::uint64_t>();
    default: return nullptr;
  }
}

template <Space space>
Handler by_direction(bool is_store, Type t) {
  return is_store ? by_type<space, true>(t) : by_type<space, false>(t);
}

}  // namespace

Handler access_handler(Space space, bool is_store, Type t) {
  switch (space) {
    case Space::Global: return by_direction<Space::Global>(is_store, t);
    case Space::Shared: return by_direction<Space::Shared>(is_store, t);
    default: return by_direction<Space::Local>(is_store, t);
  }
}

void begin_copy(Item& item, const Step& step) { item.begin_copy(step); }
void commit_copies(Item& item, const Step&) { item.commit_copies(); }
void await_copies(Item& item, const Step& step) {
  item.await_copies(static_cast<std::size_t>(step.second));
}

void init_barrier(Item& item, const Step& step) { item.init_barrier(step); }
void show_inits(Item& item, const Step&) { item.show_inits(); }
void expect_bytes(Item& item, const Step& step) { item.expect_bytes(step); }
void arrive(Item& item, const Step& step) { item.arrive(step); }
void await_phase(Item& item, const Step& step) { item.await_phase(step); }
void begin_box(Item& item, const Step& step) { item.begin_box(step); }

}  // namespace croze::ptx_interp
