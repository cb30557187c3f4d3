// checkpoint.h -- a training on disk: what a killed one needs to go on as if nothing had happened.
//
//     Net net;
//     optim::Adam adam(nn::parameters(net));
//     auto training = std::tie(net, adam);  // or a struct with both as members
//     std::int64_t step = 0;
//     if (std::filesystem::exists(path)) step = nn::load_checkpoint(path, training);
//     for (; step < steps; step++) {
//       if (step % 100 == 0) nn::save_checkpoint(path, training, step);
//       ...
//     }
//
// Losses are then equal to the last bit to those of a training that was not interrupted, provided
// that whatever else a step depends on (which batch is next, say) follows from the number of the
// step or is drawn from croze's random numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "croze/io/safetensors.h"
#include "croze/run/random_state.h"

namespace croze::nn {
namespace detail {

struct Checkpoint {
  StateDict tensors;
  RandomState random;
  std::int64_t step = 0;
  std::map<std::string, std::string> notes;  // metadata of the file
};
Checkpoint read_checkpoint(const std::string& path, Location at);
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint, Location at);

}  // namespace detail

// Writes all tensors of `training` (nn/state.h: models, optimizers, structs and tuples of them),
// the number of the step and the state of the random numbers to one safetensors file, which appears
// whole or not at all.  `notes` are whatever else the program wants to find there, in the metadata
// of the file (load_safetensors).  Throws Error if it cannot be written, there are no tensors, or a
// note is called "step", "random_seed" or "random_draws".
template <typename T>
void save_checkpoint(const std::string& path, const T& training, std::int64_t step,
                     const std::map<std::string, std::string>& notes = {},
                     Location at = Location::current()) {
  detail::write_checkpoint(path, {state_dict(training, at), random_state(), step, notes}, at);
}

// Assigns to all tensors of `training` what save_checkpoint wrote, sets the random numbers to where
// they stood, and returns the number of the step.  Throws Error, having changed nothing, if the
// file is no checkpoint, or its tensors are not those of the training by name and shape.
template <typename T>
std::int64_t load_checkpoint(const std::string& path, const T& training,
                             Location at = Location::current()) {
  const detail::Checkpoint checkpoint = detail::read_checkpoint(path, at);
  load_state_dict(training, checkpoint.tensors, true, at);
  set_random_state(checkpoint.random);
  return checkpoint.step;
}

}  // namespace croze::nn
