// call_site.h -- what the user's program asked for: the call that the calling thread is at work on.
//
// Functions of the library call each other, so the line where one of them was called is often a
// line of the library.  A public function opens a CallScope; the outermost one on a thread is the
// user's own call, and every Error thrown inside names its line, however deep it was thrown.
#pragma once

#include <source_location>
#include <string_view>

namespace croze {

struct CallSite {
  std::string_view function;   // "softmax"; empty outside of every call
  std::source_location where;  // of the user's call; line 0 when not known
  std::string_view part;       // of what the call runs: `Conv (node "stem")` of a model; or empty
};

// The user's call on this thread.
const CallSite& current_call();

// A public function at work.  Inside of another one it says nothing.  `function` outlives it.
class CallScope {
 public:
  CallScope(std::string_view function, std::source_location where);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  bool is_outermost_;
};

// Code of the user that the library calls back: its own calls are outermost again.
class CallbackScope {
 public:
  CallbackScope();
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  CallSite around_;
};

// Which part of a model runs now; parts nest, the innermost one counts.  `part` outlives it.
class PartScope {
 public:
  explicit PartScope(std::string_view part);
  ~PartScope();
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  std::string_view around_;
};

}  // namespace croze
