"""Servers of models for the scripts here: llama.cpp's and croze's."""
import contextlib
import json
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

# What llama.cpp would round otherwise: keys and values.
EXACT = ["-fa", "off", "-ctk", "f32", "-ctv", "f32"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def program(prefix, name):
    """The command of one of llama.cpp's programs, which may be in a chroot."""
    return [*shlex.split(prefix), name]


def is_installed(prefix):
    with contextlib.suppress(FileNotFoundError):
        return subprocess.run([*program(prefix, "llama-server"), "--version"],
                              capture_output=True).returncode == 0
    return False


class Served:
    """A server that listens at a port of its own until the block ends."""

    def __init__(self, command):
        self.port = free_port()
        self.process = subprocess.Popen([*command, "--port", str(self.port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(600):
            if self.process.poll() is not None:
                sys.exit(f"{self.process.args} ends with status {self.process.returncode}")
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(self.address("/health"), timeout=10)
                return self
            time.sleep(0.2)
        sys.exit(f"{self.process.args} does not begin to serve")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def address(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def post(self, path, body):
        request = urllib.request.Request(self.address(path), json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=600))
