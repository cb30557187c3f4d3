// exported.cpp -- compilers and processes.
#include "exported.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "croze/base/hash.h"
#include "croze/export/c/machine.h"
#include "croze/run/devices.h"
#include "croze/run/random_state.h"

namespace croze::test {
namespace {

int run_shell(const std::string& line) {
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Debian's clang has its version in its name.
std::string find_compiler(const std::string& name) {
  for (const char* version : {"", "-19", "-20", "-21", "-22", "-18", "-17", "-16", "-15", "-14"}) {
    if (const std::string found = find_command(name + version); !found.empty()) return found;
  }
  return {};
}

}  // namespace

std::string find_command(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable ? variable : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = folder + "/" + name;
    if (std::filesystem::is_regular_file(path)) return path;
  }
  return {};
}

void ExportTest::SetUp() {
  compiler_ = find_compiler(GetParam());
  if (compiler_.empty()) GTEST_SKIP() << "there is no " << GetParam() << " on the PATH";
  FilesTest::SetUp();
}

std::string ExportTest::compile(const std::string& model, const std::string& main_text) const {
  const std::string main = file("driver.c", main_text), program = path("program");
  const std::string line =
      fmt::format("{0} {1} {2} -I{3} {3}/{4}.c {5} -o {6} -lm -pthread >{7} 2>&1", compiler_,
                  strict, flags_, out(), model, main, program, path("log"));
  EXPECT_EQ(run_shell(line), 0) << line;
  EXPECT_EQ(content(path("log")), "");
  return program;
}

void ExportTest::compile_alone(const std::string& model) const {
  const std::string line = fmt::format("{0} {1} -c {2}/{3}.c -o {4} >{5} 2>&1", compiler_, strict,
                                       out(), model, path("object"), path("log"));
  EXPECT_EQ(run_shell(line), 0) << line;
  EXPECT_EQ(content(path("log")), "");
}

std::string ExportTest::run(const std::string& program, const std::string& input) const {
  const std::string line = fmt::format("cd {} && {}{} <{} >{}", out(), runner_, program,
                                       file("stdin", input), path("stdout"));
  EXPECT_EQ(run_shell(line), 0) << line;
  return content(path("stdout"));
}

std::string ExportTest::results(const std::string& model, const std::vector<CPort>& inputs,
                                const std::vector<CPort>& outputs, const std::string& input) const {
  return run(compile(model, driver(model, inputs, outputs)), input);
}

std::string driver(const std::string& model, const std::vector<CPort>& inputs,
                   const std::vector<CPort>& outputs, const std::string& before) {
  std::string upper = model, arrays, reads, writes, arguments = "&state";
  std::ranges::transform(upper, upper.begin(), [](char c) { return std::toupper(c); });
  const auto add = [&](const CPort& p, const std::string& name) {
    arrays += fmt::format("static {} {}[{}];\n", p.type, name, p.elements);
    arguments += ", " + name;
  };
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const std::string name = fmt::format("in{}", i);
    add(inputs[i], name);
    reads +=
        fmt::format("    if (fread({0}, 1, sizeof {0}, stdin) != sizeof {0}) return 0;\n", name);
  }
  for (std::size_t i = 0; i < outputs.size(); i++) {
    const std::string name = fmt::format("out{}", i);
    add(outputs[i], name);
    writes +=
        fmt::format("    if (fwrite({0}, 1, sizeof {0}, stdout) != sizeof {0}) return 2;\n", name);
  }
  return fmt::format(
      "#include <stdio.h>\n#include <string.h>\n#include \"{0}.h\"\n"
      "static _Alignas(64) unsigned char arena[{1}_ARENA_BYTES];\n"
      "static {0}_state state;\n{2}"
      "int main(void) {{\n"
      "  if ({0}_arena_bytes() != sizeof arena) return 3;\n"
      "  if ({0}_init(&state, arena, sizeof arena) != {1}_OK) return 4;\n"
      "  for (;;) {{\n"
      "    memset(arena, 0xa5, sizeof arena);\n{3}{4}    {0}_run({5});\n{6}  }}\n"
      "}}\n",
      model, upper, arrays, reads, before, arguments, writes);
}

// ---- the interpreter --------------------------------------------------------------------------

Reference::Reference(const Step& step, const std::string& machine)
    : recording_(step.recording()),
      device_(make_interpreter(plain_c::machine_called(machine)(0))),
      schedule_(schedule_for(*device_, recording_.graph)),
      draws_(random_state().draws) {
  for (const StepRecording::Place& place : recording_.places) memory_.push_back(place.contents);
}

std::string Reference::run(std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < memory_.size(); i++) {
    const int input = recording_.places[i].input;
    if (input >= 0) memory_[i] = inputs[static_cast<std::size_t>(input)].to_bytes();
  }
  for (int place : recording_.random_keys) {
    const std::uint64_t key = hash_mix(random_state().seed, ++draws_);
    std::memcpy(memory_[static_cast<std::size_t>(place)].data(), &key, sizeof key);
  }
  std::string results;
  for (const Bytes& bytes : run_schedule(*device_, schedule_, memory_)) {
    results.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return results;
}

// ---- numbers ----------------------------------------------------------------------------------

std::string bytes_of(const Tensor& tensor) {
  const std::vector<std::byte> bytes = tensor.to_bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void expect_same_bits(const std::string& bytes, const std::string& expected) {
  ASSERT_EQ(bytes.size(), expected.size());
  const auto at = std::ranges::mismatch(bytes, expected).in1 - bytes.begin();
  EXPECT_EQ(at, std::ssize(bytes)) << "the first byte that differs";
}

std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

double distance_in_ulps(const std::vector<float>& values, const std::vector<float>& expected) {
  EXPECT_EQ(values.size(), expected.size());
  double greatest = 0, distance = 0;
  for (std::size_t i = 0; i < std::min(values.size(), expected.size()); i++) {
    greatest = std::max(greatest, std::abs(double{expected[i]}));
    distance = std::max(distance, std::abs(double{values[i]} - double{expected[i]}));
  }
  return distance / (greatest * 0x1p-23);
}

}  // namespace croze::test
