// call_site.cpp -- the one call that each thread is at work on.
#include "croze/base/call_site.h"

#include <utility>

namespace croze {
namespace {

// Per thread: named in docs/architecture.md as global state.
thread_local CallSite current;

}  // namespace

const CallSite& current_call() { return current; }

CallScope::CallScope(std::string_view function, std::source_location where)
    : is_outermost_(current.function.empty()) {
  if (!is_outermost_) return;
  current.function = function;
  current.where = where;
}

CallScope::~CallScope() {
  if (!is_outermost_) return;
  current.function = {};
  current.where = {};
}

CallbackScope::CallbackScope() : around_(std::exchange(current, {})) {}
CallbackScope::~CallbackScope() { current = around_; }

PartScope::PartScope(std::string_view part) : around_(std::exchange(current.part, part)) {}
PartScope::~PartScope() { current.part = around_; }

}  // namespace croze
