#include "croze/llm/serve/request.h"

#include <fmt/format.h>

#include <charconv>
#include <random>

#include "croze/base/printable.h"
#include "croze/llm/grammar/json_schema.h"
#include "croze/llm/grammar/matcher.h"
#include "croze/llm/serve/refusal.h"

namespace croze::llm::serve {
namespace {

using jinja::Value;

constexpr std::int64_t most_tokens = std::int64_t{1} << 30;
constexpr std::int64_t most_likeliest = 20;
constexpr std::size_t most_stops = 16;
constexpr std::size_t most_inputs = 2048;

// What OpenAI's clients may send and what changes nothing here.
constexpr std::string_view without_effect[] = {"user",
                                               "metadata",
                                               "store",
                                               "service_tier",
                                               "prediction",
                                               "prompt_cache_key",
                                               "prompt_cache_retention",
                                               "reasoning_effort",
                                               "safety_identifier",
                                               "verbosity"};

std::map<TokenId, float> read_bias(const Fields& fields) {
  std::map<TokenId, float> bias;
  const auto object = fields.object("logit_bias");
  if (!object) return bias;
  for (const auto& [key, value] : object->value().dict()->members()) {
    const std::string& name = key.text();
    TokenId token = no_token;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), token);
    if (error != std::errc() || end != name.data() + name.size() || token < 0) {
      fields.refuse("logit_bias", fmt::format("{} is no number of a token", shortened(name)));
    }
    bias[token] = static_cast<float>(object->number(name, -100, 100).value_or(0));
  }
  return bias;
}

SamplingOptions read_sampling(const Fields& fields, SamplingOptions options) {
  options.temperature = fields.number("temperature", 0, 100).value_or(options.temperature);
  options.top_p = fields.number("top_p", 1e-9, 1).value_or(options.top_p);
  options.min_p = fields.number("min_p", 0, 1).value_or(options.min_p);
  options.top_k = fields.integer("top_k", 0, most_tokens).value_or(options.top_k);
  options.frequency_penalty =
      fields.number("frequency_penalty", -2, 2).value_or(options.frequency_penalty);
  options.presence_penalty =
      fields.number("presence_penalty", -2, 2).value_or(options.presence_penalty);
  options.repetition_penalty =
      fields.number("repeat_penalty", 0.01, 100).value_or(options.repetition_penalty);
  options.penalty_window =
      fields.integer("repeat_last_n", 0, most_tokens).value_or(options.penalty_window);
  if (const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX)) {
    options.seed = static_cast<std::uint64_t>(*seed);
  } else {
    std::random_device random;
    options.seed = std::uint64_t{random()} << 32 | random();
  }
  for (const auto& [token, bias] : read_bias(fields)) options.bias[token] = bias;
  return options;
}

// A grammar that is wrong is wrong in the request.
template <typename F>
std::shared_ptr<const Grammar> grammar_of(const std::string& where, F text) {
  try {
    auto grammar = std::make_shared<const Grammar>(Grammar::parse(text()));
    const GrammarMatcher of_its_beginning(*grammar);
    return grammar;
  } catch (const Refusal&) {
    throw;
  } catch (const Error& e) {
    throw Refusal(400, fmt::format("{}: {}", where, e.message()), where);
  }
}

std::shared_ptr<const Grammar> read_grammar(const Fields& fields) {
  const auto grammar = fields.text("grammar");
  const auto format = fields.object("response_format");
  const std::string type = format ? format->required_text("type") : "text";
  if (grammar) {
    if (type != "text") fields.refuse("grammar", "response_format asks for another one");
    return grammar_of(fields.path("grammar"), [&] { return *grammar; });
  }
  if (type == "text") return nullptr;
  if (type == "json_object") {
    return grammar_of(fields.path("response_format"), [] { return json_object_grammar(); });
  }
  if (type != "json_schema") {
    format->refuse("type",
                   fmt::format("{} is none of text, json_object and json_schema", shortened(type)));
  }
  const auto schema = format->object("json_schema");
  if (!schema) format->refuse("json_schema", "it is missing");
  const auto* value = schema->find("schema");
  if (!value) schema->refuse("schema", "it is missing");
  return grammar_of(schema->path("schema"), [&] { return json_schema_grammar(*value); });
}

GenerationFields read_generation(const Fields& fields, const SamplingOptions& defaults) {
  GenerationFields result;
  result.sampling = read_sampling(fields, defaults);
  const auto of_answer = fields.integer("max_completion_tokens", 1, most_tokens);
  const auto of_text = fields.integer("max_tokens", -1, most_tokens);
  result.max_tokens = of_answer.value_or(of_text.value_or(-1));
  result.stop = fields.texts("stop", most_stops);
  result.grammar = read_grammar(fields);
  result.is_stream = fields.flag("stream");
  if (const auto options = fields.object("stream_options")) {
    result.includes_usage = options->flag("include_usage");
    options->flag("include_obfuscation");
    options->check_all_known();
  }
  result.choices = fields.integer("n", 1, 128).value_or(1);
  fields.ignore(without_effect);
  fields.text("model");
  return result;
}

