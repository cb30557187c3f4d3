// Every environment variable that croze reads, in one table: name, type, default, meaning.
//
// The environment is read once, at the first use of any option.  A Scope overrides values from code
// while it lives, for all threads; scopes nest and end in the reverse order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace croze {

enum class Option : uint8_t {
  Beam,
  Cache,
  CacheDir,
  CacheSize,
  CheckBounds,
  CheckIndices,
  CheckNan,
  CheckSpec,
  Cooperative,
  CpuWithout,
  CudaCompiler,
  CudaLibrary,
  DataDir,
  Debug,
  Device,
  Edits,
  Explain,
  FastMath,
  Fusion,
  Images,
  KeptMemory,
  MemoryBudget,
  MemoryLimit,
  NvrtcLibrary,
  Recompute,
  RuleStats,
  Seed,
  Tf32,
  Threads,
  Trace,
  TraceLimit,
  TraceRewrites,
  TraceSamples,
  Tuned,
  VulkanLibrary,
  WebgpuLibrary,
  Wgmma,
};

enum class OptionType : uint8_t { Flag, Integer, Text };

// One row of the table.
struct OptionInfo {
  Option option;
  const char* name;  // "CROZE_DEBUG"
  OptionType type;
  const char* default_value;  // as it would stand in the environment
  int64_t min, max;           // legal range of an Integer
  const char* meaning;        // one sentence
};

// The value given to an option by a Scope; a flag is 0 or 1.
struct OptionValue {
  OptionValue(int value) : integer(value) {}
  OptionValue(int64_t value) : integer(value) {}
  OptionValue(bool value) : integer(value) {}
  OptionValue(const char* value) : text(value), is_text(true) {}
  OptionValue(std::string value) : text(std::move(value)), is_text(true) {}

  int64_t integer = 0;
  std::string text;
  bool is_text = false;
};

// The getters throw InternalError for an option of another type, and Error, once and at the first
// use of any option, if a variable holds a value that its type or range forbids.
class Options {
 public:
  static bool flag(Option option);
  static int64_t integer(Option option);
  static std::string text(Option option);

  // All rows, in the order of the enumerators, which is that of the names.
  static std::span<const OptionInfo> table();
  static const OptionInfo& info(Option option);

  // Names in the environment that begin with CROZE_ and are not in the table.
  static std::vector<std::string> unknown_variables();

  // The table as Markdown, for the documentation.
  static std::string markdown();

  // Options::Scope quiet{{Option::Debug, 0}};
  class Scope {
   public:
    // Throws Error if a value is out of range.
    Scope(std::initializer_list<std::pair<Option, OptionValue>> values);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::vector<std::pair<Option, OptionValue>> saved_;
  };
};

}  // namespace croze
