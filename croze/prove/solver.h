// solver.h -- Z3, asked in SMT-LIB text.
//
// The library is loaded when the first question is asked and is needed for nothing else: croze runs
// models without it.  Effort is limited by Z3's own count of steps, not by time, so an answer is
// the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croze {

enum class Answer : std::uint8_t {
  Unsat,    // no values satisfy the assertions
  Sat,      // some do: see the witness
  Unknown,  // the limit was reached, or Z3 cannot decide
};

// One conversation with Z3.  Belongs to one thread at a time.
class Solver {
 public:
  static constexpr std::uint64_t default_limit = 20'000'000;  // about ten seconds

  // Throws Error if libz3 cannot be loaded.
  explicit Solver(std::uint64_t limit = default_limit);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  // Whether libz3 can be loaded.
  static bool available();

  // Declares or asserts something for all questions that follow.  Throws InternalError if Z3 finds
  // a fault in the text.
  void state(std::string_view commands);

  // Whether the assertions made so far and those in `commands` hold together; what `commands` say
  // is forgotten afterwards.  If they do, `witness`, when given, gets the values of the terms
  // `asked`, as Z3 prints them: "((x 3) (y (- 1)))".
  Answer check(std::string_view commands, std::string_view asked = {},
               std::string* witness = nullptr);

 private:
  std::string evaluate(const std::string& commands);

  void* context_;
};

}  // namespace croze
