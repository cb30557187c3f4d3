// message_pack.h -- values in MessagePack, the form of the notes in AMD's code objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace croze::targets {

struct PackedMember;

struct PackedValue {
  std::int64_t number = 0;  // of an integer, or of true and false
  std::string text;
  std::vector<PackedValue> items;
  std::vector<PackedMember> members;

  // The member of this name; one without content if there is none.
  const PackedValue& operator[](std::string_view name) const;
};

struct PackedMember {
  std::string name;
  PackedValue value;
};

// Throws Error where the bytes are no value.  Floats, byte strings and extensions are not known.
PackedValue unpack_message(std::string_view bytes);

}  // namespace croze::targets
