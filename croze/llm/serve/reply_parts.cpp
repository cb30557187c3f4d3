#include "croze/llm/serve/reply_parts.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "croze/base/error.h"
#include "croze/llm/generate/stop_strings.h"
#include "croze/llm/template/value.h"

namespace croze::llm::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view think = "<think>", think_end = "</think>";
constexpr std::string_view call = "<tool_call>", call_end = "</tool_call>";
constexpr const char* spaces = " \t\r\n";

std::optional<ToolCall> call_of(const Json& json) {
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) return std::nullopt;
  const char* member = json.contains("arguments") ? "arguments" : "parameters";
  const Json arguments = json.contains(member) ? json[member] : Json::object();
  if (!arguments.is_object()) return std::nullopt;
  return ToolCall{.name = json["name"].get<std::string>(),
                  .arguments = arguments.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

// The calls that a text of JSON is, an object or a list; none if it is anything else.
std::vector<ToolCall> calls_of(const std::string& text) {
  try {
    jinja::Value::parse(text);  // bounds how deep it nests
  } catch (const Error&) {
    return {};
  }
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return {};
  std::vector<ToolCall> calls;
  const Json list = json.is_array() ? json : Json::array({json});
  for (const Json& element : list) {
    auto one = call_of(element);
    if (!one) return {};
    calls.push_back(*std::move(one));
  }
  return calls;
}

}  // namespace

ReplyParser::ReplyParser(const Options& options)
    : options_(options), mode_(options.begins_with_reasoning ? Mode::Reasoning : Mode::Start) {}

// Passes on what stands before the mark, or cannot be a part of it; whether it was there.
bool ReplyParser::pass_until(std::string_view mark, Mode then, std::string& into) {
  if (skips_spaces_) {
    held_.erase(0, std::min(held_.find_first_not_of(spaces), held_.size()));
    skips_spaces_ = held_.empty();
  }
  const std::size_t at = held_.find(mark);
  const bool is_there = at != std::string::npos;
  const std::size_t passed = is_there ? at : held_.size() - begun(held_, mark);
  into += held_.substr(0, passed);
  held_.erase(0, passed + (is_there ? mark.size() : 0));
  if (is_there) {
    mode_ = then;
    skips_spaces_ = true;
  }
  return is_there;
}

// A reply tells by its beginning what it is.
bool ReplyParser::step_at_start() {
  held_.erase(0, std::min(held_.find_first_not_of(spaces), held_.size()));
  if (held_.empty()) return false;
  if (held_.starts_with(think)) {
    held_.erase(0, think.size());
    mode_ = Mode::Reasoning;
  } else if (think.starts_with(held_)) {
    return false;
  } else if (options_.has_tools && (held_[0] == '{' || held_[0] == '[')) {
    mode_ = Mode::Whole;
  } else {
    mode_ = Mode::Content;
  }
  return true;
}

void ReplyParser::end_call(ReplyParts& parts) {
  const std::size_t at = held_.find(call_end);
  const std::string text = held_.substr(0, at);
  std::vector<ToolCall> calls = calls_of(text);
  if (calls.empty()) {
    parts.content +=
        std::string(call) + held_.substr(0, at == std::string::npos ? at : at + call_end.size());
  }
  std::ranges::move(calls, std::back_inserter(parts.calls));
  held_.erase(0, at == std::string::npos ? at : at + call_end.size());
  mode_ = Mode::Content;
  skips_spaces_ = true;
}

// Whether there is more to do with what is held.
bool ReplyParser::step(ReplyParts& parts) {
  switch (mode_) {
    case Mode::Start: return step_at_start();
    case Mode::Reasoning: {
      const bool ended = pass_until(think_end, Mode::Start, parts.reasoning);
      return ended;
    }
    case Mode::Content:
      if (options_.has_tools) return pass_until(call, Mode::Call, parts.content);
      parts.content += std::exchange(held_, {});
      return false;
    case Mode::Call:
      if (held_.find(call_end) == std::string::npos) return false;
      end_call(parts);
      return true;
    case Mode::Whole: return false;
  }
  return false;
}

ReplyParts ReplyParser::push(std::string_view text) {
  ReplyParts parts;
  held_ += text;
  while (step(parts)) {
  }
  return parts;
}

ReplyParts ReplyParser::finish() {
  ReplyParts parts;
  if (mode_ == Mode::Call) end_call(parts);
  if (mode_ == Mode::Whole) parts.calls = calls_of(held_);
  if (parts.calls.empty()) (mode_ == Mode::Reasoning ? parts.reasoning : parts.content) += held_;
  held_.clear();
  return parts;
}

}  // namespace croze::llm::serve
