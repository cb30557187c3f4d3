#include "croze/render/spirv/subgroups.h"

namespace croze::spirv {
namespace {

Id need_subgroups(Module& m, Capability capability) {
  m.need(Capability::GroupNonUniform);
  m.need(capability);
  return m.constant_word(scope_subgroup);
}

}  // namespace

// What has 8 bytes goes as two words: not every device gives items as much at once.
Id shuffled(Module& m, DType t, Id value, std::uint32_t bit) {
  const Id scope = need_subgroups(m, Capability::GroupNonUniformShuffle);
  const bool is_wide = size_of(t) == 8;
  const Id type = m.type_of(t), given_type = is_wide ? m.type_words(2) : type;
  const Id given = is_wide ? m.define(Code::Bitcast, given_type, {value}) : value;
  const Id there =
      m.define(Code::GroupNonUniformShuffleXor, given_type, {scope, given, m.constant_word(bit)});
  return is_wide ? m.define(Code::Bitcast, type, {there}) : there;
}

Id ballot(Module& m, DType t, Id condition) {
  const Id scope = need_subgroups(m, Capability::GroupNonUniformBallot);
  const Id words = m.define(Code::GroupNonUniformBallot, m.type_words(4), {scope, condition});
  const auto word_of = [&](std::uint32_t i) {
    return m.define(Code::CompositeExtract, m.type_int(32), {words, i});
  };
  const Id low = word_of(0);
  if (size_of(t) == 4) return low;
  const Id both = m.define(Code::CompositeConstruct, m.type_words(2), {low, word_of(1)});
  return m.define(Code::Bitcast, m.type_of(t), {both});
}

}  // namespace croze::spirv
