#!/usr/bin/env python3
"""Compares croze with Jinja on the chat templates of real models.

    python3 compare_chat_templates.py CROZE_COMMAND [--all] FILE_OR_FOLDER...

Takes *.jinja files and the "chat_template" of tokenizer_config.json files; a folder is searched for
both.  Needs Python's jinja2 (3.1.6).  Prints the table of docs/chat_templates.md: of each template
how many conversations both wrote the same text of, how many both refused, and what differs.
"""
import json
import os
import subprocess
import sys
import tempfile

import chat_reference


def templates_in(path):
    """(name, source) of a file or a folder."""
    if os.path.isdir(path):
        for folder, _, files in sorted(os.walk(path)):
            for name in sorted(files):
                if name.endswith(".jinja") or name == "tokenizer_config.json":
                    yield from templates_in(os.path.join(folder, name))
    elif path.endswith(".jinja"):
        yield os.path.basename(path)[:-len(".jinja")], open(path, encoding="utf-8").read()
    else:
        chat = json.load(open(path, encoding="utf-8")).get("chat_template")
        name = os.path.basename(os.path.dirname(os.path.abspath(path)))
        for entry in [{"name": "", "template": chat}] if isinstance(chat, str) else chat or []:
            yield (name + " " + entry["name"]).strip(), entry["template"]


def croze(command, folder, chat):
    def written(name, value):
        path = os.path.join(folder, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return path

    arguments = ["--messages", written("messages", chat["messages"]),
                 "--variables", written("variables", {**chat_reference.TOKENS,
                                                      **chat.get("variables", {})})]
    if chat.get("tools") is not None:
        arguments += ["--tools", written("tools", chat["tools"])]
    if chat.get("add_generation_prompt"):
        arguments.append("--generation-prompt")
    done = subprocess.run([command, "chat-template", os.path.join(folder, "template"), *arguments],
                          capture_output=True)
    if done.returncode == 0:
        return done.stdout.decode(), ""
    return None, done.stderr.decode()


def compare(command, name, source):
    same, refused, different = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "template"), "w", encoding="utf-8", newline="") as file:
            file.write(source)
        for kind, chat in chat_reference.inputs():
            wanted = chat_reference.render(source, chat)
            problem = getattr(chat_reference.render, "problem", "") if wanted is None else ""
            got, message = croze(command, folder, chat)
            if got == wanted:
                same += wanted is not None
                refused += wanted is None
            else:
                different.append((kind, wanted, got, problem, message))
    print(f"| {name} | {same} | {refused} | {len(different)} |", flush=True)
    for kind, wanted, got, problem, message in different[:2]:
        print(f"  {kind}\n  wanted {wanted!r}\n  {problem}\n  got    {got!r}\n  {message}")
    return same, refused, len(different)


def main():
    command, paths = sys.argv[1], sys.argv[2:]
    print("| template | same text | both refuse | differ |")
    print("|---|---|---|---|")
    totals = [compare(command, *t) for path in paths for t in templates_in(path)]
    print(f"| all {len(totals)} | " + " | ".join(str(sum(t[i] for t in totals)) for i in range(3)) + " |")
    sys.exit(1 if any(t[2] for t in totals) else 0)


main()
