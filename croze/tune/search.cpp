// search.cpp -- a beam search.
//
// A round takes the neighbours of the lists in the beam, compiles those that make a program not
// seen before, races each against the model's choice, and keeps the fastest.  Times of different
// races are compared by their ratio to the model's in the same race, so that what disturbs the
// machine for a while disturbs both.  The search ends when rounds gain little; then the best few
// race longer, and one must win clearly to be taken.
#include "croze/tune/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "croze/base/error.h"
#include "croze/base/hash.h"
#include "croze/codegen/choose/choose.h"
#include "croze/codegen/edits/transform.h"
#include "croze/codegen/pipeline.h"
#include "croze/render/renderer.h"
#include "croze/tune/workbench.h"

namespace croze::tune {
namespace {

constexpr int most_rounds = 12;
constexpr std::size_t neighbours_each = 16;  // in a round, of each list of the beam
constexpr double least_gain = 0.99;          // of a round
constexpr int patience = 1;                  // rounds that gain less and are followed by another
constexpr double clear_win = 0.98;
constexpr double plain_limit = 20;   // seconds that the kernel without edits may take
constexpr double short_race = 0.01;  // seconds
constexpr TrialTime long_race{.seconds = 0.2, .limit = 20};

struct Candidate {
  EditList edits;
  std::string source;
  std::unique_ptr<Program> program;
  TrialProgram trial;
  double ratio = 1;  // of its time to the model's
};

class Search {
 public:
  Search(UOp kernel, Device& device, const Caps& caps, const Settings& settings,
         ThreadPool& compilers)
      : kernel_(kernel),
        device_(device),
        caps_(caps),
        settings_(settings),
        compilers_(compilers),
        bench_(kernel, static_cast<int>(caps.threads), settings.seed) {}

  Found run();

 private:
  void learn();
  std::shared_ptr<Candidate> made(LinearProgram program, EditList edits) const;
  std::shared_ptr<Candidate> of_model() const;
  std::shared_ptr<Candidate> of_edits(const EditList& edits) const;
  std::vector<std::shared_ptr<Candidate>> next_round(int round);
  void race(const std::vector<std::shared_ptr<Candidate>>& candidates);
  void decide();

