// command.h -- programs with subcommands.  CLI11 reads the arguments; its header is slow to compile
// and is seen by command.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace croze {

// What a user may write after a command.  Each function returns the argument itself.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}

  Argument required() const;
  Argument in_range(std::int64_t lowest, std::int64_t highest) const;
  Argument positive() const;
  Argument not_negative() const;
  Argument one_of(std::vector<std::string> words) const;
  // Help tells the value that the variable has now.
  Argument shows_default() const;
  // Help does not tell of it.
  Argument hidden() const;

  bool is_given() const;

 private:
  CLI::Option* option_;
};

// A command or a subcommand of it.  "--name" is an option, "name" a place in the line; the variable
// holds the default, and must live as long as the program's run.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command subcommand(const char* name, const char* description) const;
  // As a command that does nothing but hold others.
  Command group(const char* name, const char* description) const;

  Argument option(const char* name, int& variable, const char* description) const;
  Argument option(const char* name, std::int64_t& variable, const char* description) const;
  Argument option(const char* name, std::uint64_t& variable, const char* description) const;
  Argument option(const char* name, double& variable, const char* description) const;
  Argument option(const char* name, std::string& variable, const char* description) const;
  Argument option(const char* name, std::vector<std::string>& variable,
                  const char* description) const;
  Argument flag(const char* name, bool& variable, const char* description) const;

  // What to do once the line has been read.
  void action(std::function<void()> function) const;

 private:
  CLI::App* app_;
};

struct ProgramTexts {
  const char* name;
  const char* description;
  std::string version;
};

// Reads the line and runs the command that it names.  Returns the exit status: 0 done, 2 wrong use,
// of which standard error says more.  What an action throws is passed on.
int run_program(const ProgramTexts& info, std::initializer_list<void (*)(const Command&)> commands,
                int count, char** arguments);

}  // namespace croze
