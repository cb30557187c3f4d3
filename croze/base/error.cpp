// The text of the two exceptions.
#include "croze/base/error.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "croze/base/call_site.h"
#include "croze/base/printable.h"

namespace croze {
namespace {

void append_list(std::string& text, const char* label, const std::vector<std::string>& items) {
  if (!items.empty())
    fmt::format_to(std::back_inserter(text), "\n  {}: {}", label, fmt::join(items, ", "));
}

std::string render(const std::string& message, const ErrorDetails& details) {
  std::string text = details.op.empty() ? message : details.op + ": " + message;
  append_list(text, "shapes", details.shapes);
  append_list(text, "dtypes", details.dtypes);
  append_list(text, "devices", details.devices);
  if (details.where.line() != 0) {
    fmt::format_to(std::back_inserter(text), "\n  at: {}:{}", details.where.file_name(),
                   details.where.line());
  }
  if (!details.hint.empty()) text += "\n  hint: " + details.hint;
  return text;
}

std::string render(const std::string& message, const InternalDetails& details) {
  std::string text = "internal error: " + message;
  if (!details.pass.empty()) text += "\n  pass: " + details.pass;
  if (!details.node.empty()) text += "\n  node: " + details.node;
  text +=
      "\n  This is a bug in croze. Please report it with this text and the program that led to it.";
  return text;
}

}  // namespace

Error::Error(std::string message, ErrorDetails details)
    : message_(printable(message)),
      details_(std::move(details)),
      text_(printable(render(message_, details_))) {}

InternalError::InternalError(std::string message, InternalDetails details)
    : message_(printable(message)),
      details_(std::move(details)),
      text_(printable(render(message_, details_))) {}

namespace detail {

void throw_error(ErrorDetails details, fmt::string_view format, fmt::format_args args) {
  // What was called by the library itself would name a line of it.
  if (const CallSite& call = current_call(); !call.function.empty()) details.where = call.where;
  throw Error(fmt::vformat(format, args), std::move(details));
}

void throw_internal(InternalDetails details, fmt::string_view format, fmt::format_args args) {
  throw InternalError(fmt::vformat(format, args), std::move(details));
}

}  // namespace detail
}  // namespace croze
