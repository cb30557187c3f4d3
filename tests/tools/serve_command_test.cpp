// croze serve, as far as it ends by itself; tests/serve has the server.
#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;

constexpr const char* model = LANGUAGE_MODELS "/talking.gguf";

class Serve : public Command {};

TEST_F(Serve, OtherMachinesNeedAKey) {
  expect_error(run(std::string("serve ") + model + " --host 0.0.0.0 --port 0"), "needs a key");
}

TEST_F(Serve, AKeyComesFromOnePlace) {
  const std::string key = file("key", "secret\n");
  expect_error(run(std::string("serve ") + model + " --api-key a --api-key-file " + key), "one of");
  expect_error(run(std::string("serve ") + model + " --api-key-file " + file("empty", "\n")),
               "no key");
}

TEST_F(Serve, RefusesWhatIsNoModel) {
  expect_error(run("serve " + file("text", "no model") + " --port 0"), "text");
}

}  // namespace
}  // namespace croze
