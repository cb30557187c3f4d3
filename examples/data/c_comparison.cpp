#include "c_comparison.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

namespace croze {
namespace {

std::string type_in_c(DType t) {
  switch (t) {
    case DType::Float32: return "float";
    case DType::UInt8: return "uint8_t";
    case DType::Int32: return "int32_t";
    default: fail({}, "an example gives {} to C", name_of(t));
  }
}

void append(std::string& text, const Tensor& tensor) {
  const std::vector<std::byte> bytes = tensor.to_bytes();
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), std::ssize(bytes));
  check(file.good(), "cannot write {}", path);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& t : texts) text += (text.empty() ? "" : ", ") + t;
  return text;
}

}  // namespace

CComparison::CComparison(std::string folder, std::string name, double tolerance)
    : folder_(std::move(folder)), name_(std::move(name)), tolerance_(tolerance) {}

double CComparison::now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(time).count();
}

void CComparison::keep(const std::vector<Tensor>& given, const std::vector<Tensor>& computed) {
  given_types_.clear();
  given_sizes_.clear();
  computed_sizes_.clear();
  for (const Tensor& t : given) {
    given_types_.push_back(type_in_c(t.dtype()));
    given_sizes_.push_back(t.numel());
    append(given_, t);
  }
  for (const Tensor& t : computed) {
    computed_sizes_.push_back(t.numel());
    append(expected_, t);
  }
}

// The model as export_c_main.c knows all models: arrays of arrays, and two functions.
std::string CComparison::header() const {
  std::string upper = name_, arrays;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  std::vector<std::string> given, given_bytes, computed, counts, arguments{"&state"};
  for (std::size_t i = 0; i < given_sizes_.size(); i++) {
    given.push_back("given" + std::to_string(i));
    given_bytes.push_back("sizeof " + given[i]);
    arrays += "static " + given_types_[i] + " " + given[i] + "[" + std::to_string(given_sizes_[i]) +
              "];\n";
  }
  for (std::size_t i = 0; i < computed_sizes_.size(); i++) {
    computed.push_back("computed" + std::to_string(i));
    counts.push_back(std::to_string(computed_sizes_[i]));
    arrays += "static float " + computed[i] + "[" + counts[i] + "];\n";
  }
  arguments.insert(arguments.end(), given.begin(), given.end());
  arguments.insert(arguments.end(), computed.begin(), computed.end());
  return "/* check.h: the model " + name_ + " as export_c_main.c calls it. */\n#include \"" +
         name_ + ".h\"\n\nenum { runs = " + std::to_string(microseconds_.size()) +
         " };\nstatic const double tolerance = " + std::to_string(tolerance_) +
         ";\nstatic const double croze_microseconds = " + std::to_string(median()) + ";\n\n" +
         arrays + "static void* const given[] = {" + joined(given) +
         "};\nstatic const size_t given_bytes[] = {" + joined(given_bytes) +
         "};\nstatic float* const computed[] = {" + joined(computed) +
         "};\nstatic const size_t computed_count[] = {" + joined(counts) +
         "};\n\nstatic _Alignas(64) unsigned char arena[" + upper + "_ARENA_BYTES];\nstatic " +
         name_ + "_state state;\n\nstatic int start(void) { return " + name_ +
         "_init(&state, arena, sizeof arena) == " + upper + "_OK; }\nstatic void run(void) { " +
         name_ + "_run(" + joined(arguments) + "); }\n";
}

void CComparison::write() {
  std::ranges::sort(microseconds_);
  write_file(folder_ + "/check.h", header());
  write_file(folder_ + "/given.bin", given_);
  write_file(folder_ + "/expected.bin", expected_);
  std::printf("croze: %.1f us a run (%.1f at best)\n", median(), microseconds_.front());
}

}  // namespace croze
