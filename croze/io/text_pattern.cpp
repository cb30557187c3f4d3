// text_pattern.cpp -- the one file that knows PCRE2.
#include "croze/io/text_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "croze/base/error.h"

namespace croze {
namespace {

constexpr std::uint32_t max_heap_kilobytes = 64 << 10;
constexpr std::uint64_t min_match_steps = 10'000'000;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct TextPattern::Compiled {
  explicit Compiled(std::string s) : shown(std::move(s)) {}
  ~Compiled() { pcre2_code_free(code); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  std::string shown;
  pcre2_code* code = nullptr;
};

TextPattern::TextPattern(const std::string& expression, std::string shown, Meaning meaning)
    : compiled_(std::make_unique<Compiled>(std::move(shown))) {
  check(compiled_->shown.size() <= max_bytes, "a pattern of {} bytes is longer than {}",
        compiled_->shown.size(), max_bytes);
  const std::uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY |
                                (meaning.of_unicode ? PCRE2_UCP : 0) |
                                (meaning.of_lines ? PCRE2_MULTILINE : 0);
  int problem = 0;
  PCRE2_SIZE offset = 0;
  compiled_->code =
      pcre2_compile(units(expression), expression.size(), options, &problem, &offset, nullptr);
  check(compiled_->code != nullptr, "the pattern {} is not valid: {}", compiled_->shown,
        message_of(problem));
}

TextPattern::~TextPattern() = default;
TextPattern::TextPattern(TextPattern&& other) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&& other) noexcept = default;

// ---- matching ---------------------------------------------------------------------------------

struct TextMatcher::State {
  State()
      : data(pcre2_match_data_create(1, nullptr)), context(pcre2_match_context_create(nullptr)) {}
  ~State() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  pcre2_match_data* data;
  pcre2_match_context* context;
  std::uint32_t known = 0;  // options that hold from the second match on: the text is UTF-8
};

TextMatcher::TextMatcher(const TextPattern& pattern, std::string_view text)
    : compiled_(*pattern.compiled_), text_(text), state_(std::make_unique<State>()) {
  check(state_->data && state_->context, "out of memory: a match of a pattern");
  const std::uint64_t steps = std::max<std::uint64_t>(min_match_steps, 8 * text.size());
  pcre2_set_match_limit(state_->context,
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, UINT32_MAX)));
  pcre2_set_heap_limit(state_->context, max_heap_kilobytes);
}

TextMatcher::~TextMatcher() = default;

bool TextMatcher::match(std::size_t from, unsigned options) {
  const int found = pcre2_match(compiled_.code, units(text_), text_.size(), from,
                                options | state_->known, state_->data, state_->context);
  if (found < 0 && found != PCRE2_ERROR_NOMATCH) {  // else no message is made
    fail({}, "matching the pattern {} failed: {}", compiled_.shown, message_of(found));
  }
  state_->known = PCRE2_NO_UTF_CHECK;
  return found >= 0;
}

std::optional<TextMatcher::Range> TextMatcher::find(std::size_t from) {
  if (!match(from, 0)) return {};
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(state_->data);
  return Range{range[0], range[1]};
}

bool TextMatcher::is_all() { return match(0, PCRE2_ANCHORED | PCRE2_ENDANCHORED); }

}  // namespace croze
