// errors.h -- what is said of a mistake.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "croze/base/error.h"

namespace croze::test {

// The text of the Error that `function` throws; empty if it throws none.
template <typename F>
std::string error_if_any(F function) {
  try {
    function();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

// The same where one has to be thrown: the test fails if none is.
template <typename F>
std::string error_of(F function) {
  const std::string text = error_if_any(function);
  if (text.empty()) ADD_FAILURE() << "no Error was thrown";
  return text;
}

// The message alone, without the place; "no error" if there is none.
template <typename F>
std::string message_of(F function) {
  try {
    function();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

}  // namespace croze::test
