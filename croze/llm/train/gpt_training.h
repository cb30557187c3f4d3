// gpt_training.h -- the training of a Gpt on a text, step by step.
//
//     llm::GptTraining training(corpus, shape, settings);
//     while (training.steps() < settings.steps) training.step();
//     double nats = training.validate();
//
// A step is one captured step: network, gradients, clipping, the learning rate and the update of
// all parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "croze/jit/capture.h"
#include "croze/llm/train/corpus.h"
#include "croze/llm/train/gpt.h"
#include "croze/llm/train/history.h"
#include "croze/nn/optim/adam.h"
#include "croze/nn/optim/schedule.h"

namespace croze::llm {

struct GptSettings {
  std::int64_t batch = 8;       // windows in a step
  std::int64_t steps = 2000;    // for which the learning rate is planned
  std::int64_t warmup = 100;    // steps in which it rises
  double learning_rate = 3e-3;  // at most; it falls along half a cosine
  double last_rate = 0.1;       // to this share
  double weight_decay = 0.1;
  double clip = 1;         // the most that the norm of all gradients may be
  double dropout = 0;      // part of what is dropped: for many passes over a short text
  std::uint64_t seed = 1;  // of weights and windows
};

// The learning rate over the steps.  Throws Error for numbers that are negative or no steps.
optim::Schedule schedule_of(const GptSettings& settings);

class GptTraining {
 public:
  // Begins with random weights, which are those of the seed.  The corpus must outlive it.  Throws
  // Error as Gpt, schedule_of() and clip_grad_norm() do, and unless 1 <= batch <= 65536,
  // 0 <= dropout < 1 and the windows of the corpus are those of the network.
  GptTraining(const Corpus& corpus, const GptShape& shape, const GptSettings& settings);
  GptTraining(const GptTraining&) = delete;
  GptTraining& operator=(const GptTraining&) = delete;

  // Learns from the next batch.
  const TrainingStep& step();
  // Nats a byte of the part for validation; noted with the last step.
  double validate();

  // How many steps were made.
  std::int64_t steps() const { return std::ssize(history_); }
  const TrainingHistory& history() const { return history_; }
  const Gpt& network() const { return network_; }
  // What one step launches.  Throws Error before the first of this process.
  RunSummary summary() const { return train_.step().summary(); }

  // All that the next steps depend on, as a checkpoint (io/checkpoint.h).
  void save(const std::string& path) const;
  // Goes on from there: losses are equal to the last bit to those of a training that was not
  // interrupted.  Throws Error, having changed nothing, if the file is no checkpoint of a training
  // of these sizes, settings and text.
  void load(const std::string& path);

  // The state of the training, for nn::state_dict.
  template <typename V>
  void visit(V&& v) const {
    v("network", network_);
    v("adam", adam_);
  }

 private:
  // What is captured.
  struct Train {
    GptTraining* training;
    std::vector<Tensor> operator()(const Tensor& windows) const;
  };
  struct Validate {
    const Gpt* network;
    Tensor operator()(const Tensor& windows) const;
  };

  // What must be the same for a checkpoint to be of this training.
  std::map<std::string, std::string> description() const;

  const Corpus& corpus_;
  GptSettings settings_;
  optim::Schedule schedule_;
  Gpt network_;
  optim::AdamW adam_;
  TrainingHistory history_;
  Captured<Train> train_;
  Captured<Validate> validate_;
};

}  // namespace croze::llm
