// bits.cpp -- shifts and masks of sized integers.  Each rule removes a node or joins constants.
#include "croze/graph/rewrite/captures.h"
#include "croze/graph/rules/rules.h"

namespace croze {
namespace {

using namespace captures;

// clang-format off
constexpr Rule bits[] = {
    rule(x << 0,                          x),
    rule(x >> 0,                          x),
    rule((x << c) << d,                   x << (c + d),           0 <= c && 0 <= d && c + d < 64),
    rule((x >> c) >> d,                   x >> (c + d),           0 <= c && 0 <= d && c + d < 64),
    rule((x.of(sized_ints) >> c) << c,    x & (Pattern(-1) << c)),
    rule((x & c) >> d,                    (x >> d) & (c >> d)),
    rule((x & c) << d,                    (x << d) & (c << d)),
    rule(x & c,                           x,
         0 <= x && x <= c && (c & (c + 1)) == 0),  // c is 2^n - 1
};
// clang-format on

}  // namespace

const RuleList& bits_list() {
  static constexpr RuleList list{"bits", Numbers::Wrapping, bits};
  return list;
}

const RuleSet& bits_rules() {
  static const RuleSet& set = *new RuleSet("bits", {bits_list()});
  return set;
}

}  // namespace croze
