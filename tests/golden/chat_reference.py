"""What Hugging Face makes of chat templates: Jinja set up as transformers does it, and conversations
that templates are tried with.
"""
import datetime
import functools
import json

import jinja2
import jinja2.ext
import jinja2.sandbox

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
NOW = datetime.datetime(2026, 2, 3, 4, 5, 6)


class Generation(jinja2.ext.Extension):
    """{% generation %}: the body as it is, in a scope of its own."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def environment(now=None):
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: (now or datetime.datetime.now()).strftime(format)
    return env


@functools.lru_cache(maxsize=4)
def compiled(template, now):
    return environment(now).from_string(template)


def render(template, chat, now=None):
    """The text, or None for an error, which is render.problem then."""
    try:
        return compiled(template, now).render(
            messages=chat["messages"], tools=chat.get("tools"), documents=None,
            add_generation_prompt=chat.get("add_generation_prompt", False),
            **{**TOKENS, **chat.get("variables", {})})
    except Exception as e:
        render.problem = f"{type(e).__name__}: {e}"
        return None


# ---- conversations -------------------------------------------------------------------------------

def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def call(name, arguments, id="call_1a2b3"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Weather of a place; \"now\" or <later>.",
    "parameters": {"type": "object", "properties": {
        "place": {"type": "string", "description": "City & country, \u6771\u4eac"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": ["integer", "null"], "minimum": 1},
        "detail": {"type": "object", "properties": {"wind": {"type": "boolean"}},
                   "required": ["wind"]},
        "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["place"]},
    "return": {"type": "number", "description": "degrees"}}}
ADD = {"type": "function", "function": {"name": "add", "description": "Adds.\nTwo numbers.", "parameters": {
    "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}}}
SYSTEM = {"role": "system", "content": "You are brief."}
ARGUMENTS = {"place": "T\u014dky\u014d", "days": 3, "ratio": 0.5, "exact": True, "none": None,
             "tags": ["a", "it's"], "detail": {"wind": False}}
TOOL_TURNS = [
    user("Weather?"), assistant(None, tool_calls=[call("get_weather", ARGUMENTS)]),
    {"role": "tool", "name": "get_weather", "tool_call_id": "call_1a2b3",
     "content": "{\"degrees\": 21.5}"},
    assistant("It is 21.5 degrees.")]

CHATS = {
    "one": [user("Hello")],
    "system": [SYSTEM, user("Hello")],
    "turns": [SYSTEM, user("Hi"), assistant("Hello!"), user("  How are you?\n"),
              assistant("Fine\n\n"), user("Good.")],
    "answered": [user("Hi"), assistant("Hello!")],
    "unicode": [user("\u00e9\u6771\U0001f600 <b>&amp;</b> 'single' \"double\" \\n"),
                assistant("\u00df \u0130 \u2028x"), user("{{ not }} {% a %}")],
    "empty": [SYSTEM, user(""), assistant(""), user("")],
    "no messages": [],
    "reasoning": [user("2+2?"), assistant("4", reasoning_content="Add them."), user("3+3?"),
                  assistant("<think>\nsix\n</think>\n\n6"), user("And?")],
    "parts": [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
              {"role": "user", "content": [{"type": "text", "text": "What is "},
                                           {"type": "image"}, {"type": "text", "text": "this?"}]}],
    "without content": [user("Hi"), {"role": "assistant"}, user("?")],
    "two users": [user("a"), user("b")],
    "unknown role": [{"role": "narrator", "content": "Once"}, user("Hi")],
    "developer": [{"role": "developer", "content": "Rules."}, user("Hi")],
    "late system": [user("Hi"), SYSTEM, assistant("a"), user("b")],
    "tool turns": TOOL_TURNS,
    "tool turns open": TOOL_TURNS[:3],
    "two calls": [
        user("Both"), assistant("", tool_calls=[call("add", {"a": 1, "b": 2}, "abcdefghi"),
                                                call("get_weather", {}, "123456789")]),
        {"role": "tool", "tool_call_id": "abcdefghi", "content": "3"},
        {"role": "tool", "tool_call_id": "123456789", "content": "cold"}, user("Thanks")],
    "text arguments": [user("Add"), assistant("", tool_calls=[call("add", "{\"a\": 1}", "abcdefghi")]),
                       {"role": "tool", "content": "1", "tool_call_id": "abcdefghi"}],
}
VARIABLES = {"thinking": {"enable_thinking": True, "thinking": True, "reasoning_effort": "high"},
             "no thinking": {"enable_thinking": False, "thinking": False,
                             "reasoning_effort": "low", "date_string": "1 Feb 2026"}}


def inputs():
    """(name, chat): every conversation with tools and without, and some with variables."""
    result = []
    for name, messages in CHATS.items():
        for prompt in (False, True):
            result.append((f"{name}, prompt {prompt}",
                           {"messages": messages, "add_generation_prompt": prompt}))
        result.append((name + ", tools", {"messages": messages, "tools": [WEATHER, ADD],
                                          "add_generation_prompt": True}))
    for kind, variables in VARIABLES.items():
        for name in ("one", "turns", "reasoning", "tool turns"):
            tools = {"tools": [WEATHER]} if name == "tool turns" else {}
            result.append((f"{name}, {kind}", {"messages": CHATS[name], "variables": variables,
                                               "add_generation_prompt": True, **tools}))
    return result
