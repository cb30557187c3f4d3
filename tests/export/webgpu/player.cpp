// player.cpp -- the plan of a model, step by step.
#include "player.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>

namespace croze::test {
namespace {

webgpu::Context* context() {
  static const std::unique_ptr<webgpu::Context> one =
      webgpu::Context::open(webgpu::Library::load());
  return one.get();
}

std::string bytes_of(const Tensor& tensor) {
  const std::vector<std::byte> bytes = tensor.to_bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool Player::is_possible() { return context() != nullptr; }

Player::Player(const web::WebModel& model) : model_(model) {
  for (const std::int64_t bytes : model.memories) {
    memories_.push_back(context()->allocate(static_cast<std::uint64_t>(bytes)));
  }
  for (const web::Module& m : model.modules) {
    pipelines_.push_back(context()->make_pipeline(m.name, m.entry, m.text));
  }
  std::string file = model.file.bytes;
  for (int m = 0; m < model.file_memories; m++) {
    const auto bytes = static_cast<std::size_t>(model.memories[static_cast<std::size_t>(m)]);
    write({m, 0}, file.substr(0, bytes));
    file.erase(0, bytes);
  }
  EXPECT_TRUE(file.empty());
  for (std::size_t i = 0; i < model.state.size(); i++) {
    const std::int64_t bytes = model.state[i].bytes();
    const bool is_zero = model.start_at[i].memory < 0;
    write(model.state_at[i], is_zero ? std::string(static_cast<std::size_t>(bytes), '\0')
                                     : read(model.start_at[i], bytes));
  }
}

Player::~Player() {
  for (webgpu::Buffer memory : memories_) context()->release(memory);
  for (webgpu::Pipeline pipeline : pipelines_) context()->release(pipeline);
}

std::vector<std::string> Player::run(const std::vector<Tensor>& inputs) {
  EXPECT_EQ(inputs.size(), model_.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); i++) write(model_.inputs_at[i], bytes_of(inputs[i]));
  copy(model_.copies_in);
  for (const web::Dispatch& d : model_.dispatches) dispatch(d);
  copy(model_.copies_out);
  std::vector<std::string> results;
  for (std::size_t i = 0; i < model_.outputs.size(); i++) {
    results.push_back(read(model_.outputs_at[i], model_.outputs[i].bytes()));
  }
  return results;
}

void Player::write(web::Placed at, std::string bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  context()->write(memories_[static_cast<std::size_t>(at.memory)],
                   static_cast<std::uint64_t>(at.offset), std::as_bytes(std::span(bytes)));
}

std::string Player::read(web::Placed at, std::int64_t bytes) {
  std::string words(static_cast<std::size_t>((bytes + 3) / 4 * 4), '\0');
  context()->read(memories_[static_cast<std::size_t>(at.memory)],
                  static_cast<std::uint64_t>(at.offset), std::as_writable_bytes(std::span(words)));
  words.resize(static_cast<std::size_t>(bytes));
  return words;
}

void Player::copy(const std::vector<exporting::Copy>& copies) {
  for (const exporting::Copy& c : copies) {
    write(model_.placed(c.to), read(model_.placed(c.from), model_.copied(c).bytes()));
  }
}

void Player::dispatch(const web::Dispatch& dispatch) {
  std::vector<webgpu::Bound> memory;
  for (const wgsl::Piece& p : dispatch.pieces) {
    memory.push_back({memories_[p.memory], p.offset, p.bytes});
  }
  std::vector<std::int32_t> numbers;
  for (const LaunchSize& number : dispatch.numbers) {
    numbers.push_back(static_cast<std::int32_t>(number.value({})));
  }
  const std::int64_t groups = std::int64_t{numbers[0]} * numbers[1] * numbers[2];
  if (groups == 0) return;
  const std::int64_t columns = std::min<std::int64_t>(groups, 65'535);
  const auto module = static_cast<std::size_t>(dispatch.module);
  context()->launch(model_.modules[module].name, pipelines_[module], memory, numbers,
                    static_cast<std::uint32_t>(columns),
                    static_cast<std::uint32_t>((groups - 1) / columns + 1));
}

}  // namespace croze::test
