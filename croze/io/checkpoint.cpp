// checkpoint.cpp -- the numbers of a checkpoint stand in the metadata of its file.
#include "croze/io/checkpoint.h"

#include <charconv>

#include "croze/base/error.h"

namespace croze::nn::detail {
namespace {

constexpr const char* step_key = "step";
constexpr const char* seed_key = "random_seed";
constexpr const char* draws_key = "random_draws";

template <typename T>
T number_at(const char* key, const SafeTensors& file, const std::string& path, Location at) {
  const auto entry = file.metadata.find(key);
  check(entry != file.metadata.end(), at, "{} is no checkpoint: its metadata lack \"{}\"", path,
        key);
  const std::string& text = entry->second;
  T number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(problem == std::errc() && end == text.data() + text.size(), at,
        "{}: the metadata \"{}\" are not a number", path, key);
  return number;
}

}  // namespace

Checkpoint read_checkpoint(const std::string& path, Location at) {
  SafeTensors file = load_safetensors(path);
  const RandomState random{number_at<std::uint64_t>(seed_key, file, path, at),
                           number_at<std::uint64_t>(draws_key, file, path, at)};
  const auto step = number_at<std::int64_t>(step_key, file, path, at);
  return {std::move(file.tensors), random, step, std::move(file.metadata)};
}

void write_checkpoint(const std::string& path, const Checkpoint& c, Location at) {
  std::map<std::string, std::string> metadata{{step_key, std::to_string(c.step)},
                                              {seed_key, std::to_string(c.random.seed)},
                                              {draws_key, std::to_string(c.random.draws)}};
  for (const auto& [name, text] : c.notes) {
    check(metadata.emplace(name, text).second, at, "a note of a checkpoint is called \"{}\"", name);
  }
  save_safetensors(path, c.tensors, metadata);
}

}  // namespace croze::nn::detail
