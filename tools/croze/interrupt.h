// interrupt.h -- lets a long command end well when the user interrupts it.
#pragma once

namespace croze::tool {

// While one is alive, the first SIGINT or SIGTERM is only noted: the command finishes what it is at
// and saves.  A second one ends the process at once, and signals that were ignored stay ignored.
// One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;
  // Whether the program was asked to end, and not only to stop what it is at: SIGTERM.
  bool is_to_end() const;
  // Ends the process by the signal that was noted, so that whoever started it, a script say, knows.
  [[noreturn]] void obey() const;
};

}  // namespace croze::tool
