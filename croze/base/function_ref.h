// function_ref.h -- a reference to something that can be called, for parameters that are called and
// not kept.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace croze {

template <typename Signature>
class function_ref;

// Refers to a function or a function object and owns nothing: two words, no allocation.  What it
// refers to must outlive it; a temporary lambda lives until the end of the full expression, which
// is enough for an argument.  A default-constructed one refers to nothing, is false, and must not
// be called.
template <typename Result, typename... Args>
class function_ref<Result(Args...)> {
 public:
  function_ref() = default;

  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> &&
           std::is_invocable_r_v<Result, F&, Args...>)
      function_ref(F&& f)  // NOLINT(google-explicit-constructor): as a reference converts
      : object_(address_of(f)), call_(call<std::remove_reference_t<F>>) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  // A function is no object, but its address fits into the same word on every system with dlsym.
  template <typename F>
  static void* address_of(F& f) {
    if constexpr (std::is_function_v<F>) {
      return reinterpret_cast<void*>(&f);
    } else {
      return const_cast<void*>(static_cast<const void*>(std::addressof(f)));
    }
  }
  template <typename F>
  static Result call(void* object, Args... args) {
    if constexpr (std::is_function_v<F>) {
      return reinterpret_cast<F*>(object)(std::forward<Args>(args)...);
    } else {
      return (*static_cast<F*>(object))(std::forward<Args>(args)...);
    }
  }

  void* object_ = nullptr;
  Result (*call_)(void* object, Args... args) = nullptr;
};

}  // namespace croze
