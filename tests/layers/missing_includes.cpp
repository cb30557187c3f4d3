#include "layers/missing_includes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace croze::layers {
namespace {

// The headers of the standard library and the names of theirs that we use.  Where several have a
// name, each of them will do.
struct Header {
  std::string_view path;
  std::string_view names;  // in std, or in std::ranges
};

constexpr Header headers[] = {
    {"algorithm",
     "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal "
     "fill fill_n find find_end find_if find_if_not for_each generate includes is_permutation "
     "is_sorted iter_swap lexicographical_compare_three_way lower_bound max max_element merge "
     "min min_element minmax mismatch move none_of nth_element partial_sort remove remove_if "
     "replace reverse rotate set_difference set_intersection shuffle size_t sort "
     "stable_partition stable_sort swap transform unique upper_bound"},
    {"any", "any any_cast"},
    {"array", "array begin end get size size_t ssize"},
    {"atomic",
     "atomic atomic_ref memory_order_acq_rel memory_order_acquire memory_order_relaxed "
     "memory_order_release"},
    {"barrier", "barrier"},
    {"bit",
     "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit "
     "popcount rotl size_t"},
    {"bitset", "bitset"},
    {"cctype", "isalnum isalpha isdigit isspace tolower toupper"},
    {"charconv", "chars_format errc from_chars to_chars"},
    {"chrono", "chrono chrono_literals micro milli"},
    {"cmath",
     "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 "
     "expm1 fabs floor fma fmax fmin fmod fpclassify frexp hypot ilogb isfinite isinf isnan "
     "ldexp lgamma llround log log10 log1p log2 lround nan nanf nearbyint nextafter nextafterf "
     "pow round signbit sin sinh sqrt tan tanh tgamma trunc"},
    {"complex", "complex polar"},
    {"concepts",
     "convertible_to derived_from floating_point integral invocable same_as signed_integral"},
    {"condition_variable", "condition_variable"},
    {"csetjmp", "jmp_buf longjmp"},
    {"csignal", "signal"},
    {"cstddef", "byte max_align_t ptrdiff_t size_t to_integer"},
    {"cstdint",
     "int16_t int32_t int64_t int8_t intptr_t size_t uint16_t uint32_t uint64_t uint8_t "
     "uintmax_t uintptr_t"},
    {"cstdio",
     "FILE fclose ferror fflush fgetc fopen fprintf fputc fputs fread fscanf fwrite printf "
     "puts remove size_t snprintf sscanf vsnprintf"},
    {"cstdlib",
     "_Exit abort abs atexit atoi atoll calloc exit free getenv malloc size_t strtod strtol "
     "strtoull system"},
    {"cstring", "memcmp memcpy memmove memset size_t strcmp strcpy strerror strlen strncpy strstr"},
    {"ctime", "clock clock_t size_t strftime time time_t tm"},
    {"deque", "begin deque end erase_if size size_t ssize"},
    {"exception", "current_exception exception exception_ptr make_exception_ptr rethrow_exception"},
    {"filesystem", "error_code filesystem"},
    {"fstream", "getline ifstream ios istream ofstream ostream streamsize"},
    {"functional", "function greater hash invoke less mem_fn not_fn ref size_t"},
    {"future", "async future future_status launch promise"},
    {"initializer_list", "initializer_list"},
    {"iosfwd", "istream ostream"},
    {"iostream", "cin getline ios istream ostream streamsize"},
    {"istream", "ios istream"},
    {"iterator",
     "back_inserter begin distance end input_iterator istream_iterator istreambuf_iterator "
     "move_iterator next prev size size_t ssize"},
    {"limits", "numeric_limits size_t"},
    {"list", "begin end erase_if list size size_t ssize"},
    {"map", "begin end erase_if map multimap pair size size_t ssize"},
    {"memory",
     "addressof enable_shared_from_this make_shared make_unique shared_ptr size_t to_address "
     "unique_ptr weak_ptr"},
    {"mutex",
     "call_once lock_guard mutex once_flag recursive_mutex scoped_lock timed_mutex unique_lock"},
    {"new", "align_val_t bad_alloc"},
    {"numbers", "numbers"},
    {"numeric", "accumulate gcd iota lcm"},
    {"optional", "hash nullopt nullopt_t optional"},
    {"ostream", "ios ostream"},
    {"queue", "priority_queue"},
    {"random",
     "bernoulli_distribution mt19937 mt19937_64 normal_distribution random_device seed_seq "
     "uniform_int_distribution uniform_real_distribution"},
    {"ranges", "views"},
    {"ratio", "micro milli"},
    {"regex", "regex regex_match regex_search sregex_iterator"},
    {"set", "begin end erase_if set size size_t ssize"},
    {"source_location", "source_location"},
    {"span", "as_bytes as_writable_bytes begin end size size_t span ssize"},
    {"sstream", "getline ios istream istringstream ostream ostringstream"},
    {"stdexcept", "logic_error out_of_range runtime_error"},
    {"string",
     "begin end erase erase_if getline hash size size_t ssize stoi stoll stoul string "
     "string_literals to_string"},
    {"string_view", "begin end hash size size_t ssize string_view string_view_literals"},
    {"system_error", "errc error_code generic_category system_error"},
    {"thread", "this_thread thread"},
    {"tuple", "apply get tie tuple"},
    {"type_traits",
     "conditional_t invoke_result_t is_aggregate_v is_arithmetic_v is_array_v is_base_of_v "
     "is_empty_v is_enum_v is_final_v is_floating_point_v is_function_v is_invocable_r_v "
     "is_invocable_v is_nothrow_move_constructible_v is_pointer_v is_polymorphic_v is_same_v "
     "is_signed_v is_trivially_copyable_v is_trivially_destructible_v is_void_v "
     "make_unsigned_t remove_const_t remove_cv_t remove_cvref_t remove_pointer_t "
     "remove_reference_t type_identity underlying_type_t"},
    {"unordered_map", "begin end erase_if pair size size_t ssize unordered_map unordered_multimap"},
    {"unordered_set", "begin end erase_if size size_t ssize unordered_set"},
    {"utility",
     "as_const cmp_greater declval exchange forward get in_range index_sequence "
     "make_index_sequence move pair size_t swap"},
    {"variant", "get get_if holds_alternative monostate variant visit"},
    {"vector", "begin end erase erase_if size size_t ssize vector"},
};

using Paths = std::vector<std::string_view>;

// A name in the code, and the headers of which one has to be included for it.
struct Use {
  int line;
  std::string name;
  Paths headers;  // none if no row has the name
};

std::map<std::string_view, Paths> headers_by_name() {
  std::map<std::string_view, Paths> table;
  for (const Header& h : headers) {
    std::string_view rest = h.names;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      table[rest.substr(0, end)].push_back(h.path);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return table;
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The name, with those of the namespaces that it is in, that code begins with.
std::string_view qualified_name(std::string_view code) {
  size_t end = 0;
  while (end < code.size() && (is_of_name(code[end]) || code.substr(end).starts_with("::"))) {
    end += code[end] == ':' ? 2 : 1;
  }
  return code.substr(0, end);
}

// The headers for a name; nothing for one that is not another library's.
std::optional<Paths> headers_for(std::string_view name) {
  static const auto table = headers_by_name();
  if (name.starts_with("fmt::")) return Paths{"fmt/core.h", "fmt/format.h"};
  if (name.starts_with("EXPECT_") || name.starts_with("ASSERT_")) return Paths{"gtest/gtest.h"};
  if (!name.starts_with("std::")) return {};
  for (std::string_view space : {"std::", "ranges::"}) {
    if (name.starts_with(space)) name.remove_prefix(space.size());
  }
  const auto found = table.find(name.substr(0, name.find(':')));
  return found == table.end() ? Paths() : found->second;
}

std::vector<Use> uses_in(std::string_view code) {
  std::vector<Use> uses;
  int line = 1;
  for (size_t i = 0; i < code.size();) {
    const std::string_view name = qualified_name(code.substr(i));
    if (auto paths = headers_for(name)) uses.push_back({line, std::string(name), *paths});
    if (name.empty() && code[i] == '\n') line++;
    i += std::max<size_t>(name.size(), 1);
  }
  return uses;
}

// What each file includes of other libraries, by way of other files too.
class Closure {
 public:
  explicit Closure(const std::vector<SourceFile>& files) {
    for (const SourceFile& f : files) files_[f.path] = &f;
  }

  std::set<std::string_view> of(const SourceFile& file) const {
    std::set<std::string_view> foreign;
    std::set<const SourceFile*> seen{&file};
    for (std::vector<const SourceFile*> left{&file}; !left.empty();) {
      const SourceFile& f = *left.back();
      left.pop_back();
      for (const Include& include : f.includes) {
        const SourceFile* own = find(f, include.path);
        if (!own) {
          foreign.insert(include.path);
        } else if (seen.insert(own).second) {
          left.push_back(own);
        }
      }
    }
    return foreign;
  }

 private:
  const SourceFile* find(const SourceFile& from, const std::string& path) const {
    const std::string beside = std::filesystem::path(from.path).parent_path().generic_string();
    for (const std::string& folder : {beside, std::string(), std::string("tools"),
                                      std::string("tests"), std::string("bench")}) {
      const auto joined = (std::filesystem::path(folder) / path).lexically_normal();
      const auto found = files_.find(joined.generic_string());
      if (found != files_.end()) return found->second;
    }
    return nullptr;
  }

  std::map<std::string, const SourceFile*> files_;  // by path
};

}  // namespace

std::vector<std::string> missing_includes(const std::vector<SourceFile>& files) {
  const Closure closure(files);
  std::vector<std::string> missing;
  for (const SourceFile& file : files) {
    std::set<std::string_view> included = closure.of(file);
    for (const Use& use : uses_in(file.code)) {
      if (std::ranges::any_of(use.headers, [&](auto h) { return included.contains(h); })) continue;
      const std::string wanted =
          use.headers.empty() ? "is in no row of tests/layers/missing_includes.cpp"
                              : fmt::format("without <{}>", fmt::join(use.headers, "> or <"));
      missing.push_back(fmt::format("{}:{}: {} {}", file.path, use.line, use.name, wanted));
      included.insert(use.headers.begin(), use.headers.end());
    }
  }
  return missing;
}

}  // namespace croze::layers
