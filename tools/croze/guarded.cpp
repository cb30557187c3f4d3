// guarded.cpp -- how a program ends.
#include "guarded.h"

#include <cstdio>
#include <exception>

#include "croze/base/error.h"

namespace croze::tool {

namespace {

constexpr const char* output_is_lost = "cannot write to standard output";

}  // namespace

int guarded(const char* program, function_ref<int()> run) {
  try {
    const int status = run();
    if (std::fflush(stdout) == 0) return status;
    std::fprintf(stderr, "%s: %s\n", program, output_is_lost);
  } catch (const Error& e) {
    // Its place is a line of the command, which says nothing to who uses it.
    ErrorDetails details = e.details();
    details.where = {};
    std::fprintf(stderr, "%s: %s\n", program, Error(e.message(), details).what());
  } catch (const std::exception& e) {
    // What printing threw does not say where to.
    std::fprintf(stderr, "%s: %s\n", program, std::ferror(stdout) ? output_is_lost : e.what());
  }
  return 1;
}

}  // namespace croze::tool
