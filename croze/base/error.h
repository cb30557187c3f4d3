// The two exceptions of croze and the functions that throw them: Error is the user's doing (wrong
// shapes, a corrupt file, a full disk), InternalError is a bug of ours.  Nothing else is thrown.
#pragma once

#include <fmt/core.h>

#include <exception>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace croze {

// What an Error is about, beside its message.  Everything is optional; shapes, dtypes and devices
// are those of the operands, in order and as text, "(2, 3)".
struct ErrorDetails {
  std::string op;
  std::vector<std::string> shapes;
  std::vector<std::string> dtypes;
  std::vector<std::string> devices;
  std::source_location where;  // of the user's call; line 0 when not known
  std::string hint;            // what to do about it
};

// A mistake of the user or of the world around.  what() is the message followed by the details.
class Error : public std::exception {
 public:
  explicit Error(std::string message, ErrorDetails details = {});

  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& message() const { return message_; }
  const ErrorDetails& details() const { return details_; }

 private:
  std::string message_;
  ErrorDetails details_;
  std::string text_;
};

// Where in the compiler an InternalError was noticed.
struct InternalDetails {
  std::string pass;  // name of the pass
  std::string node;  // the node at fault, printed
};

// A bug in croze.  what() says how to report it.
class InternalError : public std::exception {
 public:
  explicit InternalError(std::string message, InternalDetails details = {});

  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& message() const { return message_; }
  const InternalDetails& details() const { return details_; }

 private:
  std::string message_;
  InternalDetails details_;
  std::string text_;
};

namespace detail {
[[noreturn]] void throw_error(ErrorDetails details, fmt::string_view format, fmt::format_args args);
[[noreturn]] void throw_internal(InternalDetails details, fmt::string_view format,
                                 fmt::format_args args);
}  // namespace detail

// Throws Error.  For details that cost something to collect, write `if (!ok) fail({...}, ...)`.
template <typename... Args>
[[noreturn]] void fail(ErrorDetails details, fmt::format_string<Args...> format, Args&&... args) {
  detail::throw_error(std::move(details), format, fmt::make_format_args(args...));
}

// Throws Error unless `condition` holds.
template <typename... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]] {
    detail::throw_error({}, format, fmt::make_format_args(args...));
  }
}

// The same, naming the place of the user's call.
template <typename... Args>
void check(bool condition, std::source_location where, fmt::format_string<Args...> format,
           Args&&... args) {
  if (!condition) [[unlikely]] {
    detail::throw_error(
        {.op = {}, .shapes = {}, .dtypes = {}, .devices = {}, .where = where, .hint = {}}, format,
        fmt::make_format_args(args...));
  }
}

// Throws InternalError with the pass and the printed node.
template <typename... Args>
[[noreturn]] void fail_internal(InternalDetails details, fmt::format_string<Args...> format,
                                Args&&... args) {
  detail::throw_internal(std::move(details), format, fmt::make_format_args(args...));
}

// Throws InternalError unless `condition` holds; stays on in release builds.
template <typename... Args>
void ensure(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]] {
    detail::throw_internal({}, format, fmt::make_format_args(args...));
  }
}

}  // namespace croze
