// command.cpp -- programs with subcommands, read by CLI11.
#include "command_line/command.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

namespace croze {

namespace {

// CLI11's own checks of this kind tell of the largest number that there is, in all its digits.
CLI::Validator number_where(bool (*holds)(double), const char* wanted, const char* kind) {
  return CLI::Validator(
      [=](std::string& text) {
        double number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool is_number = error == std::errc() && end == text.data() + text.size();
        return is_number && holds(number) ? std::string() : text + " is not a number " + wanted;
      },
      kind);
}

}  // namespace

Argument Argument::required() const { return Argument(option_->required()); }

Argument Argument::in_range(std::int64_t lowest, std::int64_t highest) const {
  return Argument(option_->check(CLI::Range(lowest, highest)));
}

Argument Argument::positive() const {
  const auto holds = [](double number) { return number > 0; };
  return Argument(option_->check(number_where(holds, "above 0", "POSITIVE")));
}

Argument Argument::not_negative() const {
  const auto holds = [](double number) { return number >= 0; };
  return Argument(option_->check(number_where(holds, "from 0 on", "NONNEGATIVE")));
}

Argument Argument::one_of(std::vector<std::string> words) const {
  return Argument(option_->check(CLI::IsMember(std::move(words))));
}

Argument Argument::shows_default() const { return Argument(option_->capture_default_str()); }

Argument Argument::hidden() const { return Argument(option_->group("")); }

bool Argument::is_given() const { return option_->count() > 0; }

Command Command::subcommand(const char* name, const char* description) const {
  return Command(app_->add_subcommand(name, description));
}

Command Command::group(const char* name, const char* description) const {
  CLI::App* app = app_->add_subcommand(name, description);
  app->require_subcommand(1);
  return Command(app);
}

Argument Command::option(const char* name, int& variable, const char* description) const {
  return Argument(app_->add_option(name, variable, description));
}

Argument Command::option(const char* name, std::int64_t& variable, const char* description) const {
  return Argument(app_->add_option(name, variable, description));
}

Argument Command::option(const char* name, std::uint64_t& variable, const char* description) const {
  return Argument(app_->add_option(name, variable, description));
}

Argument Command::option(const char* name, double& variable, const char* description) const {
  return Argument(app_->add_option(name, variable, description));
}

Argument Command::option(const char* name, std::string& variable, const char* description) const {
  return Argument(app_->add_option(name, variable, description));
}

Argument Command::option(const char* name, std::vector<std::string>& variable,
                         const char* description) const {
  return Argument(app_->add_option(name, variable, description));
}

Argument Command::flag(const char* name, bool& variable, const char* description) const {
  return Argument(app_->add_flag(name, variable, description));
}

void Command::action(std::function<void()> function) const { app_->callback(std::move(function)); }

int run_program(const ProgramTexts& info, std::initializer_list<void (*)(const Command&)> commands,
                int count, char** arguments) {
  constexpr int wrong_use = 2;
  CLI::App app{info.description, info.name};
  app.set_version_flag("--version", info.version);
  app.require_subcommand(1);
  for (const auto add : commands) add(Command(&app));
  try {
    app.parse(count, arguments);
    return 0;
  } catch (const CLI::ParseError& e) {
    // Prints help to standard output, complaints to standard error.
    return app.exit(e) == 0 ? 0 : wrong_use;
  }
}

}  // namespace croze
