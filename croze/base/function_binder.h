// function_binder.h -- fills a table of functions from a library that was loaded at run time.
//
//     FunctionBinder b(dlopen("libexample.so", RTLD_NOW));
//     b.bind(table.open, "example_open");
//     b.bind(table.close, "example_close");
//     if (!b.missing().empty()) ...
#pragma once

#include <dlfcn.h>

#include <string>

namespace croze {

class FunctionBinder {
 public:
  // The library stays loaded while its functions are used.
  explicit FunctionBinder(void* library) : library_(library) {}

  // The entry is null if the library has no such function.
  template <typename Function>
  void bind(Function& entry, const char* name) {
    entry = reinterpret_cast<Function>(dlsym(library_, name));
    if (!entry && missing_.empty()) missing_ = name;
  }
  // The first function that is not there; empty if all are.
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

}  // namespace croze
