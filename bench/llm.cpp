// llm.cpp -- croze-bench llm: a language model on this machine, beside llama.cpp if it is
// installed.
//
// What writing a token costs is to read the weights, so decoding is held against what a sum reads
// from memory.  llama-bench runs with as many threads and takes its turn in every round; medians
// count of both.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command_line/temporary_folder.h"
#include "croze/base/error.h"
#include "croze/base/file.h"
#include "croze/base/thread_pool.h"
#include "croze/io/gguf/encode.h"
#include "llm_speed/llm_speed.h"
#include "measure.h"
#include "random_model.h"
#include "suites.h"

namespace croze::bench {
namespace {

constexpr double least_of_bandwidth = 0.85;
constexpr double least_times_one_text = 4;  // of eight
constexpr double most_ms_to_first_token = 300;
constexpr double most_bytes_beside_model = 64e6;
constexpr double least_times_llama_decode = 1.1, least_times_llama_prompt = 1;

constexpr std::int64_t most_kernels(std::int64_t layers) { return 6 * layers + 4; }

struct LlmOptions {
  bool as_json = false, first_token = false, peak = false;
  LlmSpeedOptions speed{.model = CROZE_BENCH_MODELS "/SmolLM2-135M-Instruct.Q4_1.gguf",
                        .activations = "int8",  // as llama.cpp has them
                        .self_command = {"llm", "--model"}};
  std::string llama_bench = "llama-bench", random;
};

// What llama-bench measures, round by round.
class Llama {
 public:
  explicit Llama(const LlmOptions& options)
      : line_{options.llama_bench,
              "-m",
              options.speed.model,
              "-t",
              fmt::format("{}", default_thread_count()),
              "-p",
              fmt::format("{}", options.speed.prompt),
              "-n",
              fmt::format("{}", options.speed.tokens),
              "-r",
              "1",
              "-o",
              "json"} {}

  // Throws Error if it fails; that it is not installed is no failure.
  void take_turn() {
    if (!is_installed_) return;
    ProcessResult result;
    try {
      result = run_process(line_);
    } catch (const Error&) {
      is_installed_ = false;
      return;
    }
    check(result.status == 0, "{} ends with status {}", line_[0], result.status);
    const Json tests = Json::parse(result.output);
    for (const Json& test : tests.elements()) {
      (test["n_gen"].get<int>() > 0 ? decode_ : prompt_).push_back(test["avg_ts"].get<double>());
    }
  }

  bool is_installed() const { return is_installed_; }
  // Tokens a second.
  double prompt_speed() const { return median(prompt_); }
  double decode_speed() const { return median(decode_); }

