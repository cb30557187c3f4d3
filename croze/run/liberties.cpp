#include "croze/run/liberties.h"

#include "croze/base/options.h"

namespace croze {

std::string liberties() {
  std::string words;
  if (Options::flag(Option::FastMath)) words += " fast";
  if (Options::flag(Option::Tf32)) words += " tf32";
  return words;
}

}  // namespace croze
