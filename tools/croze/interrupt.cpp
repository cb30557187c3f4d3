// interrupt.cpp -- the handler of SIGINT and SIGTERM.
#include "interrupt.h"

#include <signal.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace croze::tool {
namespace {

constexpr std::array<int, 2> signals{SIGINT, SIGTERM};
// Process-wide, as signals are: named in docs/architecture.md.
volatile sig_atomic_t noted = 0;

void note(int number) { noted = number; }

}  // namespace

Interrupt::Interrupt() {
  noted = 0;
  for (int number : signals) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(number, &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (int number : signals) {
    struct sigaction present {};
    sigaction(number, nullptr, &present);
    if (present.sa_handler == note) signal(number, SIG_DFL);
  }
}

bool Interrupt::requested() const { return noted != 0; }

bool Interrupt::is_to_end() const { return noted == SIGTERM; }

void Interrupt::obey() const {
  std::fflush(nullptr);
  signal(noted, SIG_DFL);
  raise(noted);
  std::_Exit(128 + noted);  // if the signal is blocked
}

}  // namespace croze::tool
