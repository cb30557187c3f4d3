"""openai_client.py CROZE MODEL: OpenAI's own client (PyPI openai) talks to croze serve.

Prints "skipped: .." and ends well where the package is not installed.
"""
import json
import subprocess
import sys

try:
    import openai
except ImportError:
    print("skipped: there is no package openai for", sys.executable)
    sys.exit()

TOOLS = [
    {"type": "function", "function": {
        "name": "turn", "description": "Turns the light.", "strict": True,
        "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}},
                       "required": ["on"], "additionalProperties": False}}},
    {"type": "function", "function": {
        "name": "pick", "parameters": {"type": "object", "required": ["colour"],
                                       "properties": {"colour": {"enum": ["red", "blue"]}}}}},
]
# Spaces, of which a model of random weights would write many between the parts of JSON.
NO_SPACES = {"10": -100, "220": -100}


def chat(client, **more):
    return client.chat.completions.create(
        model="any", messages=[{"role": "user", "content": "abba"}], **more)


def several_choices(client):
    options = dict(n=3, seed=1, max_completion_tokens=8, stop=["never"], logit_bias={"5": -100},
                   temperature=1, user="me")
    whole = chat(client, logprobs=True, top_logprobs=2, **options)
    assert [c.index for c in whole.choices] == [0, 1, 2]
    assert all(len(t.top_logprobs) == 2 for c in whole.choices for t in c.logprobs.content)
    texts, ends, usage = ["", "", ""], {}, None
    for chunk in chat(client, stream=True, stream_options={"include_usage": True}, **options):
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
            if choice.finish_reason:
                ends[choice.index] = choice.finish_reason
        usage = chunk.usage or usage
    assert texts == [c.message.content for c in whole.choices]
    assert ends == {c.index: c.finish_reason for c in whole.choices}
    assert usage.completion_tokens == whole.usage.completion_tokens


def called_tools(client):
    named = {"type": "function", "function": {"name": "pick"}}
    for choice in ("required", named):
        options = dict(tools=TOOLS, tool_choice=choice, parallel_tool_calls=False, max_tokens=100,
                       temperature=0, logit_bias=NO_SPACES)
        answer = chat(client, **options).choices[0]
        assert answer.finish_reason == "tool_calls"
        call, = answer.message.tool_calls
        arguments = json.loads(call.function.arguments)
        assert choice == "required" or call.function.name == "pick"
        if call.function.name == "pick":
            assert arguments["colour"] in ("red", "blue")
        else:
            assert isinstance(arguments["on"], bool)
        streamed = [t.function for chunk in chat(client, stream=True, **options)
                    for c in chunk.choices for t in c.delta.tool_calls or []]
        assert [f.name for f in streamed] == [call.function.name]
        assert json.loads(streamed[0].arguments) == arguments


def schemas(client):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    answer = chat(client, max_tokens=60, logit_bias=NO_SPACES, response_format={
        "type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}})
    assert isinstance(json.loads(answer.choices[0].message.content)["ok"], bool)


def texts(client):
    answer = client.completions.create(model="any", prompt="abba", n=2, max_tokens=4, logprobs=1)
    assert [c.index for c in answer.choices] == [0, 1]
    assert client.models.list().data[0].object == "model"


def refusals(client):
    for wrong in (dict(n=99), dict(tool_choice="required"), dict(temperature=-1)):
        try:
            chat(client, **wrong)
        except openai.BadRequestError as error:
            assert error.param in wrong, error
        else:
            raise AssertionError(f"{wrong} was not refused")


def main(croze, model):
    server = subprocess.Popen([croze, "serve", model, "--port", "0", "--api-key", "key"],
                              stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        client = openai.OpenAI(base_url=address + "/v1", api_key="key", max_retries=0, timeout=60)
        for test in (several_choices, called_tools, schemas, texts, refusals):
            test(client)
            print("ok", test.__name__)
    finally:
        server.terminate()
        server.wait(30)


main(*sys.argv[1:])
