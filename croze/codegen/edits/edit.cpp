// edit.cpp -- edits as text.
//
// All kinds share one form: the name, then those of "load N over", ranges, "in SPACE", "by SIZE"
// and the kind of loop that the kind of edit has.
#include "croze/codegen/edits/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "croze/base/error.h"

namespace croze {
namespace {

struct Form {
  std::string_view name;
  std::size_t least_ranges, most_ranges;
  bool has_size, has_loop, has_load;
};

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

constexpr Form forms[] = {
    {"split", 1, 1, true, false, false},           {"split_overlapping", 1, 1, true, false, false},
    {"merge", 2, 2, false, false, false},          {"pad", 1, 1, true, false, false},
    {"split_reduction", 1, 1, true, false, false}, {"bind", 1, 1, false, true, false},
    {"reorder", 1, any, false, false, false},      {"share", 2, any, false, false, false},
    {"one_pass", 2, any, true, false, false},      {"keep", 2, 2, true, false, false},
    {"tabulate", 1, any, true, false, false},      {"panel", 2, any, false, false, false},
    {"accumulate", 2, any, true, false, false},    {"contract", 2, any, true, false, false},
    {"stage", 1, any, true, false, true},          {"simplify", 0, 0, false, false, false},
    {"fill_ahead", 1, 1, true, false, false},
};

const Form& form_of(EditKind kind) { return forms[static_cast<std::size_t>(kind)]; }

constexpr LoopKind loop_kinds[] = {LoopKind::Parallel, LoopKind::Reduce, LoopKind::Serial,
                                   LoopKind::Thread,   LoopKind::Group,  LoopKind::Item,
                                   LoopKind::Lane,     LoopKind::Unroll, LoopKind::Loop};

constexpr std::string_view space_name(Space space) {
  return space == Space::Thread ? "thread" : "group";
}

// The words of one edit, taken from the front.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text), rest_(text) { advance(); }

  // The next word, empty at the end.
  std::string_view next() const { return word_; }
  std::string_view take() {
    const std::string_view taken = word_;
    advance();
    return taken;
  }
  void expect(std::string_view word) {
    if (take() != word) refuse();
  }
  std::int64_t number() { return parsed(take()); }
  std::optional<std::int64_t> range() {
    if (word_.size() < 2 || word_[0] != 'r' || word_[1] < '0' || word_[1] > '9') return {};
    return parsed(take().substr(1));
  }
  [[noreturn]] void refuse() const { fail({}, "'{}' is no edit of a kernel", text_); }

 private:
  void advance() {
    const std::size_t begin = std::min(rest_.find_first_not_of(" \t"), rest_.size());
    rest_.remove_prefix(begin);
    const std::size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
    word_ = rest_.substr(0, end);
    rest_.remove_prefix(end);
  }
  std::int64_t parsed(std::string_view digits) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) refuse();
    return value;
  }

  std::string_view text_, rest_, word_;
};

EditKind kind_named(Words& words) {
  const std::string_view name = words.take();
  for (std::size_t i = 0; i < std::size(forms); i++) {
    if (forms[i].name == name) return static_cast<EditKind>(i);
  }
  words.refuse();
}

LoopKind loop_named(Words& words) {
  const std::string_view name = words.take();
  for (LoopKind kind : loop_kinds) {
    if (name_of(kind) == name) return kind;
  }
  words.refuse();
}

Space space_named(Words& words) {
  const std::string_view name = words.take();
  for (Space space : {Space::Thread, Space::Group}) {
    if (space_name(space) == name) return space;
  }
  words.refuse();
}

Edit parse_edit(std::string_view text) {
  Words words(text);
  Edit edit{.kind = kind_named(words)};
  const Form& form = form_of(edit.kind);
  if (form.has_load) {
    words.expect("load");
    edit.load = words.number();
    words.expect("over");
  }
  while (const auto id = words.range()) edit.ranges.push_back(*id);
  if (edit.ranges.size() < form.least_ranges || edit.ranges.size() > form.most_ranges) {
    words.refuse();
  }
  if (form.has_load) {
    words.expect("in");
    edit.space = space_named(words);
  }
  if (form.has_size) {
    words.expect("by");
    edit.size = words.number();
  }
  if (form.has_loop) edit.loop = loop_named(words);
  if (!words.next().empty()) words.refuse();
  return edit;
}

}  // namespace

std::string to_text(const Edit& edit) {
  const Form& form = form_of(edit.kind);
  std::string text(form.name);
  if (form.has_load) text += fmt::format(" load {} over", edit.load);
  for (std::int64_t id : edit.ranges) text += fmt::format(" r{}", id);
  if (form.has_load) text += fmt::format(" in {}", space_name(edit.space));
  if (form.has_size) text += fmt::format(" by {}", edit.size);
  if (form.has_loop) text += fmt::format(" {}", name_of(edit.loop));
  return text;
}

std::string to_text(std::span<const Edit> edits) {
  std::string text;
  for (const Edit& edit : edits) {
    if (!text.empty()) text += "; ";
    text += to_text(edit);
  }
  return text;
}

std::vector<Edit> parse_edits(std::string_view text) {
  std::vector<Edit> edits;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.find_first_not_of(" \t\n") != part.npos) edits.push_back(parse_edit(part));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return edits;
}

}  // namespace croze
