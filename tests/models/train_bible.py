#!/usr/bin/env python3
"""train_bible.py [--llama "chroot /srv/sid"] CROZE: a language model learns the King James Bible.

Its loss on the text that it has not seen is at most 1.45 nats a byte; a training that is killed and
goes on from its checkpoint has the losses of one that was not, to the last bit; and llama.cpp loads
the file and writes what croze writes with it (same_tokens.py).

Prints "skipped: .." without Debian's bible-kjv.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

STEPS, KILLED_AT = 600, 300
MOST_NATS = 1.45


def command(croze, text, folder):
    return [croze, "train", "gpt", "--text", text, "--out", folder, "--steps", str(STEPS),
            "--sample", "0", "--json"]


def finished(arguments):
    done = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def killed(arguments):
    """Runs it until it has told of the step at which it is to die."""
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        for line in process.stdout:
            if line.startswith(f"step {KILLED_AT}/"):
                process.send_signal(signal.SIGKILL)
                return
    sys.exit(f"the training does not come to step {KILLED_AT}")


def losses(folder):
    """Of each step, and the validations, with all their digits."""
    with open(os.path.join(folder, "losses.tsv")) as file:
        return file.readlines()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("croze")
    parser.add_argument("--llama", default="", help="command before llama.cpp's programs")
    options = parser.parse_args()
    if not shutil.which("bible"):
        return print("skipped: there is no bible (Debian's bible-kjv)")
    with tempfile.TemporaryDirectory() as folder:
        text, whole, cut = (os.path.join(folder, name) for name in ("bible.txt", "whole", "cut"))
        with open(text, "w") as file:
            subprocess.run(["bible", "-f", "gen1:1-rev22:21"], check=True, stdout=file)
        result = finished(command(options.croze, text, whole))
        print(json.dumps(result), flush=True)
        killed(command(options.croze, text, cut))
        finished(command(options.croze, text, cut) + ["--resume"])
        are_equal = losses(whole) == losses(cut) and len(losses(whole)) == STEPS + 1
        print("the losses of a training that was killed are", "equal" if are_equal else "OTHERS",
              flush=True)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "same_tokens.py")
        same = subprocess.run([sys.executable, script, "--llama=" + options.llama, options.croze,
                               os.path.join(whole, "model.gguf")], text=True)
    good = result["validation_nats_per_byte"] <= MOST_NATS and are_equal and same.returncode == 0
    sys.exit(not good)


main()