 private:
  std::vector<std::string> line_;
  bool is_installed_ = true;
  std::vector<double> prompt_, decode_;
};

// A file that has come into the system's cache bit by bit, as it does while it is written, lies
// there in small pages, which are read a fifth slower than the large ones in which a file that is
// mapped comes from the disk.  Both programs are to find the latter.
void read_anew(const std::string& path) {
  {
    const FileDescriptor file = open_file(path);
    if (fsync(file.number()) != 0 || posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED) != 0)
      return;
  }
  const MappedFile file(path);
  const volatile std::byte* bytes = file.data().data();
  for (std::size_t at = 0; at < file.data().size(); at += 4096) static_cast<void>(bytes[at]);
}

GgmlType encodable_type(const std::string& name) {
  const std::vector<GgmlType> types = encodable_types();
  return *std::ranges::find(types, name, [](GgmlType type) { return name_of(type); });
}

double number(const Json& measured, const char* name) { return measured[name].get<double>(); }

// `is_random`: a large model, whose first token has no limit.
Json rows_of(const Json& m, bool is_random) {
  const double decode = number(m, "tokens_per_second");
  const auto layers = m["layers"].get<std::int64_t>();
  Json rows = Json::array();
  rows.push_back(limited("decoding: part of the read bandwidth", number(m, "share_of_bandwidth"),
                         "", least_of_bandwidth, Limit::Least));
  rows.push_back(limited(fmt::format("{} texts at once", m["parallel"].get<int>()),
                         number(m, "parallel_tokens_per_second") / decode, "x one text",
                         least_times_one_text, Limit::Least));
  rows.push_back(limited("kernels of a token", number(m, "kernels_per_token"), "",
                         static_cast<double>(most_kernels(layers)), Limit::Most));
  if (!is_random) {
    rows.push_back(limited("warm start to first token",
                           m["first_token"]["warm"]["seconds"].get<double>() * 1e3, "ms",
                           most_ms_to_first_token, Limit::Most));
  }
  rows.push_back(
      limited("peak memory beside weights and cache",
              (number(m, "peak_bytes") - number(m, "file_bytes") - number(m, "cache_bytes")) * 1e-6,
              "MB", most_bytes_beside_model * 1e-6, Limit::Most));
  return rows;
}

void add_llama_rows(Json& rows, const Json& m, const Llama& llama) {
  rows.push_back(limited("decoding beside llama.cpp",
                         number(m, "tokens_per_second") / llama.decode_speed(), "x llama.cpp",
                         least_times_llama_decode, Limit::Least));
  rows.push_back(limited("reading a prompt beside llama.cpp",
                         number(m, "prompt_tokens_per_second") / llama.prompt_speed(),
                         "x llama.cpp", least_times_llama_prompt, Limit::Least));
}

void run_llm(const LlmOptions& options) {
  if (options.first_token) {
    return fmt::print("{}\n", measure_first_token(options.speed).dump());
  }
  if (options.peak) return fmt::print("{}\n", measure_peak(options.speed).dump());
  Json rows = Json::array(), others = Json::object();
  if (std::filesystem::exists(options.speed.model)) {
    read_anew(options.speed.model);
    Llama llama(options);
    LlmSpeedOptions speed = options.speed;
    speed.end_of_round = [&] { llama.take_turn(); };
    const Json measured = measure_llm_speed(speed);
    rows = rows_of(measured, !options.random.empty());
    if (llama.is_installed()) {
      add_llama_rows(rows, measured, llama);
      others["llama_cpp"] = Json{{"prompt_tokens_per_second", llama.prompt_speed()},
                                 {"tokens_per_second", llama.decode_speed()}};
    } else {
      others["skipped"] = options.llama_bench + " is not installed";
    }
    others["measured"] = measured;
  } else {
    others["skipped"] = "there is no " + options.speed.model + " (tests/models/fetch.sh)";
  }
  if (!options.as_json) {
    print_limited(rows);
    for (const std::string& name : others.names()) {
      fmt::print("{}: {}\n", name, others[name].dump());
    }
  }
  finish_suite("llm", rows, options.as_json, others);
}

// A model of 1B weights that say nothing, in a file that is gone afterwards.
void run_random(LlmOptions options) {
  const TemporaryFolder folder;
  options.speed.model = folder.path() + "/random.gguf";
  save_random_llama(options.speed.model, encodable_type(options.random));
  run_llm(options);
}

std::vector<std::string> names_of_types() {
  std::vector<std::string> names;
  for (const GgmlType type : encodable_types()) names.emplace_back(name_of(type));
  return names;
}

}  // namespace

void add_llm(const Command& program) {
  auto options = std::make_shared<LlmOptions>();
  const Command command =
      program.subcommand("llm", "A language model: speed, kernels, memory, beside llama.cpp");
  command.option("--model", options->speed.model, "GGUF file, as tests/models/fetch.sh puts it");
  command.option("--random", options->random, "A random model of the size of Llama 3.2 1B instead")
      .one_of(names_of_types());
  command
      .option("--activations", options->speed.activations,
              "How tokens are multiplied with packed weights")
      .one_of({"f32", "int8"})
      .shows_default();
  command.option("--prompt", options->speed.prompt, "Tokens to read").positive().shows_default();
  command.option("--tokens", options->speed.tokens, "Tokens to write").positive().shows_default();
  command.option("--rounds", options->speed.rounds, "The median of so many counts")
      .positive()
      .shows_default();
  command.option("--llama-bench", options->llama_bench, "llama.cpp's own program").shows_default();
  command.flag("--json", options->as_json, "One line of JSON");
  command.flag("--first-token", options->first_token, "The first token alone").hidden();
  command.flag("--peak", options->peak, "Memory alone").hidden();
  command.action([options] { options->random.empty() ? run_llm(*options) : run_random(*options); });
}

}  // namespace croze::bench