std::vector<TokenId> tokens_of(const Fields& fields, std::string_view name,
                               const jinja::Sequence& list) {
  std::vector<TokenId> tokens;
  for (const Value& token : list.elements) {
    if (!token.is_integer() || token.integer() < 0 || token.integer() > INT32_MAX) {
      fields.refuse(name, "a token is an integer, and lists of several prompts are not supported");
    }
    tokens.push_back(static_cast<TokenId>(token.integer()));
  }
  if (tokens.empty()) fields.refuse(name, "it is empty");
  return tokens;
}

// One content as a text: it may come in parts.
Value content_of(const Fields& message) {
  const Value* content = message.find("content");
  if (!content) return Value("");
  if (content->is_text()) return *content;
  const jinja::Sequence* parts = content->sequence();
  if (!parts) message.refuse("content", "a text or a list of parts is wanted");
  std::string text;
  for (const Value& part : parts->elements) {
    const Fields fields(part, message.path("content") + ".");
    if (fields.required_text("type") != "text") {
      fields.refuse("type", "only parts of text are supported");
    }
    text += fields.required_text("text");
  }
  return Value(std::move(text));
}

// Templates write the arguments of a call as JSON, so they want an object and no text of one.
Value call_of(const Value& call, const std::string& where) {
  const Fields fields(call, where);
  const auto function = fields.object("function");
  if (!function) fields.refuse("function", "it is missing");
  const Value* given = function->find("arguments");
  Value arguments = given ? *given : Value::dict({});
  if (arguments.is_text()) {
    try {
      arguments = Value::parse(arguments.text());
    } catch (const Error& e) {
      function->refuse("arguments", e.message());
    }
  }
  return Value::dict({{"id", fields.text("id").value_or("")},
                      {"type", "function"},
                      {"function", Value::dict({{"name", function->required_text("name")},
                                                {"arguments", arguments}})}});
}

Value message_of(const Value& value, const std::string& where) {
  const Fields fields(value, where);
  std::string role = fields.required_text("role");
  if (role == "developer") role = "system";
  if (role != "system" && role != "user" && role != "assistant" && role != "tool") {
    fields.refuse("role", shortened(role) + " is none of system, user, assistant and tool");
  }
  std::vector<std::pair<std::string, Value>> members{{"role", role},
                                                     {"content", content_of(fields)}};
  for (const char* name : {"name", "tool_call_id", "reasoning_content"}) {
    if (const auto text = fields.text(name)) members.emplace_back(name, *text);
  }
  const jinja::Sequence* calls = fields.list("tool_calls");
  if (calls && !calls->elements.empty()) {
    std::vector<Value> list;
    for (const Value& call : calls->elements) {
      list.push_back(call_of(call, fields.path("tool_calls") + "."));
    }
    members.emplace_back("tool_calls", Value::list(std::move(list)));
  }
  return Value::dict(std::move(members));
}

}  // namespace

std::shared_ptr<const Grammar> requested_grammar(const std::string& text,
                                                 const std::string& where) {
  return grammar_of(where, [&] { return text; });
}

Value read_messages(const Fields& fields) {
  const jinja::Sequence* list = fields.list("messages");
  if (!list || list->elements.empty()) fields.refuse("messages", "a list of messages is wanted");
  std::vector<Value> messages;
  for (std::size_t i = 0; i < list->elements.size(); i++) {
    messages.push_back(message_of(list->elements[i], fmt::format("messages[{}].", i)));
  }
  return Value::list(std::move(messages));
}

Value read_tools(const Fields& fields) {
  const jinja::Sequence* list = fields.list("tools");
  if (!list) return {};
  for (std::size_t i = 0; i < list->elements.size(); i++) {
    const Fields tool(list->elements[i], fmt::format("tools[{}].", i));
    if (tool.required_text("type") != "function") tool.refuse("type", "only functions are known");
    const auto function = tool.object("function");
    if (!function) tool.refuse("function", "it is missing");
    function->required_text("name");
  }
  const Value* choice = fields.find("tool_choice");
  const bool is_none = choice && choice->is_text() && choice->text() == "none";
  return is_none || list->elements.empty() ? Value() : *fields.find("tools");
}

