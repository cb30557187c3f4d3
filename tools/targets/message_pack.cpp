// message_pack.cpp -- the first byte of a value tells its kind, and of a short one its size.
#include "targets/message_pack.h"

#include <algorithm>

#include "croze/base/error.h"

namespace croze::targets {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  PackedValue value(int depth = 0) {
    check(depth < most_depth, "a note of a code object is nested too deeply");
    const auto first = static_cast<unsigned>(number(1));
    if (first < 0x80) return {.number = first};
    if (first < 0x90) return map(first & 0x0f, depth);
    if (first < 0xa0) return array(first & 0x0f, depth);
    if (first < 0xc0) return text(first & 0x1f);
    if (first >= 0xe0) return {.number = static_cast<std::int64_t>(first) - 0x100};
    switch (first) {
      case 0xc0: return {};
      case 0xc2:
      case 0xc3: return {.number = first == 0xc3};
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf: return {.number = static_cast<std::int64_t>(number(1 << (first - 0xcc)))};
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3: return {.number = with_sign(1 << (first - 0xd0))};
      case 0xd9:
      case 0xda:
      case 0xdb: return text(number(1 << (first - 0xd9)));
      case 0xdc:
      case 0xdd: return array(number(2 << (first - 0xdc)), depth);
      case 0xde:
      case 0xdf: return map(number(2 << (first - 0xde)), depth);
      default: fail({}, "a note of a code object has a value of kind {:#x}", first);
    }
  }

 private:
  static constexpr int most_depth = 16;

  std::string_view take(std::uint64_t count) {
    check(count <= rest_.size(), "a note of a code object ends too early");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  // The highest byte first.
  std::uint64_t number(int bytes) {
    std::uint64_t result = 0;
    for (char c : take(static_cast<std::uint64_t>(bytes))) {
      result = result << 8 | static_cast<unsigned char>(c);
    }
    return result;
  }
  std::int64_t with_sign(int bytes) {
    const int unused = 64 - 8 * bytes;
    return static_cast<std::int64_t>(number(bytes) << unused) >> unused;
  }

  PackedValue text(std::uint64_t size) { return {.text = std::string(take(size))}; }

  PackedValue array(std::uint64_t count, int depth) {
    PackedValue result;
    for (; count > 0; count--) result.items.push_back(value(depth + 1));
    return result;
  }

  PackedValue map(std::uint64_t count, int depth) {
    PackedValue result;
    for (; count > 0; count--) {
      std::string name = value(depth + 1).text;
      result.members.push_back({std::move(name), value(depth + 1)});
    }
    return result;
  }

  std::string_view rest_;
};

}  // namespace

const PackedValue& PackedValue::operator[](std::string_view name) const {
  static const PackedValue nothing;
  const auto found = std::ranges::find(members, name, &PackedMember::name);
  return found == members.end() ? nothing : found->value;
}

PackedValue unpack_message(std::string_view bytes) { return Reader(bytes).value(); }

}  // namespace croze::targets
