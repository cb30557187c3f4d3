#!/usr/bin/env python3
"""Records what Jinja makes of the templates of chat_template_corpus.py, for tests/llm.

    python3 make_chat_templates.py FOLDER    # tests/golden/chat_templates

Needs Python's jinja2; the file there is by version 3.1.6.  A template that Jinja refuses has null
in the place of a text.
"""
import gzip
import json
import os
import sys

import chat_reference
import chat_template_corpus as corpus


def main():
    cases = []
    for name, template in corpus.TEMPLATES:
        chat = {"messages": [], "variables": corpus.VARIABLES}
        cases.append({"name": name, "template": template, "chat": "variables",
                      "text": chat_reference.render(template, chat, chat_reference.NOW)})
    chats = {"variables": {"messages": [], "variables": corpus.VARIABLES}}
    for chat_name, chat in chat_reference.inputs():
        chats[chat_name] = chat
        for name, template in corpus.CHATS.items():
            cases.append({"name": f"{name}: {chat_name}", "template": template, "chat": chat_name,
                          "text": chat_reference.render(template, chat, chat_reference.NOW)})
    data = json.dumps({"tokens": chat_reference.TOKENS, "chats": chats, "cases": cases})
    with open(os.path.join(sys.argv[1], "expected.json.gz"), "wb") as file:
        file.write(gzip.compress(data.encode(), 9, mtime=0))
    refused = sum(c["text"] is None for c in cases)
    print(f"{len(cases)} cases, {refused} of them refused")


main()