  UOp kernel_;
  Device& device_;
  const Caps& caps_;
  const Settings& settings_;
  ThreadPool& compilers_;
  Workbench bench_;
  std::shared_ptr<Candidate> model_;
  std::vector<std::shared_ptr<Candidate>> beam_;  // the fastest first
  std::unordered_set<std::uint64_t> seen_;        // sources
  Found found_;
};

std::shared_ptr<Candidate> Search::made(LinearProgram program, EditList edits) const {
  auto c = std::make_shared<Candidate>();
  c->edits = std::move(edits);
  c->source = device_.renderer().render(program);
  c->program = device_.load(program.info, device_.compile(program.info.name, c->source));
  c->trial = {.function = c->program->host_function(),
              .tasks = program.info.launch.tasks.value(bench_.variables()),
              .scratch_bytes = program.info.launch.scratch_bytes};
  check(c->trial.function != nullptr,
        "kernels of {} cannot be tuned: they cannot be run in a process of their own",
        device_.name());
  return c;
}

std::shared_ptr<Candidate> Search::of_model() const {
  EditList edits;
  auto choose = [&](KernelState& k) {
    choose_edits(k);
    edits = k.applied;
  };
  LinearProgram program = make_program(kernel_, caps_, choose);
  return made(std::move(program), std::move(edits));
}

std::shared_ptr<Candidate> Search::of_edits(const EditList& edits) const {
  auto replay = [&](KernelState& k) { apply_all(k, edits); };
  return made(make_program(kernel_, caps_, replay), edits);
}

// What is right is what the kernel computes as it is; where that takes too long, what the model
// makes of it.
void Search::learn() {
  const std::shared_ptr<Candidate> plain = of_edits({});
  found_.against_plain = bench_.learn(plain->trial, plain_limit);
  if (found_.against_plain) return;
  check(bench_.learn(model_->trial, plain_limit), "the kernel's own program does not end");
}

// Neighbours whose programs are new, compiled.
std::vector<std::shared_ptr<Candidate>> Search::next_round(int round) {
  std::vector<EditList> lists;
  for (std::size_t i = 0; i < beam_.size(); i++) {
    const std::uint64_t seed =
        settings_.seed * 1'000'003 + static_cast<std::uint64_t>(round) * 64 + i;
    // The first round has one list to start from.
    const std::size_t most =
        neighbours_each * (round ? 1 : static_cast<std::size_t>(settings_.width));
    std::ranges::move(neighbours(kernel_, caps_, beam_[i]->edits, most, seed),
                      std::back_inserter(lists));
  }
  std::vector<std::shared_ptr<Candidate>> candidates(lists.size());
  compilers_.run(std::ssize(lists), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    try {
      candidates[at] = of_edits(lists[at]);
    } catch (const Error&) {
      // What cannot be compiled is no candidate: too many registers, say.
    }
  });
  std::erase_if(candidates, [&](const std::shared_ptr<Candidate>& c) {
    return !c || !seen_.insert(hash_bytes(c->source)).second;
  });
  return candidates;
}

void Search::race(const std::vector<std::shared_ptr<Candidate>>& candidates) {
  for (const std::shared_ptr<Candidate>& c : candidates) {
    found_.tried++;
    const Trial trial =
        bench_.race(c->trial, model_->trial, {.seconds = short_race, .limit = settings_.limit});
    if (trial.end == TrialEnd::Right) {
      c->ratio = trial.seconds / trial.rival_seconds;
      beam_.push_back(c);
    } else if (trial.end != TrialEnd::Slow) {
      found_.broken.push_back(fmt::format("{}: {}", name_of(trial.end), to_text(c->edits)));
    }
  }
  std::ranges::stable_sort(beam_, {}, [](const auto& c) { return c->ratio; });
  if (std::ssize(beam_) > settings_.width) beam_.resize(static_cast<std::size_t>(settings_.width));
}

// The best by a longer race; the model's choice, unless another one wins clearly.
void Search::decide() {
  const Candidate* best = model_.get();
  double best_ratio = clear_win;
  for (const std::shared_ptr<Candidate>& c : beam_) {
    if (c == model_) continue;
    const Trial trial = bench_.race(c->trial, model_->trial, long_race);
    if (trial.end != TrialEnd::Right) continue;
    if (found_.model_seconds == 0) found_.model_seconds = trial.rival_seconds;
    const double ratio = trial.seconds / trial.rival_seconds;
    if (ratio >= best_ratio) continue;
    best = c.get();
    best_ratio = ratio;
    found_.seconds = trial.seconds;
    found_.model_seconds = trial.rival_seconds;
  }
  found_.edits = best->edits;
  if (found_.model_seconds == 0) {
    found_.model_seconds = bench_.race(model_->trial, model_->trial, long_race).seconds;
  }
  if (best == model_.get()) found_.seconds = found_.model_seconds;
}

Found Search::run() {
  model_ = of_model();
  seen_.insert(hash_bytes(model_->source));
  learn();
  const TrialEnd itself = bench_.race(model_->trial, model_->trial, {.seconds = short_race}).end;
  check(itself == TrialEnd::Right || itself == TrialEnd::Slow, "the kernel's own program is {}",
        name_of(itself));
  beam_ = {model_};
  int idle = 0;  // rounds that gained little, one after the other
  for (int round = 0; round < most_rounds && idle <= patience; round++) {
    const double before = beam_.front()->ratio;
    race(next_round(round));
    idle = beam_.front()->ratio > before * least_gain ? idle + 1 : 0;
  }
  decide();
  return std::move(found_);
}

}  // namespace

Found search_edits(UOp kernel, Device& device, const Caps& caps, const Settings& settings,
                   ThreadPool& compilers) {
  return Search(kernel, device, caps, settings, compilers).run();
}

}  // namespace croze::tune
