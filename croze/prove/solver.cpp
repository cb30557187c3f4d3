// solver.cpp -- loading libz3 and talking to it.
#include "croze/prove/solver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <type_traits>

#include "croze/base/error.h"

#if CROZE_HAVE_Z3

#include <z3.h>

namespace croze {
namespace {

// The five functions that a conversation in text takes.
struct Z3Library {
  decltype(&Z3_mk_config) make_config = nullptr;
  decltype(&Z3_del_config) delete_config = nullptr;
  decltype(&Z3_mk_context) make_context = nullptr;
  decltype(&Z3_del_context) delete_context = nullptr;
  decltype(&Z3_set_error_handler) set_error_handler = nullptr;
  decltype(&Z3_eval_smtlib2_string) evaluate = nullptr;

  bool complete() const {
    return make_config && delete_config && make_context && delete_context && set_error_handler &&
           evaluate;
  }
};

Z3Library load() {
  Z3Library z3;
  void* handle = dlopen(CROZE_Z3_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return z3;
  auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
  };
  find("Z3_mk_config", z3.make_config);
  find("Z3_del_config", z3.delete_config);
  find("Z3_mk_context", z3.make_context);
  find("Z3_del_context", z3.delete_context);
  find("Z3_set_error_handler", z3.set_error_handler);
  find("Z3_eval_smtlib2_string", z3.evaluate);
  return z3;
}

const Z3Library& library() {
  static const Z3Library z3 = load();
  return z3;
}

// Z3 ends the process at an error unless told otherwise; the text it answers says what was wrong.
void ignore(Z3_context, Z3_error_code) {}

}  // namespace

bool Solver::available() { return library().complete(); }

Solver::Solver(std::uint64_t limit) {
  if (!available()) {
    fail({.hint = "install Z3 (Debian: libz3-4)"}, "proofs need {}, which cannot be loaded",
         CROZE_Z3_LIBRARY);
  }
  const Z3_config config = library().make_config();
  const Z3_context context = library().make_context(config);
  library().delete_config(config);
  library().set_error_handler(context, ignore);
  context_ = context;
  state(fmt::format("(set-option :rlimit {})\n(set-option :produce-models true)\n", limit));
}

Solver::~Solver() { library().delete_context(static_cast<Z3_context>(context_)); }

std::string Solver::evaluate(const std::string& commands) {
  const char* reply = library().evaluate(static_cast<Z3_context>(context_), commands.c_str());
  std::string text = reply ? reply : "(error \"no answer\")";
  if (text.find("(error") != std::string::npos && text.find("canceled") == std::string::npos) {
    fail_internal({.pass = "prove", .node = commands}, "Z3 does not understand: {}", text);
  }
  return text;
}

void Solver::state(std::string_view commands) { evaluate(std::string(commands)); }

Answer Solver::check(std::string_view commands, std::string_view asked, std::string* witness) {
  const std::string reply = evaluate(fmt::format("(push)\n{}\n(check-sat)\n", commands));
  Answer answer = Answer::Unknown;
  if (reply.starts_with("unsat")) answer = Answer::Unsat;
  if (reply.starts_with("sat")) answer = Answer::Sat;
  if (answer == Answer::Sat && witness && !asked.empty()) {
    *witness = evaluate(fmt::format("(get-value ({}))\n", asked));
    while (witness->ends_with('\n')) witness->pop_back();
  }
  evaluate("(pop)\n");
  return answer;
}

}  // namespace croze

#else

namespace croze {

bool Solver::available() { return false; }
Solver::Solver(std::uint64_t) : context_(nullptr) {
  fail({.hint = "install libz3-dev and build again"}, "this croze was built without Z3");
}
Solver::~Solver() = default;
void Solver::state(std::string_view) {}
Answer Solver::check(std::string_view, std::string_view, std::string*) { return Answer::Unknown; }
std::string Solver::evaluate(const std::string&) { return {}; }

}  // namespace croze

#endif
