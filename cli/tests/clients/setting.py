"""The setup of a run with a real client: a folder, the scripted model, servers, and the validation at the end."""

import argparse
import contextlib
import glob
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from conversation import Conversation, Judge, load
from recording_proxy import WebSocketProxy

HERE = os.path.dirname(os.path.abspath(__file__))
STAND_IN = os.path.join(HERE, "../../../samples/stand-in")
SCHEMA = os.path.join(HERE, "../../../server/protocol/peer-schema")

# The configuration of the Codex CLI for the scripted model.
CODEX_CONFIG = """model = "scripted-1"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
suppress_unstable_features_warning = true
[model_providers.scripted]
name = "scripted"
base_url = "%s"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 2
supports_websockets = false
[features]
multi_agent_v2 = true
"""


def arguments(description):
    """Returns the parser of the options that every script takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="command of the server; --listen URL is added to it")
    parser.add_argument("--profile", choices=("trace", "codex"), default="trace",
                        help="how the server learns of its home and of the model (default: trace)")
    parser.add_argument("--trace", help="the trace program, to reduce the bundles that the server leaves")
    parser.add_argument("--relay", action="store_true", help="connect client and server through `trace relay` (with --trace)")
    parser.add_argument("--sealed", action="store_true",
                        help="connect them through `trace relay` and `trace relay connect`, so that the relay cannot read (with --trace)")
    parser.add_argument("--place", help="folder that gets everything, and is kept")
    return parser


class Setting:
    """A folder, the scripted model in this process, and the started servers; all of them end with the `with` block."""

    def __init__(self, options):
        self.options = options
        self.place = os.path.abspath(options.place) if options.place else tempfile.mkdtemp(prefix="clients-")
        self.home = self.folder("home")
        self.work = self.folder("work")
        self.bundles = self.folder("bundles")
        self.processes = []
        self.conversations = []
        self.logs = []
        sys.path.insert(0, STAND_IN)
        import scripted_model

        self.model_server, self.model_url = scripted_model.start(0, os.path.join(self.place, "model.jsonl"))
        if options.profile == "codex":
            with open(os.path.join(self.home, "config.toml"), "w") as file:
                file.write(CODEX_CONFIG % self.model_url)
        self.errors = open(os.path.join(self.place, "server.stderr"), "ab")
        self.relay = Relay(self) if options.relay or options.sealed else None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for process in reversed(self.processes):
            end(process)
        self.model_server.shutdown()
        if kind is not None:
            print("what happened is in " + self.place, file=sys.stderr)
        elif not self.options.place:
            shutil.rmtree(self.place, ignore_errors=True)

    def folder(self, name):
        path = os.path.join(self.place, name)
        os.makedirs(path, exist_ok=True)
        return path

    def environment(self):
        env = dict(os.environ, HOME=self.home, CODEX_HOME=self.home)
        if self.options.profile == "trace":
            env.update(OPENAI_BASE_URL=self.model_url, OPENAI_API_KEY="none", TRACE_HOME=self.home, TRACE_ROOT=self.bundles)
        return env

    def command(self, listen):
        return shlex.split(self.options.server) + ["--listen", listen]

    def listener(self, *more, port=None):
        """Starts a server that listens on loopback. Returns its URL and its process."""
        if self.relay:
            process = self.relay.server()
            return self.relay.client_url(), process
        url = "ws://127.0.0.1:%d" % (port or free_port())
        process = subprocess.Popen(self.command(url) + list(more), stdin=subprocess.DEVNULL, stdout=self.errors,
                                   stderr=self.errors, env=self.environment(), cwd=self.work, start_new_session=True)
        self.processes.append(process)
        until(lambda: listens(url, process), "the server listens", 60)
        return url, process

    def proxy(self, url):
        """Returns a proxy in front of the server, and its conversation."""
        conversation = Conversation(os.path.join(self.place, "conversation-%d.jsonl" % len(self.conversations)))
        self.conversations.append(conversation)
        return WebSocketProxy(url, conversation), conversation

    def stdio_command(self, name):
        """Returns the command of a recorded server for clients that start their own, and the file of the record."""
        log = os.path.join(self.place, name + ".jsonl")
        self.logs.append(log)
        return [sys.executable, os.path.join(HERE, "recording_proxy.py"), "stdio", "--log", log, "--"] + self.command("stdio://"), log

    def release(self, name):
        """Lets a script of the model continue that waits at a hold."""
        request = urllib.request.Request(self.model_url[: -len("/v1")] + "/release/" + name, method="POST", data=b"")
        urllib.request.urlopen(request, timeout=10).close()

    def model_requests(self, text=""):
        """Returns the requests to the model, as lines of JSON that contain a text."""
        with open(os.path.join(self.place, "model.jsonl"), encoding="utf-8") as log:
            return [line for line in log if text in line]

    def judge(self):
        """Validates every message against the schema. Fails with the ones that do not match."""
        judge = Judge(SCHEMA)
        conversations = self.conversations + [load(log) for log in self.logs]
        problems = [problem for conversation in conversations for problem in judge.problems(conversation)]
        count = sum(1 for conversation in conversations for entry in conversation.entries if entry["from"] == "server")
        assert count, "the server said nothing"
        assert not problems, "%d of %d messages do not fit:\n%s" % (len(problems), count, "\n".join(problems[:10]))
        print("%d messages of the server fit the schema" % count)

    def judge_bundles(self, at_least=1):
        """Reduces every bundle that the server left. Servers that leave none (the Codex CLI) are not judged."""
        if self.options.profile != "trace" or not self.options.trace:
            return
        bundles = sorted(glob.glob(os.path.join(self.bundles, "*.trace")))
        assert len(bundles) >= at_least, "%d bundles, wanted are %d" % (len(bundles), at_least)
        for bundle in bundles:
            done = subprocess.run([self.options.trace, "reduce", bundle, "-o", "-"], capture_output=True, text=True)
            assert done.returncode == 0, "%s does not reduce: %s" % (bundle, done.stderr)
        print("%d bundles reduce" % len(bundles))


class Relay:
    """A relay with one device, and a client's token for it; with `--sealed`, also the program beside the client that seals its messages."""

    def __init__(self, setting):
        self.setting = setting
        self.sealed_url = None
        self.devices = os.path.join(setting.place, "devices.json")
        self.token_file = os.path.join(setting.place, "device.token")
        self.url = "ws://127.0.0.1:%d" % free_port()
        secret_file(self.token_file, self.trace("add", "laptop"))
        self.start("relay", "--devices", self.devices, "--listen", self.url, until_listens=self.url)
        body = json.dumps({"code": self.trace("pair", "laptop").strip(), "name": "terminal"}).encode()
        with urllib.request.urlopen(self.url.replace("ws:", "http:") + "/pair", body, timeout=10) as answer:
            self.token = json.load(answer)["token"]

    def trace(self, *words):
        command = [self.setting.options.trace, "relay", "--devices", self.devices, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def start(self, *words, until_listens=None, input=None):
        command = shlex.split(self.setting.options.server)[:1] + list(words)
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.setting.errors, stderr=self.setting.errors,
                                   env=self.setting.environment(), cwd=self.setting.work, start_new_session=True, text=True)
        self.setting.processes.append(process)
        process.stdin.write(input or "")
        process.stdin.close()
        if until_listens:
            until(lambda: listens(until_listens, process), "%s listens" % words[0], 60)
        return process

    def client_url(self):
        """Returns where clients connect. The program that seals goes on while servers come and go."""
        if not self.setting.options.sealed:
            return self.url
        if self.sealed_url is None:
            self.sealed_url = "ws://127.0.0.1:%d" % free_port()
            token, keys = (os.path.join(self.setting.place, name) for name in ("client.token", "client.keys"))
            secret_file(token, self.token)
            code = subprocess.run([self.setting.options.trace, "serve", "seal", "add", "terminal"], check=True, capture_output=True,
                                  text=True, env=self.setting.environment()).stdout
            self.start("relay", "connect", self.url, "--token-file", token, "--seal", keys, "--listen", self.sealed_url,
                       until_listens=self.sealed_url, input=code)
        return self.sealed_url

    def server(self):
        """Starts a server that dials the relay. Returns its process."""
        begin = os.path.getsize(self.setting.errors.name)
        words = shlex.split(self.setting.options.server)[1:]
        words += ["--sealed-only"] if self.setting.options.sealed else []
        process = self.start(*words, "--remote", self.url, "--device-token-file", self.token_file)

        def is_connected():
            with open(self.setting.errors.name, errors="replace") as file:
                file.seek(begin)
                return ": connected" in file.read()

        until(is_connected, "the server has dialled the relay", 60)
        return process