ToolChoice read_tool_choice(const Fields& fields, const Value& tools) {
  ToolChoice choice{.allows_many = fields.flag("parallel_tool_calls", true)};
  const Value* given = fields.find("tool_choice");
  if (!given) return choice;
  if (given->is_text()) {
    const std::string& name = given->text();
    if (name == "auto" || name == "none") return choice;
    if (name != "required") fields.refuse("tool_choice", "auto, none or required is wanted");
  } else {
    const Fields named = *fields.object("tool_choice");
    if (named.required_text("type") != "function") named.refuse("type", "only functions are known");
    const auto function = named.object("function");
    if (!function) named.refuse("function", "it is missing");
    choice.function = function->required_text("name");
    choice.allows_many = false;
  }
  if (tools.is_none()) fields.refuse("tool_choice", "there are no tools");
  choice.is_required = true;
  return choice;
}

// The one that OpenAI's models have beside audio.
void check_modalities(const Fields& fields) {
  for (const std::string& kind : fields.texts("modalities", 1)) {
    if (kind != "text") fields.refuse("modalities", "only text is supported");
  }
}

ChatRequest read_chat_request(const Fields& fields, const SamplingOptions& defaults) {
  ChatRequest request;
  request.generation = read_generation(fields, defaults);
  request.messages = read_messages(fields);
  request.tools = read_tools(fields);
  request.tool_choice = read_tool_choice(fields, request.tools);
  if (request.tool_choice.is_required && request.generation.grammar) {
    fields.refuse("tool_choice", "response_format or grammar asks for another answer");
  }
  check_modalities(fields);
  request.generation.has_likelihoods = fields.flag("logprobs");
  const auto likeliest = fields.integer("top_logprobs", 0, most_likeliest);
  if (likeliest && !request.generation.has_likelihoods) {
    fields.refuse("top_logprobs", "logprobs must be true");
  }
  request.generation.likeliest = likeliest.value_or(0);
  if (const auto variables = fields.object("chat_template_kwargs")) {
    for (const auto& [name, value] : variables->value().dict()->members()) {
      request.variables.emplace_back(name.text(), value);
    }
  }
  fields.check_all_known();
  return request;
}

CompletionRequest read_completion_request(const Fields& fields, const SamplingOptions& defaults) {
  CompletionRequest request;
  request.generation = read_generation(fields, defaults);
  const Value* prompt = fields.find("prompt");
  if (!prompt) fields.refuse("prompt", "it is missing");
  if (prompt->is_text()) {
    request.prompt = prompt->text();
  } else {
    const jinja::Sequence* tokens = prompt->sequence();
    if (!tokens) fields.refuse("prompt", "a text or a list of tokens is wanted");
    request.tokens = tokens_of(fields, "prompt", *tokens);
  }
  const auto likeliest = fields.integer("logprobs", 0, most_likeliest);
  request.generation.has_likelihoods = likeliest.has_value();
  request.generation.likeliest = likeliest.value_or(0);
  if (fields.flag("echo")) fields.refuse("echo", "it is not supported");
  if (fields.find("suffix")) fields.refuse("suffix", "it is not supported");
  if (fields.integer("best_of", 1, 128).value_or(request.generation.choices) !=
      request.generation.choices) {
    fields.refuse("best_of", "as many as n, which are not compared, are supported");
  }
  fields.check_all_known();
  return request;
}

EmbeddingRequest read_embedding_request(const Fields& fields) {
  EmbeddingRequest request;
  const Value* input = fields.find("input");
  if (!input) fields.refuse("input", "it is missing");
  const jinja::Sequence* list = input->sequence();
  if (input->is_text()) {
    request.inputs.emplace_back(input->text());
  } else if (!list || list->elements.empty() || list->elements.size() > most_inputs) {
    fields.refuse("input", fmt::format("a text or 1 to {} of them are wanted", most_inputs));
  } else if (list->elements[0].is_integer()) {
    request.inputs.emplace_back(tokens_of(fields, "input", *list));
  } else {
    for (const Value& element : list->elements) {
      if (element.is_text()) {
        request.inputs.emplace_back(element.text());
      } else if (element.sequence()) {
        request.inputs.emplace_back(tokens_of(fields, "input", *element.sequence()));
      } else {
        fields.refuse("input", "an element is neither a text nor a list of tokens");
      }
    }
  }
  const std::string format = fields.text("encoding_format").value_or("float");
  request.is_base64 = format == "base64";
  if (!request.is_base64 && format != "float") {
    fields.refuse("encoding_format", shortened(format) + " is neither float nor base64");
  }
  request.dimensions = fields.integer("dimensions", 1, most_tokens).value_or(0);
  fields.ignore(without_effect);
  fields.text("model");
  fields.check_all_known();
  return request;
}

}  // namespace croze::llm::serve
