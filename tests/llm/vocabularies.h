// vocabularies.h -- tests over the small vocabularies of golden/make_tokenizers.py.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace croze::llm {

// The name of a test that is given a file's name.
inline std::string name_of_test(const testing::TestParamInfo<const char*>& file) {
  std::string name = file.param;
  std::ranges::replace(name, '.', '_');
  return name;
}

}  // namespace croze::llm
