#include "croze/graph/observer.h"

#include <utility>

namespace croze {

Observing::Observing(CompileObserver& observer) {
  const detail::ObserverLink* next = detail::observers;
  link_ = {&observer, next, observer.watches_rules() || (next && next->rules)};
  detail::observers = &link_;
}

Observing::~Observing() { detail::observers = link_.next; }

void CompileScope::enter() {
  entered_ = true;
  if (part_ == CompilePart::Kernel) outer_ = std::exchange(detail::kernel, name_);
  tell_observers([&](CompileObserver& o) { o.entered(part_, name_); });
}

void CompileScope::end(UOp result) {
  entered_ = false;
  tell_observers([&](CompileObserver& o) { o.left(part_, name_, result); });
  if (part_ == CompilePart::Kernel) detail::kernel = outer_;
}

}  // namespace croze
