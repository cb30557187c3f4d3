// size_text.h -- internal to export/: sizes as expressions of C and of languages like it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "croze/device/launch_size.h"
#include "croze/export/model.h"

namespace croze::exporting {

// The steps of a size in postfix order, as LaunchSize::text() writes them.
std::vector<std::string> words_of(const LaunchSize& size);

// The functions that an expression calls: a / b rounded down and what is left of it, where b may be
// 0; the greater and the lesser of two, each of which may be long and is written once.
struct SizeFunctions {
  std::string_view divide, remainder, greater, lesser;
};

// A size over the variables of kernels, as an expression over the open sizes.
std::string size_text(const LaunchSize& size, std::span<const OpenSize> parameters,
                      const SizeFunctions& functions);

}  // namespace croze::exporting