def secret_file(path, text):
    """Writes a file that only its owner can read: others are refused."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


def script(*steps, text="go"):
    """Returns a prompt that carries a script for the scripted model."""
    return text + " RUN " + json.dumps(list(steps))


def shell(command, **more):
    """Returns the call of the shell tool."""
    return {"call": "exec_command", "args": dict(cmd=command, **more)}


def asking(command):
    """Returns a call that has to be approved."""
    return shell(command, sandbox_permissions="require_escalated", justification="the test wants to be asked")


def agents(name, **arguments):
    """Returns the call of a tool that has to do with agents."""
    return {"call": name, "ns": "collaboration", "args": arguments}


def spawn(name, *steps):
    """Returns the call that starts an agent, which plays a script of its own."""
    return agents("spawn_agent", task_name=name, message=script(*steps), fork_turns="none")


def wait():
    """Returns the call that waits for mail. In the answer that also leads to the mail, it waits for nothing that was seen before."""
    return agents("wait_agent", timeout_ms=60000)


def until(condition, what, seconds=30):
    """Waits until something holds, and returns it."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "in vain: " + what
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(url, process):
    assert process.poll() is None, "the server ended with status %s" % process.returncode
    host, port = url[len("ws://"):].rsplit(":", 1)
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
        return True
    return False


def end(process, patience=10):
    """Ends a process group that this program started: politely, then by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience)


class Steps:
    """Says which step runs, so that a failure tells where."""

    def __init__(self):
        self.began = time.monotonic()

    def __call__(self, what):
        print("%6.1f s  %s" % (time.monotonic() - self.began, what), flush=True)


def watchdog(seconds):
    """Ends this program with a stack of every thread when it takes longer: a client that waits for ever must not hang a test."""
    import faulthandler

    faulthandler.dump_traceback_later(seconds, exit=True)
