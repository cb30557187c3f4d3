// claim.cpp -- exhaustive evaluation where it is cheap, one question for many claims where not.
#include "croze/prove/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "croze/graph/graph.h"
#include "croze/graph/rewrite/rewrite.h"
#include "croze/graph/text/print.h"
#include "croze/prove/evaluation.h"
#include "croze/prove/meaning.h"
#include "croze/prove/smt.h"

namespace croze {
namespace {

constexpr std::int64_t most_points = 1 << 17;
constexpr std::size_t most_waiting = 32;

// The number of values of all leaves together; most_points + 1 if there are more than that.
std::int64_t count_points(const std::vector<UOp>& leaves) {
  std::int64_t points = 1;
  for (UOp u : leaves) {
    if (!is_integral(u.dtype())) return most_points + 1;
    const __int128 values = static_cast<__int128>(u.hi()) - u.lo() + 1;
    if (values > most_points) return most_points + 1;
    points = std::min(points * static_cast<std::int64_t>(values), most_points + 1);
  }
  return points;
}

// The next point in the order of counting; false after the last.
bool next_point(const std::vector<UOp>& leaves, std::vector<std::int64_t>* point) {
  for (std::size_t i = 0; i < leaves.size(); i++) {
    if ((*point)[i] < leaves[i].hi()) {
      (*point)[i]++;
      return true;
    }
    (*point)[i] = leaves[i].lo();
  }
  return false;
}

// `gate`, where there is one, and x.
UOp under(UOp gate, UOp x) { return gate ? x.graph().make(Op::And, DType::Bool, {gate, x}) : x; }

struct OfSameLoops {
  UOp value;
  UOp turns_differ;  // Bool: some loop turns another number of times
};

// What is known may simplify how often an open loop turns, too, which makes it another node: it is
// the same loop, if it turns as often.
OfSameLoops with_loops_of(std::span<const UOp> known, UOp x) {
  std::map<std::int64_t, UOp> loops;
  for (UOp u : toposort(known)) {
    if (u.is(Op::Range)) loops.emplace(u.range_id(), u);
  }
  OfSameLoops result{x, x.graph().boolean(false)};
  std::vector<std::pair<UOp, UOp>> same;
  for (UOp u : toposort(x)) {
    const auto it = u.is(Op::Range) ? loops.find(u.range_id()) : loops.end();
    if (it == loops.end() || it->second == u) continue;
    same.emplace_back(u, it->second);
    const UOp differ = not_equal(u.trip_count(), it->second.trip_count());
    result.turns_differ = x.graph().make(Op::Or, DType::Bool, {result.turns_differ, differ});
  }
  result.value = substitute(x, same);
  return result;
}

// Where `bad` holds at a value that each open loop in it has: one below its trip count.
UOp while_loops_turn(UOp bad) {
  for (UOp u : toposort(bad)) {
    if (!u.is_open()) continue;
    bad = under(bad.graph().make(Op::Lt, DType::Bool, {u, u.trip_count()}), bad);
  }
  return bad;
}

}  // namespace

void ClaimProver::claim(UOp left, UOp right, UOp gate) {
  Graph& graph = left.graph();
  Meanings meanings(graph);
  const OfSameLoops other = with_loops_of(std::array{left, gate ? gate : left}, right);
  if (gate) gate = while_loops_turn(gate);
  const UOp differ = while_loops_turn(difference(meanings, left, other.value));
  const UOp bad = graph.make(Op::Or, DType::Bool, {other.turns_differ, differ});
  const Claim c{left, right, gate, under(gate, bad)};
  if (exhaust(c)) return;
  waiting_.push_back(c);
}

bool ClaimProver::exhaust(const Claim& claim) {
  Evaluation evaluation(std::span(&claim.bad, 1));
  const std::vector<UOp>& leaves = evaluation.leaves();
  if (count_points(leaves) > most_points) return false;
  std::vector<std::int64_t> point;
  for (UOp u : leaves) point.push_back(u.lo());
  do {
    evaluation.run(point);
    if (!evaluation.result(0)) continue;
    std::string where;
    for (std::size_t i = 0; i < leaves.size(); i++) {
      where += fmt::format(" {} = {}", to_string(leaves[i]), point[i]);
    }
    counts_.failed++;
    note(claim, "differ at" + where);
    return true;
  } while (next_point(leaves, &point));
  counts_.exhausted++;
  return true;
}

Answer ClaimProver::ask(std::span<const Claim> claims) {
  SmtScript script(claims[0].bad.graph());
  std::string any;
  for (const Claim& c : claims) any += " " + script.name(c.bad);
  return solver_.check(fmt::format("{}(assert (or{} false))\n", script.text(), any));
}

void ClaimProver::settle() {
  for (std::size_t begin = 0; begin < waiting_.size(); begin += most_waiting) {
    const std::size_t size = std::min(most_waiting, waiting_.size() - begin);
    const auto batch = std::span<const Claim>(waiting_).subspan(begin, size);
    if (ask(batch) == Answer::Unsat) {
      counts_.solved += static_cast<std::int64_t>(size);
      continue;
    }
    for (const Claim& c : batch) {
      const Answer answer = ask(std::span(&c, 1));
      if (answer == Answer::Unsat) {
        counts_.solved++;
      } else if (answer == Answer::Sat) {
        counts_.failed++;
        note(c, "differ");
      } else {
        counts_.unknown++;
        note(c, "are beyond the solver");
      }
    }
  }
  waiting_.clear();
}

void ClaimProver::note(const Claim& c, const std::string& why) {
  if (!counts_.detail.empty()) return;
  counts_.detail = fmt::format("{} and {} {}", to_string(c.left), to_string(c.right), why);
  if (c.gate) counts_.detail += " where " + to_string(c.gate);
}

}  // namespace croze
