// croze embed, with a small encoder of random weights.
#include <nlohmann/json.hpp>

#include "croze/io/npy.h"
#include "tools/command.h"

namespace croze {
namespace {

using namespace croze::test;
using Json = nlohmann::json;

struct EmbedCommand : Command {
  const std::string model = EMBEDDING_MODELS "/bert.gguf";
};

TEST_F(EmbedCommand, PrintsAVectorForEachText) {
  const std::string texts = file("texts", "cab\nabba\n");
  const Outcome outcome =
      run("embed " + model + " " + texts + " --text abba --json --output " + path("vectors.npy"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json.at("dimensions"), 32);
  const auto vectors = json.at("vectors").get<std::vector<std::vector<float>>>();
  ASSERT_EQ(vectors.size(), 3u);
  EXPECT_EQ(vectors[0], vectors[2]);  // --text comes first
  EXPECT_NE(vectors[0], vectors[1]);
  const Tensor saved = load_npy(path("vectors.npy"));
  EXPECT_EQ(saved.shape(), (Shape{3, 32}));
  EXPECT_EQ(saved.narrow(0, 1, 1).to_vector<float>(), vectors[1]);
}

TEST_F(EmbedCommand, TellsHowNearTextsAreToTheFirst) {
  const Outcome outcome = run("embed " + model + " --text abba --text cab");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.substr(0, 6), " 1.000");
  EXPECT_NE(outcome.out.find("cab\n"), std::string::npos);
}

TEST_F(EmbedCommand, NamesWhatIsWrong) {
  EXPECT_NE(run("embed " + model).err.find("--text"), std::string::npos);
  const Outcome long_text = run("embed " + model + " --text " + std::string(100, 'a'));
  EXPECT_EQ(long_text.status, 1);
  EXPECT_NE(long_text.err.find("a context of 64"), std::string::npos) << long_text.err;
  const Outcome writer = run("embed " LANGUAGE_MODELS "/talking.gguf --text a");
  EXPECT_NE(writer.err.find("was not trained to embed"), std::string::npos) << writer.err;
  const Outcome chat = run("chat " + model + " --prompt a");
  EXPECT_NE(chat.err.find("an encoder"), std::string::npos) << chat.err;
}

}  // namespace
}  // namespace croze
