// regex.cpp -- patterns in the words of PCRE2, and matching within limits.
//
// Why PCRE2, and not a matcher of our own for the few known patterns: every new family of models
// brings a pattern of its own, and a tokenizer.json may hold any; a general engine takes them as
// they are.  Its interpreter is fast enough (some 60 ns a word, the merging of words costs more),
// so the compiler to machine code stays off: the patterns come from files, and what a file says
// should not become code.  Time and memory of a match are limited, linearly in the text.
#include "croze/llm/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "croze/base/error.h"

namespace croze::llm {
namespace {

constexpr std::size_t max_pattern_bytes = 1 << 14;
constexpr std::uint32_t max_heap_kilobytes = 64 << 10;
constexpr std::uint64_t min_match_steps = 10'000'000;

// White_Space, and what \w is to Oniguruma: to PCRE2 both are slightly different sets.
constexpr std::string_view space_class =
    R"(\t-\r\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr std::string_view word_class = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

// Scripts: \p{Han} is the script to Oniguruma, and to PCRE2 whatever is used with it, too.
constexpr std::array<std::string_view, 4> scripts = {"{Han}", "{Hiragana}", "{Katakana}",
                                                     "{Hangul}"};

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  std::string translated() {
    for (; at_ < pattern_.size(); at_++) {
      const char c = pattern_[at_];
      if (c == '\\') {
        take_escape();
      } else if (in_class_) {
        take_in_class(c);
      } else {
        if (c == '[') enter_class();
        result_ += c;
      }
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail({}, "the pattern {} uses {}, which is not supported", pattern_, what);
  }

  // A `]` right after the beginning stands for itself.
  void enter_class() {
    in_class_ = true;
    class_begin_ = at_ + 1;
    if (pattern_.substr(class_begin_).starts_with('^')) class_begin_++;
  }

  void take_in_class(char c) {
    const bool is_posix = c == '[' && pattern_.substr(at_).starts_with("[:");
    if ((c == '[' && !is_posix) || pattern_.substr(at_).starts_with("&&")) {
      refuse("a class of characters in another one");
    }
    if (is_posix) refuse("a POSIX class");
    if (c == ']' && at_ != class_begin_) in_class_ = false;
    result_ += c;
  }

  void take_escape() {
    check(at_ + 1 < pattern_.size(), "the pattern {} ends with a backslash", pattern_);
    const char c = pattern_[++at_];
    if (c == 's' || c == 'w') return take_set(c == 's' ? space_class : word_class, false);
    if ((c == 'S' || c == 'W') && !in_class_) {
      return take_set(c == 'S' ? space_class : word_class, true);
    }
    if (c == 'h' || c == 'H' || c == 'S' || c == 'W') refuse(std::string("\\") + c);
    result_ += '\\';
    result_ += c;
    if (c != 'p' && c != 'P') return;
    const std::string_view rest = pattern_.substr(at_ + 1);
    const auto* script = std::ranges::find_if(
        scripts, [&](std::string_view name) { return rest.starts_with(name); });
    if (script == scripts.end()) return;
    result_ += "{sc:";
    at_++;  // the brace
  }

  void take_set(std::string_view set, bool negated) {
    if (!in_class_) result_ += negated ? "[^" : "[";
    result_ += set;
    if (!in_class_) result_ += ']';
  }

  std::string_view pattern_;
  std::size_t at_ = 0, class_begin_ = 0;
  bool in_class_ = false;
  std::string result_;
};

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
using MatchData = std::unique_ptr<pcre2_match_data, FreeMatch>;
using MatchContext = std::unique_ptr<pcre2_match_context, FreeMatch>;

}  // namespace

struct Regex::Compiled {
  std::string pattern;
  pcre2_code* code = nullptr;
  ~Compiled() { pcre2_code_free(code); }
};

Regex::Regex(const std::string& pattern) : compiled_(std::make_unique<Compiled>()) {
  check(pattern.size() <= max_pattern_bytes, "a pattern of {} bytes is longer than {}",
        pattern.size(), max_pattern_bytes);
  const std::string translated = Translator(pattern).translated();
  compiled_->pattern = pattern;
  int problem = 0;
  PCRE2_SIZE offset = 0;
  // Oniguruma's ^ and $ are those of lines.
  compiled_->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &problem,
                    &offset, nullptr);
  check(compiled_->code != nullptr, "the pattern {} is not valid: {}", pattern,
        message_of(problem));
}

Regex::~Regex() = default;
Regex::Regex(Regex&& other) noexcept = default;
Regex& Regex::operator=(Regex&& other) noexcept = default;

std::vector<MatchedPart> Regex::parts(std::string_view text) const {
  const MatchData data(pcre2_match_data_create(1, nullptr));
  const MatchContext context(pcre2_match_context_create(nullptr));
  check(data && context, "out of memory: a match of a pattern");
  const std::uint64_t steps = std::max<std::uint64_t>(min_match_steps, 8 * text.size());
  pcre2_set_match_limit(context.get(),
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, UINT32_MAX)));
  pcre2_set_heap_limit(context.get(), max_heap_kilobytes);

  std::vector<MatchedPart> parts;
  std::size_t end = 0;  // of the last part
  for (std::size_t from = 0; from < text.size();) {
    const int found = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), from, PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    check(found >= 0, "matching the pattern {} failed: {}", compiled_->pattern, message_of(found));
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data.get());
    const std::size_t first = range[0], last = range[1];
    check(end <= first && first <= last, "the pattern {} matches backwards", compiled_->pattern);
    if (end < first) parts.push_back({end, first, false});
    if (first < last) parts.push_back({first, last, true});
    end = from = last;
    if (first == last) {  // an empty match: go on behind the next character
      do from++;
      while (from < text.size() && (static_cast<std::uint8_t>(text[from]) & 0xC0) == 0x80);
    }
  }
  if (end < text.size()) parts.push_back({end, text.size(), false});
  return parts;
}

}  // namespace croze::llm
