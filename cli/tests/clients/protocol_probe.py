#!/usr/bin/env python3
"""Conformance probe for a server of the app-server protocol (v2).

    protocol_probe.py --cmd "SERVER COMMAND" [--profile codex|project] [--only TEXT] [-v]
    protocol_probe.py --ws ws://127.0.0.1:PORT --model-port N

Needs python3 with the packages jsonschema and websockets (zstandard only for servers that compress
their model requests). The probe starts the scripted model (samples/stand-in/scripted_model.py) and as many
fresh servers as it needs: SERVER COMMAND must accept `--listen URL` with stdio://, ws://IP:PORT and
unix://PATH ({listen} in the command is replaced, otherwise `--listen URL` is appended). It prints one
line per check (ok, FAIL, skip) and closes with `N passed, N failed`.

How a started server finds the model:
  --profile codex    a fresh CODEX_HOME whose config.toml names the scripted model as provider
  --profile project  OPENAI_BASE_URL, OPENAI_API_KEY=dummy, TRACE_HOME (and CODEX_HOME) point to
                     fresh places; more by --env KEY=VALUE ({base} = model URL, {home} = fresh folder)
With --ws the server is already running: configure it to use the model URL http://127.0.0.1:N/v1.

Tool names that the scripts call can be changed: --shell-tool, --shell-arg, --patch, --agent-namespace.
A check marked "beyond the peer" asks for more than the reference server does.
"""
import argparse
import json
import os
import queue
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../samples/stand-in"))
import scripted_model  # noqa: E402

SCHEMA_DIR = os.path.normpath(os.path.join(HERE, "../../../server/protocol/peer-schema"))


class Failed(Exception):
    """A check did not hold."""


class Skipped(Exception):
    """A check does not apply to this server or this way of running."""


def need(condition, message, *details):
    if not condition:
        raise Failed(message + "".join(" | " + short(d) for d in details))


def short(value, width=400):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= width else text[:width] + "..."


# ---------------------------------------------------------------- schema

class Schemas:
    def __init__(self, folder):
        import jsonschema
        from referencing import Registry, Resource
        from referencing.jsonschema import DRAFT7
        self.validator_class = jsonschema.Draft7Validator
        with open(os.path.join(folder, "experimental.schemas.json")) as f:
            bundle = json.load(f)
        self.definitions = bundle["definitions"]
        self.registry = Registry().with_resource("urn:bundle", Resource(contents=bundle, specification=DRAFT7))
        with open(os.path.join(folder, "methods.json")) as f:
            self.methods = json.load(f)
        self.cache = {}
        self.lock = threading.Lock()

    def errors(self, name, value):
        with self.lock:
            if name not in self.cache:
                self.cache[name] = self.validator_class(
                    {"$ref": "urn:bundle#/definitions/" + name}, registry=self.registry)
            found = sorted(self.cache[name].iter_errors(value), key=lambda e: len(e.path))
        return ["%s at %s: %s" % (name, "/".join(map(str, e.absolute_path)) or "(top)", e.message[:300]) for e in found[:2]]

    def check_incoming(self, message, pending_methods):
        """Problems of one message from the server."""
        if not isinstance(message, dict):
            return ["message is not an object: " + short(message)]
        if "jsonrpc" in message:
            return ["message carries a jsonrpc field"]
        if "method" in message:
            method = message["method"]
            if "id" in message:
                entry = self.methods["serverRequests"].get(method)
                kind = "server request"
            else:
                entry = self.methods["serverNotifications"].get(method)
                kind = "notification"
            if entry is None:
                return ["unknown %s %s" % (kind, method)]
            if entry["params"]:
                return self.errors(entry["params"], message.get("params"))
            return []
        if "id" not in message:
            return ["message has neither method nor id: " + short(message)]
        if "error" in message:
            error = message["error"]
            if not isinstance(error, dict) or not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
                return ["malformed error: " + short(message)]
            return []
        if "result" not in message:
            return ["response has neither result nor error: " + short(message)]
        method = pending_methods.get(message["id"])
        if method is None:
            return ["response to no pending request: " + short(message)]
        entry = self.methods["clientRequests"].get(method)
        if entry and entry["result"]:
            return self.errors(entry["result"], message["result"])
        return []


# ---------------------------------------------------------------- transports

class StdioLink:
    kind = "stdio"

    def __init__(self, argv, env, cwd, errlog):
        self.proc = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errlog,
                                     env=env, cwd=cwd, start_new_session=True)
        self.write_lock = threading.Lock()

    def send_text(self, text):
        with self.write_lock:
            self.proc.stdin.write(text.encode() + b"\n")
            self.proc.stdin.flush()

    def incoming(self):
        for line in self.proc.stdout:
            yield line.decode("utf-8", "replace").rstrip("\n")

    def close_input(self):
        try:
            self.proc.stdin.close()
        except OSError:
            pass

    def close(self):
        self.close_input()
        end_process(self.proc)


class WsLink:
    kind = "ws"

    def __init__(self, url, headers=None, max_size=None):
        from websockets.sync.client import connect, unix_connect
        options = dict(additional_headers=headers or {}, max_size=max_size, compression=None, open_timeout=10, close_timeout=2)
        if url.startswith("unix://"):
            opening = unix_connect(url[len("unix://"):], uri="ws://localhost/", **options)
        else:
            opening = connect(url, **options)
        self.socket = opening.__enter__()

    def send_text(self, text):
        self.socket.send(text)

    def incoming(self):
        try:
            for message in self.socket:
                yield message if isinstance(message, str) else message.decode("utf-8", "replace")
        except Exception:
            return

    def close_input(self):
        self.close()

    def close(self):
        try:
            self.socket.close()
        except Exception:
            pass

    def abort(self):
        """Drop the connection without a closing handshake."""
        try:
            self.socket.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def end_process(proc, patience=5):
    try:
        proc.wait(patience)
        return
    except subprocess.TimeoutExpired:
        pass
    for sig in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(proc.pid, sig)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            proc.wait(3)
            return
        except subprocess.TimeoutExpired:
            continue


class Connection:
    """One client connection; every received message is kept and validated."""

    def __init__(self, link, world):
        self.link = link
        self.world = world
        self.seen = []
        self.raw_count = 0
        self.problems = []
        self.pending = {}
        self.answers = {}
        self.condition = threading.Condition()
        self.closed = False
        self.next_id = 1
        self.handlers = {}
        threading.Thread(target=self._read, daemon=True).start()

    # -- receiving
    def _read(self):
        for text in self.link.incoming():
            try:
                message = json.loads(text)
            except ValueError:
                with self.condition:
                    self.problems.append("not JSON: " + short(text))
                continue
            problems = self.world.schemas.check_incoming(message, self.pending)
            handler = None
            with self.condition:
                self.problems += ["%s :: %s" % (p, short(message, 300)) for p in problems]
                if isinstance(message, dict):
                    self.seen.append(message)
                    if "method" not in message and "id" in message:
                        self.answers[message["id"]] = message
                    elif "id" in message:
                        handler = self.handlers.get(message["method"])
                self.condition.notify_all()
            if handler:
                answer = handler(message)
                if answer is not None:
                    self.reply(message["id"], answer)
        with self.condition:
            self.closed = True
            self.condition.notify_all()

    def mark(self):
        with self.condition:
            return len(self.seen)

    def since(self, mark=0):
        with self.condition:
            return self.seen[mark:]

    def notes(self, method=None, mark=0, **fields):
        out = []
        for message in self.since(mark):
            if "method" in message and "id" not in message and (method is None or message["method"] == method):
                params = message.get("params") or {}
                if all(dig(params, key) == value for key, value in fields.items()):
                    out.append(message)
        return out

    def wait(self, predicate, timeout=20, mark=0, what="message"):
        deadline = time.monotonic() + timeout
        position = mark
        with self.condition:
            while True:
                while position < len(self.seen):
                    if predicate(self.seen[position]):
                        return self.seen[position]
                    position += 1
                left = deadline - time.monotonic()
                if left <= 0 or self.closed:
                    tail = [m.get("method") or ("error" if "error" in m else "result") for m in self.seen[-12:]]
                    raise Failed("%s waiting for %s; last: %s" % (
                        "connection closed while" if self.closed else "timed out", what, tail))
                self.condition.wait(left)

    def note(self, method, timeout=20, mark=0, **fields):
        return self.wait(lambda m: m.get("method") == method and "id" not in m and all(
            dig(m.get("params") or {}, k) == v for k, v in fields.items()), timeout, mark, method + str(fields or ""))["params"]

    def server_request(self, method, timeout=20, mark=0):
        return self.wait(lambda m: m.get("method") == method and "id" in m, timeout, mark, "request " + method)

    def wait_closed(self, timeout=10):
        deadline = time.monotonic() + timeout
        with self.condition:
            while not self.closed:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise Failed("connection stayed open")
                self.condition.wait(left)

    # -- sending
    def send(self, message):
        self.link.send_text(json.dumps(message))

    def post(self, method, params=None, id=None):
        with self.condition:
            if id is None:
                id = self.next_id
                self.next_id += 1
            self.pending[id] = method
        message = {"id": id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return id

    def answer(self, id, timeout=20):
        deadline = time.monotonic() + timeout
        with self.condition:
            while id not in self.answers:
                left = deadline - time.monotonic()
                if left <= 0 or self.closed:
                    raise Failed("no answer to %s (id %s)%s" % (self.pending.get(id), id, ", connection closed" if self.closed else ""))
                self.condition.wait(left)
            return self.answers[id]

    def raw(self, method, params=None, timeout=20, id=None):
        return self.answer(self.post(method, params, id), timeout)

    def call(self, method, params=None, timeout=20):
        message = self.raw(method, params, timeout)
        if "error" in message:
            raise Failed("%s failed: %s" % (method, short(message["error"])))
        return message["result"]

    def refused(self, method, params=None, code=None, text=None, timeout=20):
        message = self.raw(method, params, timeout)
        need("error" in message, "%s was accepted" % method, message)
        error = message["error"]
        if code is not None:
            wanted = code if isinstance(code, tuple) else (code,)
            need(error["code"] in wanted, "%s: error code %s, wanted %s" % (method, error["code"], wanted), error)
        if text is not None:
            need(re.search(text, error["message"], re.I), "%s: message does not match %r" % (method, text), error)
        return error

    def notify(self, method, params=None):
        message = {"method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def reply(self, id, result):
        self.send({"id": id, "result": result})

    def reply_error(self, id, code, text):
        self.send({"id": id, "error": {"code": code, "message": text}})

    def initialize(self, experimental=True, opt_out=None, name="protocol_probe"):
        params = {"clientInfo": {"name": name, "title": "Protocol probe", "version": "1.0"},
                  "capabilities": {"experimentalApi": experimental}}
        if opt_out is not None:
            params["capabilities"]["optOutNotificationMethods"] = opt_out
        result = self.call("initialize", params, 30)
        self.notify("initialized")
        return result

    def close(self):
        self.link.close()


def dig(value, path):
    for part in path.split("__"):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


# ---------------------------------------------------------------- world

CODEX_CONFIG = """model = "scripted-1"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
suppress_unstable_features_warning = true
[model_providers.scripted]
name = "scripted"
base_url = "{base}"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 2
supports_websockets = false
[features]
multi_agent_v2 = true
{extra}"""


class World:
    """The scripted model plus as many fresh servers as the checks ask for."""

    def __init__(self, options):
        self.options = options
        self.schemas = Schemas(options.schema or SCHEMA_DIR)
        self.root = tempfile.mkdtemp(prefix="probe-", dir=options.tmp)
        self.model_server, self.base = scripted_model.start(options.model_port, os.path.join(self.root, "model.log"))
        self.errlog = open(os.path.join(self.root, "server.stderr"), "ab")
        self.homes = 0
        self.live = []
        self.shared = None

    # model control
    def model(self, path, post=False):
        request = urllib.request.Request(self.base[:-3] + path, method="POST" if post else "GET", data=b"" if post else None)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def release(self, name):
        self.model("/release/" + name, True)

    def model_requests(self):
        return self.model("/requests")

    # servers
    def new_home(self, extra=""):
        self.homes += 1
        home = os.path.join(self.root, "home%d" % self.homes)
        os.makedirs(os.path.join(home, "work"))
        if self.options.profile == "codex":
            with open(os.path.join(home, "config.toml"), "w") as f:
                f.write(CODEX_CONFIG.format(base=self.base, extra=extra))
        return home

    def environment(self, home):
        env = dict(os.environ)
        env["HOME"] = home  # login shells must not run the tester's own start-up files
        if self.options.profile == "codex":
            env["CODEX_HOME"] = home
        else:
            env.update({"OPENAI_BASE_URL": self.base, "OPENAI_API_KEY": "dummy", "TRACE_HOME": os.path.join(home, "traces"),
                        "CODEX_HOME": home})
        for pair in self.options.env or []:
            key, _, value = pair.partition("=")
            env[key] = value.replace("{base}", self.base).replace("{home}", home)
        return env

    def argv(self, listen):
        words = shlex.split(self.options.cmd)
        # servers run in folders of their own: paths given relative to the present one are resolved
        words = [os.path.abspath(word) if "/" in word and os.path.isfile(word) else word for word in words]
        if "{listen}" in self.options.cmd:
            return [word.replace("{listen}", listen) for word in words]
        return words + ["--listen", listen]

    def stdio(self, home=None):
        if not self.options.cmd:
            raise Skipped("needs --cmd")
        home = home or self.new_home()
        connection = Connection(StdioLink(self.argv("stdio://"), self.environment(home), os.path.join(home, "work"), self.errlog), self)
        connection.home = home
        self.live.append(connection)
        return connection

    def listener(self, extra_args=(), home=None, unix=False):
        """A fresh server on a loopback WebSocket port (or a unix socket)."""
        if not self.options.cmd:
            raise Skipped("needs --cmd")
        home = home or self.new_home()
        if unix:
            url = "unix://" + os.path.join(home, "s.sock")
        else:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            url = "ws://127.0.0.1:%d" % port
        proc = subprocess.Popen(self.argv(url) + list(extra_args), stdin=subprocess.DEVNULL, stdout=self.errlog,
                                stderr=self.errlog, env=self.environment(home), cwd=os.path.join(home, "work"), start_new_session=True)
        server = Listener(self, url, proc, home)
        self.live.append(server)
        server.wait_ready()
        return server

    def common(self):
        """The listener that most checks share."""
        if self.options.ws:
            if self.shared is None:
                self.shared = Listener(self, self.options.ws, None, None)
                self.live.append(self.shared)
            return self.shared
        if self.shared is None or self.shared.proc.poll() is not None:
            self.shared = self.listener()
        return self.shared

    def cleanup(self):
        for thing in self.live:
            try:
                thing.close()
            except Exception:
                pass
        self.model_server.shutdown()
        if not self.options.keep:
            shutil.rmtree(self.root, ignore_errors=True)


class Listener:
    def __init__(self, world, url, proc, home):
        self.world, self.url, self.proc, self.home = world, url, proc, home
        self.connections = []

    def http(self, path, headers=None, method="GET"):
        request = urllib.request.Request("http" + self.url[2:] + path, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=5) as response:
                return response.status
        except urllib.error.HTTPError as err:
            return err.code

    def wait_ready(self, timeout=30):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.proc is not None and self.proc.poll() is not None:
                raise Failed("server ended with status %s before it was ready" % self.proc.returncode)
            try:
                if self.url.startswith("unix://"):
                    with socket.socket(socket.AF_UNIX) as s:
                        s.connect(self.url[7:])
                    return
                host, port = self.url[5:].split("/")[0].rsplit(":", 1)
                with socket.create_connection((host, int(port)), 1):
                    return
            except OSError:
                time.sleep(0.05)
        raise Failed("server did not listen on %s" % self.url)

    def bare(self, headers=None):
        connection = Connection(WsLink(self.url, headers), self.world)
        connection.home = self.home
        self.connections.append(connection)
        return connection

    def client(self, experimental=True, opt_out=None, headers=None):
        connection = self.bare(headers)
        connection.initialize(experimental, opt_out)
        return connection

    def close(self):
        for connection in self.connections:
            connection.close()
        if self.proc is not None and self.proc.poll() is None:
            try:
                os.killpg(self.proc.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
            end_process(self.proc, 3)


def script(*steps, text="go"):
    """User input that carries a script for the scripted model."""
    return [{"type": "text", "text": text + " RUN " + json.dumps(list(steps))}]


# ---------------------------------------------------------------- helpers used by the checks

CHECKS = []


def check(group, beyond=False):
    """Register a check; `beyond` marks one that the reference peer (0.169) does not satisfy."""
    def register(function):
        CHECKS.append((group, function.__name__, function, beyond))
        return function
    return register


def start_thread(c, **params):
    return c.call("thread/start", params)["thread"]["id"]


def start_turn(c, thread, *steps, **params):
    params.setdefault("input", script(*steps))
    return c.call("turn/start", dict(threadId=thread, **params))["turn"]["id"]


def run_turn(c, thread, *steps, timeout=30, **params):
    """Run a whole turn; returns (turn id, its messages, the final turn object)."""
    mark = c.mark()
    turn = start_turn(c, thread, *steps, **params)
    done = c.note("turn/completed", timeout, mark, threadId=thread, turn__id=turn)
    return turn, c.since(mark), done["turn"]


def shell(world, command, **extra):
    args = dict(extra)
    args[world.options.shell_arg] = command
    return {"call": world.options.shell_tool, "args": args}


def escalated(world, command):
    return shell(world, command, sandbox_permissions="require_escalated", justification="probe asks")


def patch_call(world, patch):
    if world.options.patch == "heredoc":
        return shell(world, "apply_patch <<'EOF'\n" + patch + "EOF\n")
    if world.options.patch == "custom":
        return {"custom": "apply_patch", "input": patch}
    return {"call": "apply_patch", "args": {"input": patch}}


def of(messages, method):
    return [m["params"] for m in messages if m.get("method") == method and "id" not in m]


def positions(messages, method, **fields):
    return [i for i, m in enumerate(messages) if m.get("method") == method and all(
        dig(m.get("params") or {}, k) == v for k, v in fields.items())]


def asking(c, **extra):
    """A thread on which an escalated command has to be approved."""
    params = dict(sandbox="read-only", approvalPolicy="on-request")
    params.update(extra)
    return start_thread(c, **params)


def settle(seconds=0.4):
    time.sleep(seconds)


def items_of(turns):
    return [item for turn in turns for item in turn["items"]]


def texts(items, kind="agentMessage"):
    return [item["text"] for item in items if item["type"] == kind]


# ---------------------------------------------------------------- handshake and envelopes

@check("envelope")
def initialize_reports_identity(w):
    c = w.common().bare()
    r = c.initialize(name="probe_identity")
    need(r["userAgent"].startswith("probe_identity/"), "userAgent must be CLIENTNAME/VERSION ...", r)
    need(re.match(r"^[^/]+/\d+\.\d+\.\d+", r["userAgent"]), "userAgent lacks a version", r)
    need(r["platformFamily"] == "unix" and r["platformOs"], "platform fields", r)
    need(os.path.isabs(r["codexHome"]), "codexHome must be absolute", r)


@check("envelope")
def requests_before_initialize_are_refused(w):
    c = w.common().bare()
    c.refused("thread/list", {}, -32600, "not initialized")
    c.refused("thread/start", {}, -32600, "not initialized")
    c.initialize()
    c.call("thread/list", {})


@check("envelope")
def nothing_is_sent_before_initialize(w):
    s = w.common()
    quiet, busy = s.bare(), s.client()
    run_turn(busy, start_thread(busy), [{"say": "noise"}])
    settle()
    need(quiet.since() == [], "an uninitialised connection received messages", quiet.since())


@check("envelope")
def second_initialize_is_refused(w):
    c = w.common().client()
    c.refused("initialize", {"clientInfo": {"name": "again", "version": "1"}}, -32600, "already initialized")
    c.call("thread/loaded/list", {})


@check("envelope")
def initialize_with_bad_params_can_be_retried(w):
    c = w.common().bare()
    c.refused("initialize", {"clientInfo": {"name": "x"}}, (-32600, -32602))
    c.refused("initialize", {"clientInfo": {"name": "bad\nname", "version": "1"}}, -32600, "clientInfo.name")
    c.initialize()


@check("envelope")
def initialized_notification_is_optional(w):
    c = w.common().bare()
    c.call("initialize", {"clientInfo": {"name": "silent", "version": "1"}})
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "ok"}])


@check("envelope")
def malformed_json_is_ignored(w):
    c = w.common().client()
    mark = c.mark()
    for text in ("this is not json", "{\"id\": 5,", "[]", "{\"foo\": 1}", "12", "\"x\""):
        c.link.send_text(text)
    c.call("thread/loaded/list", {})
    stray = [m for m in c.since(mark) if "error" in m]
    need(not stray, "malformed input was answered", stray)


@check("envelope")
def unknown_method_is_an_error(w):
    c = w.common().client()
    error = c.refused("no/such/method", {}, (-32600, -32601))
    need("no/such/method" in error["message"], "message should name the method", error)
    c.call("thread/loaded/list", {})


@check("envelope")
def bad_params_are_an_error(w):
    c = w.common().client()
    c.refused("thread/read", {"threadId": 5}, (-32600, -32602))
    c.refused("thread/read", {}, (-32600, -32602))
    c.refused("thread/read", None, (-32600, -32602))
    c.refused("turn/start", {"threadId": start_thread(c)}, (-32600, -32602))
    c.refused("thread/start", {"sandbox": "bogus"}, (-32600, -32602))
    c.refused("thread/start", {"approvalPolicy": "bogus"}, (-32600, -32602))
    c.refused("thread/list", {"limit": -1}, (-32600, -32602))


@check("envelope")
def string_and_integer_ids_are_echoed(w):
    c = w.common().client()
    for id in ("abc", "7", 7000, 0, -3, "uuid-0b6e"):
        need(c.raw("thread/loaded/list", {}, id=id)["id"] == id, "id not echoed exactly", str(id))


@check("envelope")
def jsonrpc_field_is_accepted_and_never_sent(w):
    c = w.common().client()
    c.pending[4242] = "thread/loaded/list"
    c.send({"jsonrpc": "2.0", "id": 4242, "method": "thread/loaded/list", "params": {}})
    need("jsonrpc" not in c.answer(4242), "jsonrpc field on the wire")


@check("envelope")
def unknown_fields_are_ignored(w):
    c = w.common().client()
    c.call("thread/start", {"someFutureField": {"a": [1]}, "cwd": None})


@check("envelope")
def stray_responses_and_notifications_are_ignored(w):
    c = w.common().client()
    c.reply(999999, {"decision": "accept"})
    c.reply_error(999998, -1, "nothing")
    c.notify("made/up/notification", {"x": 1})
    c.notify("initialized")
    c.call("thread/loaded/list", {})


@check("envelope")
def experimental_methods_need_the_capability(w):
    c = w.common().client(experimental=False)
    error = c.refused("collaborationMode/list", {}, -32600, "experimentalApi")
    need("collaborationMode/list" in error["message"], "message should name the method", error)
    c.refused("mock/experimentalMethod", {}, -32600, "experimentalApi") if w.options.profile == "codex" else None
    c.call("thread/loaded/list", {})


@check("envelope")
def experimental_fields_need_the_capability(w):
    s = w.common()
    tool = {"type": "function", "name": "probe_tool", "description": "d", "inputSchema": {"type": "object", "properties": {}}}
    s.client(experimental=False).refused("thread/start", {"dynamicTools": [tool]}, -32600, "experimentalApi")
    s.client(experimental=True).call("thread/start", {"dynamicTools": [tool]})


@check("envelope")
def opted_out_notifications_are_withheld(w):
    c = w.common().client(opt_out=["item/agentMessage/delta", "thread/started", "no/such/thing"])
    thread = start_thread(c)
    _, seen, _ = run_turn(c, thread, [{"say": "some longer text that needs several pieces to stream"}])
    methods = {m.get("method") for m in c.since()}
    need("item/agentMessage/delta" not in methods and "thread/started" not in methods, "opted-out notification arrived")
    need(of(seen, "item/completed") and of(seen, "turn/completed"), "other notifications must still arrive")


@check("envelope")
def opt_out_is_per_connection(w):
    s = w.common()
    a, b = s.client(opt_out=["item/agentMessage/delta"]), s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "first"}])
    b.call("thread/resume", {"threadId": thread})
    mark = b.mark()
    run_turn(a, thread, [{"say": "second text"}])
    b.note("turn/completed", mark=mark)
    need(b.notes("item/agentMessage/delta", mark), "the other connection lost its deltas")
    need(not a.notes("item/agentMessage/delta"), "opt-out not honoured")


# ---------------------------------------------------------------- threads

@check("thread")
def thread_start_result_is_complete(w):
    c = w.common().client()
    r = c.call("thread/start", {"cwd": w.root, "approvalPolicy": "on-request", "sandbox": "read-only"})
    t = r["thread"]
    need(t["status"] == {"type": "idle"} and t["turns"] == [] and t["preview"] == "" and t["ephemeral"] is False, "fresh thread fields", t)
    need(re.match(r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-", t["id"]), "thread id should be a UUIDv7", t["id"])
    need(t["sessionId"] == t["id"] and t["forkedFromId"] is None, "a root thread is its own session", t)
    need(t["path"] and t["path"].endswith(t["id"] + ".jsonl"), "path names the rollout file", t["path"])
    need(os.path.realpath(r["cwd"]) == os.path.realpath(w.root), "cwd", r["cwd"])
    need(r["approvalPolicy"] == "on-request" and r["sandbox"]["type"] == "readOnly", "policy echo", r)
    need(abs(t["createdAt"] - time.time()) < 120, "createdAt is in Unix seconds", t["createdAt"])


@check("thread")
def thread_started_follows_the_response(w):
    c = w.common().client()
    mark = c.mark()
    thread = start_thread(c)
    c.note("thread/started", mark=mark, thread__id=thread)
    seen = c.since(mark)
    answer = [i for i, m in enumerate(seen) if "result" in m][0]
    need(answer < positions(seen, "thread/started")[0], "thread/started came before the response")
    need(not positions(seen, "thread/status/changed"), "no separate status change for a fresh thread")


@check("thread")
def thread_started_reaches_other_clients(w):
    s = w.common()
    a, b = s.client(), s.client()
    mark = b.mark()
    thread = start_thread(a)
    b.note("thread/started", mark=mark, thread__id=thread)


@check("thread")
def unknown_threads_are_refused(w):
    c = w.common().client()
    ghost = "01a00000-0000-7000-8000-000000000001"
    for method, params in (("thread/read", {}), ("thread/resume", {}), ("thread/fork", {}), ("thread/archive", {}),
                           ("turn/start", {"input": []}), ("turn/interrupt", {"turnId": "x"}),
                           ("thread/compact/start", {}), ("thread/name/set", {"name": "x"})):
        c.refused(method, dict(params, threadId=ghost), -32600)
    for method in ("thread/read", "thread/resume"):
        c.refused(method, {"threadId": "not-a-uuid"}, -32600, "invalid|not found|no rollout")


@check("thread")
def loaded_list_names_the_live_threads(w):
    c = w.common().client()
    thread = start_thread(c)
    ids, cursor = [], None
    for _ in range(50):
        page = c.call("thread/loaded/list", {"limit": 3, "cursor": cursor})
        ids += page["data"]
        cursor = page["nextCursor"]
        if not cursor:
            break
    need(thread in ids, "fresh thread is not in thread/loaded/list")
    need(len(ids) == len(set(ids)), "paging repeated an id")


@check("thread")
def ephemeral_threads_leave_no_trace(w):
    c = w.common().client()
    r = c.call("thread/start", {"ephemeral": True})["thread"]
    need(r["ephemeral"] is True and r["path"] is None, "ephemeral thread has no path", r)
    run_turn(c, r["id"], [{"say": "x"}])
    listed = [t["id"] for t in c.call("thread/list", {"limit": 200})["data"]]
    need(r["id"] not in listed, "ephemeral thread is listed")
    c.refused("thread/read", {"threadId": r["id"], "includeTurns": True}, -32600)
    c.refused("thread/archive", {"threadId": r["id"]}, -32600)


@check("thread")
def read_returns_history_without_subscribing(w):
    s = w.common()
    a, b = s.client(), s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "one"}])
    need(b.call("thread/read", {"threadId": thread})["thread"]["turns"] == [], "turns only with includeTurns")
    full = b.call("thread/read", {"threadId": thread, "includeTurns": True})["thread"]
    need(len(full["turns"]) == 1 and texts(items_of(full["turns"])) == ["one"], "history", full["turns"])
    need(full["turns"][0]["status"] == "completed" and full["preview"].startswith("go RUN"), "turn status / preview", full)
    mark = b.mark()
    run_turn(a, thread, [{"say": "two"}])
    settle()
    need(not [m for m in b.since(mark) if str(m.get("method")).startswith(("item/", "turn/"))], "thread/read subscribed the caller")


@check("thread")
def names_are_set_and_announced(w):
    s = w.common()
    a, b = s.client(), s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "x"}])
    mark_a, mark_b = a.mark(), b.mark()
    need(a.call("thread/name/set", {"threadId": thread, "name": "  My probe thread "}) == {}, "result must be {}")
    for c, mark in ((a, mark_a), (b, mark_b)):
        need(c.note("thread/name/updated", mark=mark, threadId=thread)["threadName"] == "My probe thread", "trimmed name")
    need(a.call("thread/read", {"threadId": thread})["thread"]["name"] == "My probe thread", "name is stored")
    a.refused("thread/name/set", {"threadId": thread, "name": "   "}, -32600)


@check("thread")
def archive_and_unarchive(w):
    s = w.common()
    a, b = s.client(), s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "to archive"}])
    path = a.call("thread/read", {"threadId": thread})["thread"]["path"]
    mark_a, mark_b = a.mark(), b.mark()
    need(a.call("thread/archive", {"threadId": thread}) == {}, "result must be {}")
    a.note("thread/archived", mark=mark_a, threadId=thread)
    b.note("thread/archived", mark=mark_b, threadId=thread)
    a.note("thread/status/changed", mark=mark_a, threadId=thread, status__type="notLoaded")
    need(thread not in [t["id"] for t in a.call("thread/list", {"limit": 200})["data"]], "archived thread still listed")
    listed = [t for t in a.call("thread/list", {"limit": 200, "archived": True})["data"] if t["id"] == thread]
    need(listed and listed[0]["path"] != path, "archived thread must be listed with archived:true, under its new path", listed)
    a.refused("turn/start", {"threadId": thread, "input": script([{"say": "no"}])}, -32600)
    a.refused("thread/resume", {"threadId": thread}, -32600, "archived")
    mark_b = b.mark()
    back = a.call("thread/unarchive", {"threadId": thread})["thread"]
    need(back["id"] == thread and back["status"]["type"] == "notLoaded", "unarchive returns the stored thread", back)
    b.note("thread/unarchived", mark=mark_b, threadId=thread)
    need(thread in [t["id"] for t in a.call("thread/list", {"limit": 200})["data"]], "unarchived thread not listed")
    a.call("thread/resume", {"threadId": thread})
    run_turn(a, thread, [{"say": "alive again"}])


@check("thread")
def delete_removes_a_thread(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "x"}])
    path = c.call("thread/read", {"threadId": thread})["thread"]["path"]
    mark = c.mark()
    c.call("thread/delete", {"threadId": thread})
    c.note("thread/deleted", mark=mark, threadId=thread)
    c.refused("thread/resume", {"threadId": thread}, -32600)
    need(not os.path.exists(path), "rollout file survived thread/delete")
    need(thread not in [t["id"] for t in c.call("thread/list", {"limit": 200})["data"]], "still listed")


@check("thread")
def fork_copies_history(w):
    c = w.common().client()
    source = start_thread(c)
    run_turn(c, source, [{"say": "shared past"}])
    mark = c.mark()
    r = c.call("thread/fork", {"threadId": source})
    fork = r["thread"]
    need(fork["id"] != source and fork["forkedFromId"] == source, "fork identity", fork)
    need(texts(items_of(fork["turns"])) == ["shared past"], "fork carries history", fork["turns"])
    c.note("thread/started", mark=mark, thread__id=fork["id"])
    run_turn(c, fork["id"], [{"say": "only in fork"}])
    sent = json.dumps(w.model_requests()[-1]["body"]["input"])
    need("shared past" in sent, "the model must see the forked history")
    mine = texts(items_of(c.call("thread/read", {"threadId": source, "includeTurns": True})["thread"]["turns"]))
    need(mine == ["shared past"], "source thread changed", mine)
    theirs = texts(items_of(c.call("thread/read", {"threadId": fork["id"], "includeTurns": True})["thread"]["turns"]))
    need(theirs == ["shared past", "only in fork"], "fork history", theirs)


@check("thread")
def fork_of_a_running_thread_is_marked_interrupted(w):
    c = w.common().client()
    source = start_thread(c)
    run_turn(c, source, [{"say": "before"}])
    mark = c.mark()
    turn = start_turn(c, source, [{"say": "partial"}, {"hold": "forkrun"}], [{"say": "never"}])
    c.note("item/completed", mark=mark, item__type="agentMessage")
    try:
        fork = c.call("thread/fork", {"threadId": source})["thread"]
    finally:
        w.release("forkrun")
    need(fork["status"]["type"] == "idle", "fork must be idle", fork["status"])
    need(not [t for t in fork["turns"] if t["status"] == "inProgress"], "fork holds an unfinished turn", fork["turns"])
    need(fork["turns"][-1]["status"] == "interrupted", "the copied running turn must be interrupted", fork["turns"][-1]["status"])
    c.note("turn/completed", mark=mark, threadId=source, turn__id=turn)


@check("thread")
def ephemeral_fork_has_no_path(w):
    c = w.common().client()
    source = start_thread(c)
    run_turn(c, source, [{"say": "x"}])
    fork = c.call("thread/fork", {"threadId": source, "ephemeral": True, "excludeTurns": True})["thread"]
    need(fork["ephemeral"] is True and fork["path"] is None, "ephemeral fork", fork)


@check("thread")
def revert_drops_the_newest_turns(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "keep me"}])
    turn, _, _ = run_turn(c, thread, [{"say": "drop me"}])
    mark = c.mark()
    r = c.call("thread/revert", {"threadId": thread, "beforeTurnId": turn})
    need(r["thread"]["id"] == thread and "drop me" not in json.dumps(r["thread"]["turns"]), "revert result", r)
    run_turn(c, thread, [{"say": "after"}])
    sent = json.dumps(w.model_requests()[-1]["body"]["input"])
    need("keep me" in sent and "drop me" not in sent, "model history after revert")
    kept = texts(items_of(c.call("thread/read", {"threadId": thread, "includeTurns": True})["thread"]["turns"]))
    need(kept == ["keep me", "after"], "stored history after revert", kept)
    c.note("thread/reverted", mark=mark, threadId=thread)


@check("thread")
def metadata_update_patches_git_info(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "x"}])
    r = c.call("thread/metadata/update", {"threadId": thread, "gitInfo": {"branch": "feature/probe"}})
    need(r["thread"]["gitInfo"]["branch"] == "feature/probe", "branch stored", r["thread"]["gitInfo"])
    r = c.call("thread/metadata/update", {"threadId": thread, "gitInfo": {"branch": None}})
    need(not (r["thread"]["gitInfo"] or {}).get("branch"), "null clears", r["thread"]["gitInfo"])


@check("thread")
def goal_set_get_clear(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "x"}])
    need(c.call("thread/goal/get", {"threadId": thread})["goal"] is None, "no goal at first")
    mark = c.mark()
    goal = c.call("thread/goal/set", {"threadId": thread, "objective": "finish the probe", "status": "paused"})["goal"]
    need(goal["objective"] == "finish the probe" and goal["status"] == "paused", "goal", goal)
    c.note("thread/goal/updated", mark=mark, threadId=thread)
    need(c.call("thread/goal/clear", {"threadId": thread}) == {"cleared": True}, "clear")
    c.note("thread/goal/cleared", mark=mark, threadId=thread)
    need(c.call("thread/goal/clear", {"threadId": thread}) == {"cleared": False}, "second clear")


@check("thread")
def settings_update_is_announced_and_used(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    need(c.call("thread/settings/update", {"threadId": thread, "approvalPolicy": "on-request"}) == {}, "result must be {}")
    note = c.note("thread/settings/updated", mark=mark, threadId=thread)
    need(note["threadSettings"]["approvalPolicy"] == "on-request", "effective settings", note)
    mark = c.mark()
    c.call("thread/settings/update", {"threadId": thread, "approvalPolicy": "on-request"})
    settle()
    need(not c.notes("thread/settings/updated", mark), "an update that changes nothing must be silent")


# ---------------------------------------------------------------- listing

@check("list")
def list_is_newest_first_and_complete(w):
    s = w.listener()
    c = s.client()
    made = []
    for i in range(5):
        thread = start_thread(c)
        run_turn(c, thread, [{"say": "t%d" % i}])
        made.append(thread)
        time.sleep(1.05)
    w.list_server = s
    w.listed = made
    page = c.call("thread/list", {})
    need([t["id"] for t in page["data"]] == made[::-1], "default order is newest first", [t["id"] for t in page["data"]])
    need(page["nextCursor"] is None, "no further page", page["nextCursor"])
    need(all(t["turns"] == [] and t["preview"] for t in page["data"]), "list rows carry preview and no turns")
    need(all(t["status"]["type"] == "idle" for t in page["data"]), "loaded threads are idle", [t["status"] for t in page["data"]])
    up = c.call("thread/list", {"sortDirection": "asc"})
    need([t["id"] for t in up["data"]] == made, "ascending order")


@check("list")
def list_pages_without_loss_or_repeat(w):
    if not getattr(w, "listed", None):
        raise Skipped("needs list_is_newest_first_and_complete")
    c = w.list_server.client()
    ids, cursor, pages = [], None, 0
    while True:
        page = c.call("thread/list", {"limit": 2, "cursor": cursor})
        need(len(page["data"]) <= 2, "limit ignored")
        ids += [t["id"] for t in page["data"]]
        pages += 1
        cursor = page["nextCursor"]
        if not cursor or pages > 20:
            break
    need(ids == w.listed[::-1], "pages do not add up", ids)
    first = c.call("thread/list", {"limit": 2})
    second = c.call("thread/list", {"limit": 2, "cursor": first["nextCursor"]})
    back = c.call("thread/list", {"limit": 2, "cursor": second["backwardsCursor"], "sortDirection": "asc"})
    need([t["id"] for t in back["data"]][-1:] == [first["data"][-1]["id"]] or first["data"][-1]["id"] in [t["id"] for t in back["data"]],
         "backwardsCursor leads back to the newer page", [t["id"] for t in back["data"]])


@check("list")
def list_filters(w):
    if not getattr(w, "listed", None):
        raise Skipped("needs list_is_newest_first_and_complete")
    c = w.list_server.client()
    other = os.path.join(w.root, "elsewhere")
    os.makedirs(other, exist_ok=True)
    thread = start_thread(c, cwd=other)
    run_turn(c, thread, [{"say": "x"}], input=script([{"say": "x"}], text="needle in preview"))
    need([t["id"] for t in c.call("thread/list", {"cwd": other})["data"]] == [thread], "cwd filter")
    need([t["id"] for t in c.call("thread/list", {"cwd": [other, "/nowhere"]})["data"]] == [thread], "cwd filter with a list")
    need(c.call("thread/list", {"modelProviders": ["no-such-provider"]})["data"] == [], "provider filter")
    need(c.call("thread/list", {"sourceKinds": ["exec"]})["data"] == [], "source filter")
    c.call("thread/name/set", {"threadId": thread, "name": "zebra title"})
    need([t["id"] for t in c.call("thread/list", {"searchTerm": "zebra"})["data"]] == [thread], "searchTerm finds the title")
    need(c.call("thread/list", {"archived": True})["data"] == [], "nothing archived yet")
    c.refused("thread/list", {"cursor": "not a cursor"}, -32600, "cursor")


@check("list")
def list_after_restart_shows_not_loaded(w):
    if not getattr(w, "listed", None):
        raise Skipped("needs list_is_newest_first_and_complete")
    home = w.list_server.home
    w.list_server.close()
    c = w.listener(home=home).client()
    page = c.call("thread/list", {"limit": 50})["data"]
    need(set(w.listed) <= {t["id"] for t in page}, "threads lost over a restart")
    need(all(t["status"] == {"type": "notLoaded"} for t in page), "not loaded after a restart", [t["status"] for t in page])
    need(c.call("thread/loaded/list", {})["data"] == [], "nothing loaded after a restart")


@check("list")
def turns_list_pages_newest_first(w):
    c = w.common().client()
    thread = start_thread(c)
    turns = [run_turn(c, thread, [{"say": "n%d" % i}])[0] for i in range(4)]
    ids, cursor = [], None
    for _ in range(10):
        page = c.call("thread/turns/list", {"threadId": thread, "limit": 2, "cursor": cursor})
        ids += [t["id"] for t in page["data"]]
        cursor = page["nextCursor"]
        if not cursor:
            break
    need(ids == turns[::-1], "turn pages", ids)
    full = c.call("thread/turns/list", {"threadId": thread, "itemsView": "full", "sortDirection": "asc"})["data"]
    need(texts(items_of(full)) == ["n0", "n1", "n2", "n3"], "itemsView full", full)
    none = c.call("thread/turns/list", {"threadId": thread, "itemsView": "notLoaded"})["data"]
    need(all(t["items"] == [] and t["itemsView"] == "notLoaded" for t in none), "itemsView notLoaded")
    summary = c.call("thread/turns/list", {"threadId": thread, "limit": 1})["data"][0]
    need(summary["itemsView"] == "summary", "default view is summary", summary)


@check("list")
def items_list_pages(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [shell(w, "echo one")], [{"say": "first"}])
    run_turn(c, thread, [{"say": "second"}])
    kinds, cursor = [], None
    for _ in range(20):
        page = c.call("thread/items/list", {"threadId": thread, "limit": 2, "cursor": cursor, "sortDirection": "asc"})
        kinds += [(row.get("item") or row)["type"] for row in page["data"]]
        cursor = page["nextCursor"]
        if not cursor:
            break
    need(kinds == ["userMessage", "commandExecution", "agentMessage", "userMessage", "agentMessage"], "item pages", kinds)


# ---------------------------------------------------------------- turns and items

@check("turn")
def turn_events_come_in_order(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    turn, seen, final = run_turn(c, thread, [{"say": "the quick brown fox jumps over the lazy dog and goes home"}])
    answer = [i for i, m in enumerate(seen) if "result" in m and "turn" in m["result"]][0]
    result = seen[answer]["result"]["turn"]
    need(result["status"] == "inProgress" and result["items"] == [] and result["id"] == turn, "turn/start result", result)
    order = [positions(seen, "thread/status/changed", status__type="active")[0], positions(seen, "turn/started")[0],
             positions(seen, "item/started", item__type="userMessage")[0], positions(seen, "item/completed", item__type="userMessage")[0],
             positions(seen, "item/started", item__type="agentMessage")[0], positions(seen, "item/agentMessage/delta")[0],
             positions(seen, "item/completed", item__type="agentMessage")[0],
             positions(seen, "thread/status/changed", status__type="idle")[0], positions(seen, "turn/completed")[0]]
    need(order == sorted(order), "order of events", [m.get("method") for m in seen])
    need(final["status"] == "completed" and final["error"] is None, "final turn", final)
    need(final["completedAt"] >= final["startedAt"] and final["durationMs"] >= 0, "turn times", final)
    need(len(positions(seen, "turn/started")) == 1 and len(positions(seen, "turn/completed")) == 1, "started/completed once")
    need(all(p.get("threadId") == thread for m in seen for p in [m.get("params") or {}] if str(m.get("method")).startswith(("item/", "turn/"))), "threadId on every event")


@check("turn")
def deltas_add_up_to_the_message(w):
    c = w.common().client()
    text = "".join(chr(0x3b1 + i % 24) + "word%d " % i for i in range(120)) + "\U0001f600 end"
    _, seen, _ = run_turn(c, start_thread(c), [{"say": text, "chunk": 7}])
    item = [p["item"] for p in of(seen, "item/completed") if p["item"]["type"] == "agentMessage"][0]
    joined = "".join(p["delta"] for p in of(seen, "item/agentMessage/delta") if p["itemId"] == item["id"])
    need(joined == text and item["text"] == text, "deltas do not add up to the final text")


@check("turn")
def every_item_is_started_and_completed_once(w):
    c = w.common().client()
    _, seen, _ = run_turn(c, start_thread(c), [{"think": "plan"}, {"say": "first"}, shell(w, "echo a"), shell(w, "echo b")], [{"say": "second"}])
    started = [(p["item"]["id"], p["item"]["type"]) for p in of(seen, "item/started")]
    completed = [(p["item"]["id"], p["item"]["type"]) for p in of(seen, "item/completed")]
    need(len(set(started)) == len(started) and len(set(completed)) == len(completed), "item repeated", started, completed)
    need(set(started) == set(completed), "started and completed items differ", started, completed)
    for key in started:
        need(positions(seen, "item/started", item__id=key[0])[0] < positions(seen, "item/completed", item__id=key[0])[0], "completed before started", key[0])
    need([k for _, k in started].count("commandExecution") == 2, "two commands expected", started)


@check("turn")
def user_message_echoes_input_and_client_id(w):
    c = w.common().client()
    thread = start_thread(c)
    given = script([{"say": "k"}])
    _, seen, _ = run_turn(c, thread, input=given, clientUserMessageId="client-77")
    item = [p["item"] for p in of(seen, "item/completed") if p["item"]["type"] == "userMessage"][0]
    need(item["clientId"] == "client-77", "clientId", item)
    need(item["content"][0]["type"] == "text" and item["content"][0]["text"] == given[0]["text"], "content", item)
    stored = items_of(c.call("thread/read", {"threadId": thread, "includeTurns": True})["thread"]["turns"])[0]
    need(stored["clientId"] == "client-77", "clientId is stored", stored)


@check("turn")
def reasoning_summary_streams(w):
    c = w.common().client()
    _, seen, _ = run_turn(c, start_thread(c), [{"think": "considering the options carefully now"}, {"say": "ok"}])
    item = [p["item"] for p in of(seen, "item/completed") if p["item"]["type"] == "reasoning"][0]
    need(item["summary"] == ["considering the options carefully now"], "summary", item)
    need("".join(p["delta"] for p in of(seen, "item/reasoning/summaryTextDelta")) == item["summary"][0], "summary deltas")


@check("turn")
def command_item_reports_the_run(w):
    c = w.common().client()
    thread = start_thread(c, cwd=w.root)
    _, seen, _ = run_turn(c, thread, [shell(w, "echo out-$((20+3)); pwd; exit 4")], [{"say": "ok"}])
    first = [p["item"] for p in of(seen, "item/started") if p["item"]["type"] == "commandExecution"][0]
    last = [p["item"] for p in of(seen, "item/completed") if p["item"]["type"] == "commandExecution"][0]
    need(first["status"] == "inProgress" and first["exitCode"] is None, "started item", first)
    need(last["status"] == "failed" and last["exitCode"] == 4, "a non-zero exit is failed", last)
    need("out-23" in last["aggregatedOutput"] and os.path.basename(w.root) in last["aggregatedOutput"], "aggregated output", last)
    need("echo out-" in last["command"] and os.path.realpath(last["cwd"]) == os.path.realpath(w.root), "command and cwd", last)
    need(last["durationMs"] is not None and last["commandActions"], "duration and parsed actions", last)
    output = w.model_requests()[-1]["body"]["input"][-1]
    need("out-23" in json.dumps(output) and "4" in json.dumps(output), "the model must see output and exit code", output)


@check("turn")
def command_output_streams_while_running(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    start_turn(c, thread, [shell(w, "sleep 0.7; echo early; sleep 2; echo late")], [{"say": "ok"}])
    c.wait(lambda m: m.get("method") == "item/commandExecution/outputDelta" and "early" in m["params"]["delta"], 15, mark, "early output")
    need(not c.notes("item/completed", mark, item__type="commandExecution"), "output must stream before the command ends")
    c.note("turn/completed", 30, mark, threadId=thread)
    item = c.notes("item/completed", mark, item__type="commandExecution")[0]["params"]["item"]
    joined = "".join(m["params"]["delta"] for m in c.notes("item/commandExecution/outputDelta", mark, itemId=item["id"]))
    need(joined == item["aggregatedOutput"], "deltas equal the aggregated output", joined, item["aggregatedOutput"])


@check("turn", beyond=True)
def output_deltas_miss_nothing(w):
    c = w.common().client()
    for i in range(3):
        _, seen, _ = run_turn(c, start_thread(c), [shell(w, "echo first-%d; sleep 1; echo last" % i)], [{"say": "ok"}])
        item = [p["item"] for p in of(seen, "item/completed") if p["item"]["type"] == "commandExecution"][0]
        joined = "".join(p["delta"] for p in of(seen, "item/commandExecution/outputDelta") if p["itemId"] == item["id"])
        need(joined == item["aggregatedOutput"], "output written right after the start is missing from the deltas", joined, item["aggregatedOutput"])


@check("turn")
def bad_tool_calls_do_not_end_the_turn(w):
    c = w.common().client()
    _, seen, final = run_turn(c, start_thread(c), [{"call": "no_such_tool", "args": {}}, {"call": w.options.shell_tool, "args": "{not json"}], [{"say": "recovered"}])
    need(final["status"] == "completed" and "recovered" in json.dumps(final["items"] or of(seen, "item/completed")), "turn must go on", final)
    outputs = [i for i in w.model_requests()[-1]["body"]["input"] if i.get("type") == "function_call_output"]
    need(len(outputs) == 2, "each call needs an output", outputs)


@check("turn")
def patch_item_reports_changes(w):
    c = w.common().client()
    work = os.path.join(w.root, "patchdir")
    os.makedirs(work, exist_ok=True)
    patch = "*** Begin Patch\n*** Add File: made.txt\n+alpha\n+beta\n*** End Patch\n"
    _, seen, _ = run_turn(c, start_thread(c, cwd=work), [patch_call(w, patch)], [{"say": "ok"}])
    last = [p["item"] for p in of(seen, "item/completed") if p["item"]["type"] == "fileChange"]
    need(last and last[0]["status"] == "completed", "fileChange item", last)
    change = last[0]["changes"][0]
    need(change["kind"]["type"] == "add" and change["path"].endswith("made.txt") and "alpha" in change["diff"], "change", change)
    with open(os.path.join(work, "made.txt")) as f:
        need(f.read() == "alpha\nbeta\n", "file content")
    diffs = of(seen, "turn/diff/updated")
    need(diffs and "made.txt" in diffs[-1]["diff"], "turn/diff/updated carries the unified diff", diffs)


@check("turn")
def failed_patch_is_reported(w):
    c = w.common().client()
    patch = "*** Begin Patch\n*** Update File: absent.txt\n@@\n-x\n+y\n*** End Patch\n"
    _, seen, final = run_turn(c, start_thread(c), [patch_call(w, patch)], [{"say": "ok"}])
    need(final["status"] == "completed", "turn must go on", final)
    need(not [p for p in of(seen, "item/completed") if p["item"]["type"] == "fileChange" and p["item"]["status"] == "completed"], "patch cannot have succeeded")


@check("turn")
def token_usage_is_reported(w):
    c = w.common().client()
    _, seen, _ = run_turn(c, start_thread(c), [{"say": "a"}, {"tokens": 1234}])
    usage = of(seen, "thread/tokenUsage/updated")[-1]["tokenUsage"]
    need(usage["last"]["inputTokens"] == 1234 and usage["total"]["inputTokens"] == 1234, "usage", usage)


@check("turn")
def later_turns_see_earlier_ones(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "remember-this"}])
    run_turn(c, thread, [{"say": "b"}])
    need("remember-this" in json.dumps(w.model_requests()[-1]["body"]["input"]), "history missing from the model request")


@check("turn")
def model_refusal_fails_the_turn(w):
    c = w.common().client()
    thread = start_thread(c)
    _, seen, final = run_turn(c, thread, [{"status": 400, "message": "scripted refusal"}])
    need(final["status"] == "failed" and "scripted refusal" in final["error"]["message"], "failed turn", final)
    error = of(seen, "error")[0]
    need(error["willRetry"] is False and "scripted refusal" in error["error"]["message"] and error["turnId"] == final["id"], "error notification", error)
    need(c.call("thread/read", {"threadId": thread})["thread"]["status"] == {"type": "systemError"}, "status after a failed turn")
    run_turn(c, thread, [{"say": "recovered"}])
    need(c.call("thread/read", {"threadId": thread})["thread"]["status"] == {"type": "idle"}, "status after recovery")


@check("turn")
def dropped_stream_is_retried(w):
    c = w.common().client()
    _, seen, final = run_turn(c, start_thread(c), [{"once": "drop1"}, {"drop": True}, {"say": "made it"}], timeout=60)
    need(final["status"] == "completed", "turn", final)
    errors = of(seen, "error")
    need(errors and errors[0]["willRetry"] is True, "a retry is announced by error with willRetry", errors)


@check("turn")
def server_errors_are_retried(w):
    c = w.common().client()
    _, _, final = run_turn(c, start_thread(c), [{"once": "e500"}, {"status": 500}, {"say": "fine"}], timeout=60)
    need(final["status"] == "completed", "turn", final)


@check("turn")
def output_schema_reaches_the_model_once(w):
    c = w.common().client()
    thread = start_thread(c)
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"], "additionalProperties": False}
    run_turn(c, thread, [{"say": "{\"answer\":\"x\"}"}], outputSchema=schema)
    need(dig(w.model_requests()[-1]["body"], "text__format__schema") == schema, "schema in the model request", w.model_requests()[-1]["body"].get("text"))
    run_turn(c, thread, [{"say": "plain"}])
    need(not dig(w.model_requests()[-1]["body"], "text__format"), "schema must apply to one turn only")


@check("turn")
def model_override_sticks(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "a"}], model="scripted-2")
    need(w.model_requests()[-1]["body"]["model"] == "scripted-2", "override used")
    run_turn(c, thread, [{"say": "b"}])
    need(w.model_requests()[-1]["body"]["model"] == "scripted-2", "override stays for later turns")


@check("turn")
def oversized_input_is_refused(w):
    c = w.common().client()
    thread = start_thread(c)
    error = c.refused("turn/start", {"threadId": thread, "input": [{"type": "text", "text": "x" * (1024 * 1024 + 1)}]}, -32602)
    data = error.get("data") or {}
    need(data.get("input_error_code") == "input_too_large" and data.get("max_chars") == 1048576 and data.get("actual_chars") == 1048577, "error data", error)


@check("turn")
def large_input_and_output_pass(w):
    c = w.common().client()
    thread = start_thread(c)
    big = "y" * 300000
    _, seen, _ = run_turn(c, thread, input=[{"type": "text", "text": big + " RUN " + json.dumps([[{"say": "z" * 200000, "chunk": 20000}]])}], timeout=60)
    item = [p["item"] for p in of(seen, "item/completed") if p["item"]["type"] == "agentMessage"][0]
    need(len(item["text"]) == 200000, "long message arrives whole", len(item["text"]))


@check("turn")
def noisy_command_is_bounded_for_the_model(w):
    c = w.common().client()
    _, seen, final = run_turn(c, start_thread(c), [shell(w, "head -c 3000000 /dev/zero | tr '\\0' 'q'; echo TAIL")], [{"say": "ok"}], timeout=60)
    need(final["status"] == "completed", "turn", final)
    need(len(json.dumps(w.model_requests()[-1]["body"]["input"][-1])) < 200000, "tool output must be truncated for the model")


@check("turn")
def unicode_and_control_characters_survive(w):
    c = w.common().client()
    text = "tab\t quote\" back\\slash \u2028 \U0001f680 e\u0301 \u0001 end"
    _, seen, _ = run_turn(c, start_thread(c), [{"say": text}])
    need(texts([p["item"] for p in of(seen, "item/completed")]) == [text], "text changed on the way")


# ---------------------------------------------------------------- interrupt and steer

@check("control")
def interrupt_stops_a_streaming_turn(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    turn = start_turn(c, thread, [{"say": "0123456789" * 20, "chunk": 2, "gap": 0.2}])
    c.note("item/agentMessage/delta", mark=mark, threadId=thread)
    need(c.call("turn/interrupt", {"threadId": thread, "turnId": turn}) == {}, "result must be {}")
    done = c.note("turn/completed", 10, mark, threadId=thread)
    need(done["turn"]["id"] == turn and done["turn"]["status"] == "interrupted", "final turn", done)
    after = c.mark()
    settle(1.0)
    need(not [m for m in c.since(after) if str(m.get("method")).startswith("item/")], "events after the interrupted turn ended")
    need(c.call("thread/read", {"threadId": thread})["thread"]["status"] == {"type": "idle"}, "idle after interrupt")


@check("control")
def interrupt_stops_a_running_command_turn(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    turn = start_turn(c, thread, [shell(w, "sleep 25", yield_time_ms=30000)], [{"say": "never"}])
    c.note("item/started", mark=mark, item__type="commandExecution", threadId=thread)
    began = time.monotonic()
    c.call("turn/interrupt", {"threadId": thread, "turnId": turn})
    done = c.note("turn/completed", 10, mark, threadId=thread)
    need(done["turn"]["status"] == "interrupted" and time.monotonic() - began < 8, "interrupted promptly", done)
    run_turn(c, thread, [{"say": "next"}])
    sent = w.model_requests()[-1]["body"]["input"]
    need([i for i in sent if i.get("type") == "function_call_output"], "the interrupted call needs an output in the history")


@check("control")
def interrupt_needs_the_active_turn(w):
    c = w.common().client()
    thread = start_thread(c)
    c.refused("turn/interrupt", {"threadId": thread, "turnId": "x"}, -32600, "no active turn")
    mark = c.mark()
    turn = start_turn(c, thread, [{"say": "a"}, {"hold": "int1"}])
    c.note("turn/started", mark=mark, threadId=thread)
    error = c.refused("turn/interrupt", {"threadId": thread, "turnId": "wrong"}, -32600, "expected active turn id")
    need(turn in error["message"], "message names the active turn", error)
    w.release("int1")
    c.note("turn/completed", mark=mark, threadId=thread)


@check("control")
def steer_adds_input_to_the_running_turn(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    turn = start_turn(c, thread, [shell(w, "sleep 2")], [{"say": "end"}])
    c.note("item/started", mark=mark, item__type="commandExecution", threadId=thread)
    r = c.call("turn/steer", {"threadId": thread, "expectedTurnId": turn, "input": [{"type": "text", "text": "steered-words"}], "clientUserMessageId": "steer-1"})
    need(r["turnId"] == turn, "steer result", r)
    c.note("turn/completed", 30, mark, threadId=thread)
    seen = c.since(mark)
    need(len(positions(seen, "turn/started")) == 1, "steering must not start a turn")
    item = [p["item"] for p in of(seen, "item/completed") if p["item"]["type"] == "userMessage"][-1]
    need(item["clientId"] == "steer-1" and item["content"][0]["text"] == "steered-words", "steered userMessage", item)
    need("steered-words" in json.dumps(w.model_requests()[-1]["body"]["input"]), "model sees the steered text")
    stored = c.call("thread/read", {"threadId": thread, "includeTurns": True})["thread"]["turns"]
    need(len(stored) == 1, "one turn stored", len(stored))


@check("control")
def steer_preconditions(w):
    c = w.common().client()
    thread = start_thread(c)
    c.refused("turn/steer", {"threadId": thread, "expectedTurnId": "x", "input": [{"type": "text", "text": "a"}]}, -32600, "no active turn")
    mark = c.mark()
    start_turn(c, thread, [{"say": "a"}, {"hold": "st1"}])
    c.note("turn/started", mark=mark, threadId=thread)
    c.refused("turn/steer", {"threadId": thread, "expectedTurnId": "wrong", "input": [{"type": "text", "text": "a"}]}, -32600, "expected active turn id")
    c.refused("turn/steer", {"threadId": thread, "input": [{"type": "text", "text": "a"}]}, (-32600, -32602))
    w.release("st1")
    c.note("turn/completed", mark=mark, threadId=thread)


@check("control")
def turn_start_during_a_turn_joins_it(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    turn = start_turn(c, thread, [shell(w, "sleep 2")], [{"say": "end"}])
    c.note("item/started", mark=mark, item__type="commandExecution", threadId=thread)
    second = c.call("turn/start", {"threadId": thread, "input": [{"type": "text", "text": "extra-words"}]})["turn"]["id"]
    need(second == turn, "turn/start during a turn answers with the running turn", second)
    c.note("turn/completed", 30, mark, threadId=thread)
    need(len(c.notes("turn/started", mark, threadId=thread)) == 1, "one turn only")
    need("extra-words" in json.dumps(w.model_requests()[-1]["body"]["input"]), "model sees the extra text")


@check("control")
def compact_runs_as_a_turn(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "long ago"}])
    mark = c.mark()
    need(c.call("thread/compact/start", {"threadId": thread}) == {}, "result must be {}")
    c.note("turn/started", mark=mark, threadId=thread)
    begun = c.note("item/started", mark=mark, item__type="contextCompaction", threadId=thread)
    done = c.note("item/completed", 30, mark, item__type="contextCompaction", threadId=thread)
    need(begun["item"]["id"] == done["item"]["id"], "same compaction item")
    c.note("turn/completed", 30, mark, threadId=thread)
    run_turn(c, thread, [{"say": "later"}])


@check("control")
def shell_command_runs_outside_the_model(w):
    c = w.common().client()
    thread = start_thread(c)
    before = w.model("/count")["count"]
    mark = c.mark()
    need(c.call("thread/shellCommand", {"threadId": thread, "command": "echo user-$((1+1))"}) == {}, "result must be {}")
    c.note("turn/started", mark=mark, threadId=thread)
    item = c.note("item/completed", mark=mark, item__type="commandExecution", threadId=thread)["item"]
    need(item["source"] == "userShell" and "user-2" in item["aggregatedOutput"], "item", item)
    c.note("turn/completed", mark=mark, threadId=thread)
    need(w.model("/count")["count"] == before, "the model must not be called")
    run_turn(c, thread, [{"say": "x"}])
    need("user-2" in json.dumps(w.model_requests()[-1]["body"]["input"]), "the model sees the output on the next turn")


@check("control")
def injected_items_reach_the_model(w):
    c = w.common().client()
    thread = start_thread(c)
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "injected-past"}]}
    need(c.call("thread/inject_items", {"threadId": thread, "items": [item]}) == {}, "result must be {}")
    run_turn(c, thread, [{"say": "x"}])
    need("injected-past" in json.dumps(w.model_requests()[-1]["body"]["input"]), "injected item missing")


@check("control")
def review_runs_and_reports(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "x"}])
    mark = c.mark()
    instructions = script([{"say": json.dumps({"findings": [], "overall_correctness": "patch is correct", "overall_explanation": "all well", "overall_confidence_score": 0.9})}])[0]["text"]
    r = c.call("review/start", {"threadId": thread, "target": {"type": "custom", "instructions": instructions}})
    need(r["reviewThreadId"] == thread and r["turn"]["status"] == "inProgress", "review/start result", r)
    c.note("turn/completed", 40, mark, threadId=thread)
    kinds = [m["params"]["item"]["type"] for m in c.notes("item/completed", mark, threadId=thread)]
    need("enteredReviewMode" in kinds and "exitedReviewMode" in kinds, "review items", kinds)
    need(kinds.index("enteredReviewMode") < kinds.index("exitedReviewMode"), "order of review items", kinds)


# ---------------------------------------------------------------- approvals and other requests to the client

def ask(c, w, name, decision=None, **extra):
    """Start a turn whose command needs approval; returns (thread, turn, file, mark, request)."""
    target = os.path.join(w.root, name)
    thread = asking(c, **extra)
    mark = c.mark()
    turn = start_turn(c, thread, [escalated(w, "echo hi > " + target)], [{"say": "after"}])
    request = c.server_request("item/commandExecution/requestApproval", mark=mark)
    return thread, turn, target, mark, request


@check("approval")
def command_approval_accept(w):
    c = w.common().client()
    thread, turn, target, mark, request = ask(c, w, "acc")
    p = request["params"]
    need(p["threadId"] == thread and p["turnId"] == turn, "ids", p)
    item = c.note("item/started", mark=mark, item__type="commandExecution")["item"]
    need(item["id"] == p["itemId"] and item["status"] == "inProgress", "item/started precedes the request and names the item", item)
    need(target in p["command"] and p["cwd"] and p["reason"] == "probe asks", "command, cwd, reason", p)
    need("accept" in p["availableDecisions"] and "cancel" in p["availableDecisions"], "available decisions", p)
    need(not os.path.exists(target), "ran before approval")
    c.reply(request["id"], {"decision": "accept"})
    c.note("turn/completed", mark=mark, threadId=thread)
    need(os.path.exists(target), "approved command did not run")
    seen = c.since(mark)
    need(positions(seen, "serverRequest/resolved", requestId=request["id"])[0] < positions(seen, "item/completed", item__id=item["id"])[0], "resolved before the item completes")
    need([p["item"]["status"] for p in of(seen, "item/completed") if p["item"]["id"] == item["id"]] == ["completed"], "item status")


@check("approval")
def waiting_on_approval_shows_in_status(w):
    c = w.common().client()
    thread, turn, target, mark, request = ask(c, w, "flag")
    c.note("thread/status/changed", mark=mark, threadId=thread, status={"type": "active", "activeFlags": ["waitingOnApproval"]})
    need(c.call("thread/read", {"threadId": thread})["thread"]["status"] == {"type": "active", "activeFlags": ["waitingOnApproval"]}, "status by read")
    row = [t for t in c.call("thread/list", {"limit": 200})["data"] if t["id"] == thread]
    need(row and row[0]["status"]["type"] == "active", "status by list", row)
    mark2 = c.mark()
    c.reply(request["id"], {"decision": "accept"})
    c.note("thread/status/changed", mark=mark2, threadId=thread, status={"type": "active", "activeFlags": []})
    c.note("thread/status/changed", mark=mark2, threadId=thread, status={"type": "idle"})


@check("approval")
def command_approval_decline(w):
    c = w.common().client()
    thread, turn, target, mark, request = ask(c, w, "dec")
    c.reply(request["id"], {"decision": "decline"})
    done = c.note("turn/completed", mark=mark, threadId=thread)
    need(done["turn"]["status"] == "completed", "a declined command does not end the turn", done)
    need(not os.path.exists(target), "declined command ran")
    item = c.notes("item/completed", mark, item__type="commandExecution")[0]["params"]["item"]
    need(item["status"] == "declined", "item status", item)
    need([i for i in w.model_requests()[-1]["body"]["input"] if i.get("type") == "function_call_output"], "the model is told")


@check("approval")
def command_approval_cancel_interrupts(w):
    c = w.common().client()
    thread, turn, target, mark, request = ask(c, w, "can")
    c.reply(request["id"], {"decision": "cancel"})
    done = c.note("turn/completed", mark=mark, threadId=thread)
    need(done["turn"]["status"] == "interrupted", "cancel interrupts the turn", done)
    need(not os.path.exists(target), "cancelled command ran")
    need(c.notes("item/completed", mark, item__type="commandExecution")[0]["params"]["item"]["status"] == "declined", "item status")


@check("approval")
def command_approval_for_session_is_remembered(w):
    c = w.common().client()
    target = os.path.join(w.root, "sess")
    thread = asking(c)
    mark = c.mark()
    command = "echo hi >> " + target
    start_turn(c, thread, [escalated(w, command)], [{"say": "after"}])
    request = c.server_request("item/commandExecution/requestApproval", mark=mark)
    c.reply(request["id"], {"decision": "acceptForSession"})
    c.note("turn/completed", mark=mark, threadId=thread)
    mark = c.mark()
    start_turn(c, thread, [escalated(w, command)], [{"say": "after"}])
    c.note("turn/completed", mark=mark, threadId=thread)
    need(not [m for m in c.since(mark) if m.get("method") == "item/commandExecution/requestApproval"], "asked again in the same session")
    with open(target) as f:
        need(len(f.readlines()) == 2, "command ran twice")


@check("approval")
def error_answer_fails_the_item_not_the_turn(w):
    c = w.common().client()
    thread, turn, target, mark, request = ask(c, w, "err")
    c.reply_error(request["id"], -32000, "client cannot decide")
    done = c.note("turn/completed", mark=mark, threadId=thread)
    need(done["turn"]["status"] == "completed" and not os.path.exists(target), "turn goes on without the command", done)
    need(c.notes("item/completed", mark, item__type="commandExecution")[0]["params"]["item"]["status"] in ("failed", "declined"), "item status")


@check("approval")
def undecodable_answer_counts_as_refusal(w):
    c = w.common().client()
    thread, turn, target, mark, request = ask(c, w, "und")
    c.reply(request["id"], {"decision": "bogus"})
    done = c.note("turn/completed", mark=mark, threadId=thread)
    need(done["turn"]["status"] == "completed" and not os.path.exists(target), "turn goes on without the command", done)


@check("approval")
def second_answer_is_ignored(w):
    s = w.common()
    c = s.client()
    thread, turn, target, mark, request = ask(c, w, "dup")
    c.reply(request["id"], {"decision": "decline"})
    c.reply(request["id"], {"decision": "accept"})
    c.note("turn/completed", mark=mark, threadId=thread)
    need(not os.path.exists(target), "the second answer was used")


@check("approval")
def interrupt_clears_a_pending_approval(w):
    c = w.common().client()
    thread, turn, target, mark, request = ask(c, w, "intr")
    c.call("turn/interrupt", {"threadId": thread, "turnId": turn})
    c.note("serverRequest/resolved", mark=mark, requestId=request["id"])
    done = c.note("turn/completed", mark=mark, threadId=thread)
    need(done["turn"]["status"] == "interrupted", "turn", done)
    c.reply(request["id"], {"decision": "accept"})
    settle()
    need(not os.path.exists(target), "late answer was used")


@check("approval")
def policy_never_asks_nothing(w):
    c = w.common().client()
    thread = start_thread(c, sandbox="read-only", approvalPolicy="never")
    target = os.path.join(w.root, "never")
    _, seen, final = run_turn(c, thread, [escalated(w, "echo hi > " + target)], [{"say": "x"}])
    need(not [m for m in seen if "id" in m and "method" in m], "asked although the policy is never")
    need(final["status"] == "completed" and not os.path.exists(target), "escalation must be refused", final)


@check("approval")
def patch_approval_accept_and_decline(w):
    c = w.common().client()
    for decision, outcome in (("accept", "completed"), ("decline", "declined")):
        work = os.path.join(w.root, "pa-" + decision)
        os.makedirs(work)
        thread = asking(c, cwd=work)
        mark = c.mark()
        start_turn(c, thread, [patch_call(w, "*** Begin Patch\n*** Add File: f.txt\n+x\n*** End Patch\n")], [{"say": "after"}])
        request = c.server_request("item/fileChange/requestApproval", mark=mark)
        item = c.note("item/started", mark=mark, item__type="fileChange")["item"]
        need(item["id"] == request["params"]["itemId"] and item["changes"][0]["path"].endswith("f.txt"), "item/started shows the change first", item)
        c.reply(request["id"], {"decision": decision})
        c.note("turn/completed", mark=mark, threadId=thread)
        last = c.notes("item/completed", mark, item__type="fileChange")[0]["params"]["item"]
        need(last["status"] == outcome, "status after " + decision, last)
        need(os.path.exists(os.path.join(work, "f.txt")) == (decision == "accept"), "file after " + decision)


@check("approval")
def dynamic_tool_is_called_on_the_client(w):
    c = w.common().client()
    tool = {"type": "function", "name": "lookup", "description": "d", "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}}
    thread = start_thread(c, dynamicTools=[tool])
    mark = c.mark()
    turn = start_turn(c, thread, [{"call": "lookup", "args": {"key": "k1"}}], [{"say": "done"}])
    request = c.server_request("item/tool/call", mark=mark)
    need(request["params"]["tool"] == "lookup" and request["params"]["arguments"] == {"key": "k1"} and request["params"]["turnId"] == turn, "request", request)
    c.reply(request["id"], {"success": True, "contentItems": [{"type": "inputText", "text": "value-for-k1"}]})
    c.note("turn/completed", mark=mark, threadId=thread)
    item = c.notes("item/completed", mark, item__type="dynamicToolCall")[0]["params"]["item"]
    need(item["status"] == "completed" and item["success"] is True, "item", item)
    need("value-for-k1" in json.dumps(w.model_requests()[-1]["body"]["input"]), "the model sees the tool's answer")


@check("approval")
def user_input_is_requested_in_plan_mode(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    question = {"id": "q1", "header": "Pick", "question": "Which?", "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]}
    c.call("turn/start", {"threadId": thread, "input": script([{"call": "request_user_input", "args": {"questions": [question]}}], [{"say": "done"}]),
                          "collaborationMode": {"mode": "plan", "settings": {"model": "scripted-1", "reasoning_effort": None, "developer_instructions": None}}})
    request = c.server_request("item/tool/requestUserInput", mark=mark)
    need(request["params"]["questions"][0]["id"] == "q1", "question", request)
    c.note("thread/status/changed", mark=mark, threadId=thread, status={"type": "active", "activeFlags": ["waitingOnUserInput"]})
    c.reply(request["id"], {"answers": {"q1": {"answers": ["B"]}}})
    c.note("serverRequest/resolved", mark=mark, requestId=request["id"])
    c.note("turn/completed", mark=mark, threadId=thread)
    outputs = [i for i in w.model_requests()[-1]["body"]["input"] if i.get("type") == "function_call_output"]
    need("B" in json.dumps(outputs), "the model sees the answer", outputs)


# ---------------------------------------------------------------- several clients, rejoin, disconnect

@check("sharing")
def two_subscribers_see_the_same_events(w):
    s = w.common()
    a, b = s.client(), s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "x"}])
    b.call("thread/resume", {"threadId": thread})
    ma, mb = a.mark(), b.mark()
    run_turn(a, thread, [{"think": "t"}, shell(w, "echo shared")], [{"say": "both see this message"}])
    b.note("turn/completed", mark=mb, threadId=thread)
    keep = lambda c, m: [(x["method"], dig(x["params"], "item__id") or x["params"].get("itemId"), x["params"].get("delta")) for x in c.since(m)
                         if str(x.get("method")).startswith(("item/", "turn/"))]
    need(keep(a, ma) == keep(b, mb), "event streams differ", keep(a, ma), keep(b, mb))


@check("sharing")
def resume_of_a_loaded_thread_returns_history(w):
    s = w.common()
    a, b = s.client(), s.client()
    thread = start_thread(a, approvalPolicy="on-request")
    run_turn(a, thread, [{"say": "one"}])
    run_turn(a, thread, [{"say": "two"}])
    r = b.call("thread/resume", {"threadId": thread})
    need(texts(items_of(r["thread"]["turns"])) == ["one", "two"] and r["thread"]["status"] == {"type": "idle"}, "history", r["thread"])
    need(r["approvalPolicy"] == "on-request" and r["model"], "settings in the result", r)
    r = b.call("thread/resume", {"threadId": thread, "excludeTurns": True})
    need(r["thread"]["turns"] == [], "excludeTurns leaves the turns out")
    r = b.call("thread/resume", {"threadId": thread, "excludeTurns": True, "initialTurnsPage": {"limit": 1}})
    need(len(r["initialTurnsPage"]["data"]) == 1 and r["initialTurnsPage"]["nextCursor"], "initial page", r.get("initialTurnsPage"))


@check("sharing")
def rejoining_a_running_turn_loses_and_repeats_nothing(w):
    s = w.common()
    a = s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "old turn"}])
    mark = a.mark()
    words = " ".join("w%03d" % i for i in range(60))
    turn = start_turn(a, thread, [{"say": "finished piece"}, shell(w, "echo mid; sleep 1")], [{"say": words, "chunk": 5, "gap": 0.04}])
    a.wait(lambda m: m.get("method") == "item/agentMessage/delta" and "w00" in m["params"]["delta"], 20, mark, "streaming text")
    settle(0.5)
    b = s.client()
    mb = b.mark()
    r = b.call("thread/resume", {"threadId": thread})
    need(r["thread"]["status"]["type"] == "active", "rejoined thread is active", r["thread"]["status"])
    running = r["thread"]["turns"][-1]
    need(running["id"] == turn and running["status"] == "inProgress", "the running turn is in the snapshot", running["id"], running["status"])
    snapshot = {i["id"]: i for i in running["items"]}
    need("finished piece" in texts(running["items"]), "finished items are in the snapshot", [i["type"] for i in running["items"]])
    b.note("turn/completed", 40, mb, threadId=thread)
    seen = b.since(mb)
    after = [i for i, m in enumerate(seen) if "result" in m][0]
    need(not [m for m in seen[:after] if str(m.get("method")).startswith("item/")], "events before the resume response")
    completed = [p["item"] for p in of(seen, "item/completed")]
    need(texts(completed)[-1:] == [words], "the final message arrives whole", texts(completed))
    repeated = [i["id"] for i in completed if i["id"] in snapshot and i["type"] in ("userMessage", "commandExecution")]
    need(not repeated, "an item finished before the snapshot was sent again", repeated)
    want = [m["params"]["item"]["id"] for m in a.notes("item/completed", mark, turnId=turn)]
    got = list(snapshot) + [i["id"] for i in completed if i["id"] not in snapshot]
    need(set(want) <= set(got), "items lost", want, got)


@check("sharing", beyond=True)
def rejoin_snapshot_and_deltas_join_seamlessly(w):
    s = w.common()
    a = s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "old"}])
    words = " ".join("x%03d" % i for i in range(80))
    mark = a.mark()
    start_turn(a, thread, [{"say": words, "chunk": 5, "gap": 0.03}])
    a.wait(lambda m: m.get("method") == "item/agentMessage/delta" and "x01" in m["params"]["delta"], 20, mark, "streaming text")
    b = s.client()
    mb = b.mark()
    r = b.call("thread/resume", {"threadId": thread})
    b.note("turn/completed", 40, mb, threadId=thread)
    item = b.notes("item/completed", mb, item__type="agentMessage")[-1]["params"]["item"]
    before = "".join(i["text"] for i in r["thread"]["turns"][-1]["items"] if i["id"] == item["id"])
    deltas = "".join(m["params"]["delta"] for m in b.notes("item/agentMessage/delta", mb, itemId=item["id"]))
    need(before + deltas == words, "snapshot text plus later deltas must equal the message", "snapshot %r" % before[-20:], "deltas start %r" % deltas[:20])


@check("sharing")
def rejoin_replays_a_pending_approval(w):
    s = w.common()
    a = s.client()
    thread, turn, target, mark, request = ask(a, w, "replay")
    b = s.client()
    mb = b.mark()
    r = b.call("thread/resume", {"threadId": thread})
    need(r["thread"]["status"] == {"type": "active", "activeFlags": ["waitingOnApproval"]}, "status in the resume result", r["thread"]["status"])
    again = b.server_request("item/commandExecution/requestApproval", mark=mb)
    need(again["id"] == request["id"] and again["params"]["itemId"] == request["params"]["itemId"], "same request id and item", again)
    seen = b.since(mb)
    need([i for i, m in enumerate(seen) if "result" in m][0] < seen.index(again), "replay comes after the resume response")
    b.reply(again["id"], {"decision": "accept"})
    a.note("serverRequest/resolved", mark=mark, requestId=request["id"])
    a.note("turn/completed", mark=mark, threadId=thread)
    b.note("turn/completed", mark=mb, threadId=thread)
    need(os.path.exists(target), "approval by the second client must count")


@check("sharing")
def first_answer_wins(w):
    s = w.common()
    a, b = s.client(), s.client()
    thread = asking(a)
    run_turn(a, thread, [{"say": "x"}])
    b.call("thread/resume", {"threadId": thread})
    target = os.path.join(w.root, "race")
    ma, mb = a.mark(), b.mark()
    start_turn(a, thread, [escalated(w, "echo hi > " + target)], [{"say": "after"}])
    ra = a.server_request("item/commandExecution/requestApproval", mark=ma)
    rb = b.server_request("item/commandExecution/requestApproval", mark=mb)
    need(ra["id"] == rb["id"], "both subscribers get the request under one id", ra["id"], rb["id"])
    b.reply(rb["id"], {"decision": "decline"})
    a.note("serverRequest/resolved", mark=ma, requestId=ra["id"])
    a.reply(ra["id"], {"decision": "accept"})
    a.note("turn/completed", mark=ma, threadId=thread)
    need(not os.path.exists(target), "the later answer was used")


@check("sharing")
def unsubscribe_stops_events(w):
    s = w.common()
    a, b = s.client(), s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "x"}])
    b.call("thread/resume", {"threadId": thread})
    need(b.call("thread/unsubscribe", {"threadId": thread}) == {"status": "unsubscribed"}, "first unsubscribe")
    need(b.call("thread/unsubscribe", {"threadId": thread}) == {"status": "notSubscribed"}, "second unsubscribe")
    need(b.call("thread/unsubscribe", {"threadId": "01a00000-0000-7000-8000-000000000002"}) == {"status": "notLoaded"}, "unknown thread")
    mb = b.mark()
    run_turn(a, thread, [{"say": "private"}])
    settle()
    need(not [m for m in b.since(mb) if str(m.get("method")).startswith(("item/", "turn/"))], "events after unsubscribe")
    need(thread in a.call("thread/loaded/list", {})["data"], "thread stays loaded")
    b.call("thread/resume", {"threadId": thread})
    mb = b.mark()
    run_turn(a, thread, [{"say": "public"}])
    b.note("turn/completed", mark=mb, threadId=thread)


@check("sharing")
def last_unsubscribe_keeps_the_thread_running(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [{"say": "x"}])
    start_turn(c, thread, [{"say": "unseen"}, {"sleep": 0.5}])
    need(c.call("thread/unsubscribe", {"threadId": thread})["status"] == "unsubscribed", "unsubscribe")
    for _ in range(100):
        turns = c.call("thread/read", {"threadId": thread, "includeTurns": True})["thread"]["turns"]
        if len(turns) == 2 and turns[1]["status"] == "completed":
            break
        time.sleep(0.1)
    need(texts(items_of(turns)) == ["x", "unseen"], "the turn must finish without subscribers", texts(items_of(turns)))


@check("sharing")
def disconnect_does_not_stop_the_turn(w):
    s = w.common()
    a, watcher = s.client(), s.client()
    thread = start_thread(a)
    mark = a.mark()
    start_turn(a, thread, [shell(w, "sleep 1.5; echo late")], [{"say": "finished alone"}])
    a.note("item/started", mark=mark, item__type="commandExecution", threadId=thread)
    a.link.abort()
    a.wait_closed()
    for _ in range(100):
        if watcher.call("thread/read", {"threadId": thread})["thread"]["status"]["type"] == "idle":
            break
        time.sleep(0.1)
    turns = watcher.call("thread/read", {"threadId": thread, "includeTurns": True})["thread"]["turns"]
    need(turns[-1]["status"] == "completed" and texts(items_of(turns)) == ["finished alone"], "turn after the client left", turns)


@check("sharing")
def disconnect_keeps_a_pending_approval(w):
    s = w.common()
    a = s.client()
    thread, turn, target, mark, request = ask(a, w, "left")
    a.link.abort()
    a.wait_closed()
    settle()
    b = s.client()
    mb = b.mark()
    r = b.call("thread/resume", {"threadId": thread})
    need(r["thread"]["status"] == {"type": "active", "activeFlags": ["waitingOnApproval"]}, "still waiting", r["thread"]["status"])
    again = b.server_request("item/commandExecution/requestApproval", mark=mb)
    b.reply(again["id"], {"decision": "accept"})
    done = b.note("turn/completed", mark=mb, threadId=thread)
    need(done["turn"]["status"] == "completed" and os.path.exists(target), "approval after reconnecting", done)


@check("sharing")
def cold_resume_after_restart(w):
    s = w.listener()
    a = s.client()
    thread = start_thread(a)
    run_turn(a, thread, [shell(w, "echo cold")], [{"say": "before restart"}])
    s.close()
    b = w.listener(home=s.home).client()
    r = b.call("thread/resume", {"threadId": thread})
    need(texts(items_of(r["thread"]["turns"])) == ["before restart"] and r["thread"]["status"] == {"type": "idle"}, "restored history", r["thread"])
    kinds = [i["type"] for i in items_of(r["thread"]["turns"])]
    need(kinds == ["userMessage", "commandExecution", "agentMessage"], "restored items", kinds)
    run_turn(b, thread, [{"say": "after restart"}])
    need("before restart" in json.dumps(w.model_requests()[-1]["body"]["input"]), "the model sees the old history")


@check("sharing")
def killed_server_leaves_an_interrupted_turn(w):
    s = w.listener()
    a = s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "safe"}])
    mark = a.mark()
    start_turn(a, thread, [{"say": "half"}, {"hold": "kill1"}], [{"say": "never"}])
    a.note("item/completed", mark=mark, item__type="agentMessage", threadId=thread)
    settle()
    os.killpg(s.proc.pid, signal.SIGKILL)
    s.proc.wait()
    w.release("kill1")
    b = w.listener(home=s.home).client()
    r = b.call("thread/resume", {"threadId": thread})["thread"]
    need(r["status"] == {"type": "idle"} and "safe" in texts(items_of(r["turns"])), "history survives a kill", r)
    need(not [t for t in r["turns"] if t["status"] == "inProgress"], "no turn may stay inProgress", [t["status"] for t in r["turns"]])
    run_turn(b, thread, [{"say": "goes on"}])


@check("sharing")
def many_threads_run_at_once(w):
    c = w.common().client()
    threads = [start_thread(c) for _ in range(8)]
    mark = c.mark()
    turns = {t: start_turn(c, t, [{"say": "part one "}, shell(w, "sleep 0.3; echo t%d" % i)], [{"say": "final %d" % i}]) for i, t in enumerate(threads)}
    for i, t in enumerate(threads):
        done = c.note("turn/completed", 60, mark, threadId=t)
        need(done["turn"]["id"] == turns[t] and done["turn"]["status"] == "completed", "turn", done)
        last = [m["params"]["item"]["text"] for m in c.notes("item/completed", mark, threadId=t, item__type="agentMessage")][-1]
        need(last == "final %d" % i, "threads mixed up", last)


# ---------------------------------------------------------------- transports

@check("transport")
def stdio_session_and_end_of_input(w):
    c = w.stdio()
    c.initialize()
    thread = start_thread(c)
    run_turn(c, thread, [shell(w, "echo over-stdio")], [{"say": "ok"}])
    c.link.close_input()
    c.link.proc.wait(15)
    need(c.link.proc.returncode == 0, "clean exit at end of input", c.link.proc.returncode)
    need(not c.problems, "stdout must hold protocol messages only", c.problems)


@check("transport")
def stdio_bad_lines_are_ignored(w):
    c = w.stdio()
    c.initialize()
    for text in ("garbage", "", "   ", "{\"id\":1", "null"):
        c.link.send_text(text)
    c.call("thread/loaded/list", {})


@check("transport")
def health_endpoints(w):
    s = w.common()
    if s.url.startswith("unix"):
        raise Skipped("TCP only")
    need(s.http("/readyz") == 200 and s.http("/healthz") == 200, "readyz and healthz answer 200")


@check("transport")
def origin_header_is_refused(w):
    s = w.common()
    need(s.http("/readyz", {"Origin": "http://evil.example"}) == 403, "readyz with Origin")
    need(s.http("/healthz", {"Origin": "null"}) == 403, "healthz with Origin")
    try:
        WsLink(s.url, {"Origin": "http://evil.example"}).close()
    except Exception as err:
        need("403" in str(err), "handshake refusal is 403", str(err))
    else:
        raise Failed("WebSocket handshake with an Origin header was accepted")


@check("transport")
def capability_token_is_required(w):
    import hashlib
    digest = hashlib.sha256(b"secret-token").hexdigest()
    s = w.listener(["--ws-auth", "capability-token", "--ws-token-sha256", digest])
    for headers in (None, {"Authorization": "Bearer wrong"}, {"Authorization": "secret-token"}):
        try:
            WsLink(s.url, headers).close()
        except Exception as err:
            need("401" in str(err), "refusal is 401", str(err))
        else:
            raise Failed("connected without a valid token", str(headers))
    s.client(headers={"Authorization": "Bearer secret-token"}).call("thread/loaded/list", {})
    need(s.http("/readyz") == 200, "health needs no token")


@check("transport")
def signed_bearer_token_is_required(w):
    import base64
    import hashlib
    import hmac
    secret = "0123456789abcdef0123456789abcdef"
    path = os.path.join(w.root, "jwt.secret")
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write(secret + "\n")
    s = w.listener(["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", path, "--ws-issuer", "iss1", "--ws-audience", "aud1"])

    def token(claims, key=secret):
        part = lambda v: base64.urlsafe_b64encode(json.dumps(v).encode()).rstrip(b"=")
        body = part({"alg": "HS256", "typ": "JWT"}) + b"." + part(claims)
        return (body + b"." + base64.urlsafe_b64encode(hmac.new(key.encode(), body, hashlib.sha256).digest()).rstrip(b"=")).decode()
    now = int(time.time())
    good = {"exp": now + 300, "iss": "iss1", "aud": "aud1"}
    for bad in (token(good, "x" * 32), token(dict(good, exp=now - 300)), token(dict(good, iss="other")), token(dict(good, aud="other")), token(dict(good, nbf=now + 300)), "junk"):
        try:
            WsLink(s.url, {"Authorization": "Bearer " + bad}).close()
        except Exception as err:
            need("401" in str(err), "refusal is 401", str(err))
        else:
            raise Failed("connected with a bad token", bad)
    s.client(headers={"Authorization": "Bearer " + token(good)}).call("thread/loaded/list", {})


@check("transport")
def non_loopback_needs_auth(w):
    if not w.options.cmd:
        raise Skipped("needs --cmd")
    home = w.new_home()
    proc = subprocess.run(w.argv("ws://0.0.0.0:0"), stdin=subprocess.DEVNULL, capture_output=True, env=w.environment(home), timeout=20, cwd=home)
    need(proc.returncode != 0, "a public listener without auth must not start", proc.returncode)


@check("transport")
def unix_socket_speaks_websocket(w):
    s = w.listener(unix=True)
    path = s.url[7:]
    need(os.stat(path).st_mode & 0o777 == 0o600, "socket mode", oct(os.stat(path).st_mode))
    c = s.client()
    run_turn(c, start_thread(c), [{"say": "over unix"}])
    s.close()
    settle()
    need(not os.path.exists(path), "socket file is removed at exit")


@check("transport")
def binary_frames_are_ignored(w):
    c = w.common().client()
    c.link.socket.send(b"\x00\x01binary")
    c.link.socket.ping().wait(5)
    c.call("thread/loaded/list", {})


@check("transport")
def flood_is_answered_or_refused_never_lost(w):
    c = w.common().client()
    ids = [c.post("thread/loaded/list", {}) for _ in range(3000)]
    busy = 0
    for id in ids:
        message = c.answer(id, 60)
        if "error" in message:
            need(message["error"]["code"] == -32001, "refusal code", message)
            busy += 1
    need(busy < len(ids), "everything was refused")
    c.call("thread/loaded/list", {})


@check("transport", beyond=True)
def burst_loses_no_answer(w):
    c = w.stdio()
    c.initialize()
    ids = list(range(10000, 18000))
    for id in ids:
        c.pending[id] = "thread/loaded/list"
    c.link.send_text("\n".join(json.dumps({"id": id, "method": "thread/loaded/list", "params": {}}) for id in ids))
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(id not in c.answers for id in ids):
        time.sleep(0.2)
    lost = sum(id not in c.answers for id in ids)
    need(lost == 0, "%d of %d requests were never answered" % (lost, len(ids)))
    c.call("thread/loaded/list", {})


@check("transport")
def slow_reader_does_not_stall_others(w):
    s = w.common()
    a = s.client()
    thread = start_thread(a)
    run_turn(a, thread, [{"say": "x"}])
    slow = socket.create_connection(tuple([s.url[5:].split(":")[0], int(s.url.rsplit(":", 1)[1].strip("/"))]))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.sendall(("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())

    def frame(value):
        data = json.dumps(value).encode()
        head = b"\x81" + (bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xfe]) + len(data).to_bytes(2, "big"))
        slow.sendall(head + b"\0\0\0\0" + data)
    slow.recv(512)
    frame({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "slow", "version": "1"}}})
    settle(0.3)
    frame({"id": 2, "method": "thread/resume", "params": {"threadId": thread}})
    settle(0.5)
    began = time.monotonic()
    run_turn(a, thread, [{"say": "b" * 400000, "chunk": 400}], timeout=60)
    need(time.monotonic() - began < 30, "a client that does not read slowed the others down")
    slow.close()
    a.call("thread/loaded/list", {})


@check("transport")
def big_message_is_accepted(w):
    c = w.common().client()
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "p" * 6000000}]}
    c.call("thread/inject_items", {"threadId": start_thread(c, ephemeral=True), "items": [item]}, 60)


@check("transport")
def sigterm_ends_the_server(w):
    s = w.listener()
    c = s.client()
    run_turn(c, start_thread(c), [{"say": "x"}])
    os.kill(s.proc.pid, signal.SIGTERM)
    try:
        s.proc.wait(15)
    except subprocess.TimeoutExpired:
        raise Failed("server did not end after SIGTERM")
    c.wait_closed()


# ---------------------------------------------------------------- services beside the turns

@check("service")
def model_list_pages(w):
    c = w.common().client()
    full = c.call("model/list", {})
    need(full["data"], "at least one model")
    one = c.call("model/list", {"limit": 1})
    need(len(one["data"]) == 1 and (one["nextCursor"] or len(full["data"]) == 1), "limit", one)
    need(sum(1 for m in full["data"] if m["isDefault"]) <= 1, "one default at most")


@check("service")
def account_and_config_can_be_read(w):
    c = w.common().client()
    account = c.call("account/read", {})
    need(account["requiresOpenaiAuth"] is False, "no login is required with an own model provider", account)
    need("config" in c.call("config/read", {"includeLayers": True, "cwd": w.root}), "config/read")
    c.call("configRequirements/read")
    c.call("skills/list", {"cwds": [w.root]})
    c.call("hooks/list", {"cwds": [w.root]})
    need(c.call("collaborationMode/list", {})["data"], "collaboration modes")


@check("service")
def filesystem_methods(w):
    import base64
    c = w.common().client()
    base = os.path.join(w.root, "fsdir")
    path = os.path.join(base, "a.txt")
    need(c.call("fs/createDirectory", {"path": base}) == {}, "createDirectory")
    need(c.call("fs/writeFile", {"path": path, "dataBase64": base64.b64encode(b"\x00hi").decode()}) == {}, "writeFile")
    need(base64.b64decode(c.call("fs/readFile", {"path": path})["dataBase64"]) == b"\x00hi", "readFile")
    meta = c.call("fs/getMetadata", {"path": path})
    need(meta["isFile"] and not meta["isDirectory"] and meta["modifiedAtMs"] > 0, "getMetadata", meta)
    need([e["fileName"] for e in c.call("fs/readDirectory", {"path": base})["entries"]] == ["a.txt"], "readDirectory")
    c.call("fs/copy", {"sourcePath": path, "destinationPath": path + "2"})
    c.call("fs/remove", {"path": path})
    need(not os.path.exists(path) and os.path.exists(path + "2"), "copy and remove")
    c.refused("fs/readFile", {"path": os.path.join(base, "missing")})
    c.refused("fs/readFile", {"path": "relative.txt"})


@check("service")
def command_exec_buffers_and_streams(w):
    import base64
    c = w.common().client()
    r = c.call("command/exec", {"command": ["sh", "-c", "echo out; echo err >&2; exit 5"], "cwd": w.root})
    need(r["exitCode"] == 5 and r["stdout"] == "out\n" and r["stderr"] == "err\n", "buffered result", r)
    mark = c.mark()
    id = c.post("command/exec", {"command": ["cat"], "processId": "p1", "streamStdin": True, "streamStdoutStderr": True})
    settle(0.3)
    c.call("command/exec/write", {"processId": "p1", "deltaBase64": base64.b64encode(b"hello\n").decode()})
    c.note("command/exec/outputDelta", mark=mark, processId="p1")
    c.call("command/exec/write", {"processId": "p1", "closeStdin": True})
    r = c.answer(id)["result"]
    data = b"".join(base64.b64decode(m["params"]["deltaBase64"]) for m in c.notes("command/exec/outputDelta", mark, processId="p1"))
    need(r["exitCode"] == 0 and data == b"hello\n" and r["stdout"] == "", "streamed result", r)
    id = c.post("command/exec", {"command": ["sleep", "30"], "processId": "p2"})
    settle(0.3)
    c.call("command/exec/terminate", {"processId": "p2"})
    need(c.answer(id, 10)["result"]["exitCode"] != 0, "terminated")
    c.refused("command/exec/terminate", {"processId": "nope"}, -32600)


@check("service")
def fuzzy_file_search_finds(w):
    c = w.common().client()
    base = os.path.join(w.root, "fuzzy")
    os.makedirs(os.path.join(base, "src"), exist_ok=True)
    open(os.path.join(base, "src", "needle_file.rs"), "w").close()
    files = c.call("fuzzyFileSearch", {"query": "needle", "roots": [base], "cancellationToken": None})["files"]
    need(files and files[0]["path"].endswith("needle_file.rs"), "result", files)


# ---------------------------------------------------------------- rollout files

@check("rollout")
def rollout_file_layout(w):
    s = w.common()
    if not s.home:
        raise Skipped("needs --cmd")
    c = s.client()
    t = c.call("thread/start", {"cwd": w.root})["thread"]
    run_turn(c, t["id"], [{"think": "h"}, shell(w, "echo r")], [{"say": "rolled"}])
    settle(0.5)
    path = t["path"]
    need(os.path.exists(path), "rollout file", path)
    need(re.search(r"/sessions/\d{4}/\d{2}/\d{2}/rollout-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-" + t["id"] + r"\.jsonl$", path), "file name", path)
    with open(path) as f:
        lines = [json.loads(line) for line in f]
    need(all({"timestamp", "type", "payload"} <= set(line) for line in lines), "line shape", lines[0])
    need(lines[0]["type"] == "session_meta" and lines[0]["payload"]["id"] == t["id"], "first line", lines[0]["type"])
    kinds = {line["type"] for line in lines}
    need({"session_meta", "turn_context", "response_item", "event_msg"} <= kinds, "line types", sorted(kinds))
    stamps = [line["timestamp"] for line in lines]
    need(all(re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$", x) for x in stamps), "timestamps", stamps[0])


@check("rollout")
def truncated_rollout_still_resumes(w):
    s = w.listener()
    c = s.client()
    t = c.call("thread/start", {})["thread"]
    run_turn(c, t["id"], [{"say": "intact"}])
    s.close()
    with open(t["path"], "a") as f:
        f.write("{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"resp")
    r = w.listener(home=s.home).client().call("thread/resume", {"threadId": t["id"]})["thread"]
    need("intact" in texts(items_of(r["turns"])), "history up to the broken line", r["turns"])


# ---------------------------------------------------------------- agents

def spawn(w, name, steps, **extra):
    return {"call": "spawn_agent", "ns": w.options.agent_namespace, "args": dict(task_name=name, message="RUN " + json.dumps(steps), fork_turns="none", **extra)}


def agent_call(w, name, **args):
    return {"call": name, "ns": w.options.agent_namespace, "args": args}


def child_thread(c, thread, mark, seconds=20):
    """Id of the spawned thread, as the parent's items tell it."""
    return c.note("item/started", seconds, mark, threadId=thread, item__type="subAgentActivity", item__kind="started")["item"]["agentThreadId"]


@check("agents")
def spawned_agent_runs_as_a_thread(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    start_turn(c, thread, [spawn(w, "worker_one", [[{"say": "child answer"}]])], [agent_call(w, "wait_agent", timeout_ms=20000)], [{"say": "parent done"}])
    child = child_thread(c, thread, mark)
    c.note("turn/completed", 40, mark, threadId=thread)
    c.note("turn/completed", 20, mark, threadId=child)
    said = [m["params"]["item"]["text"] for m in c.notes("item/completed", mark, threadId=child, item__type="agentMessage")]
    need(said == ["child answer"], "the child's items are streamed to the parent's subscriber", said)
    activity = c.notes("item/started", mark, threadId=thread, item__type="subAgentActivity")[0]["params"]["item"]
    need(activity["agentPath"] == "/root/worker_one", "path in the activity item", activity)
    info = c.call("thread/read", {"threadId": child})["thread"]
    need(info["parentThreadId"] == thread, "parentThreadId", info)
    source = dig(info, "source__subAgent__thread_spawn") or {}
    need(source.get("agent_path") == "/root/worker_one" and source.get("depth") == 1 and source.get("parent_thread_id") == thread, "source", info["source"])
    need(child not in [t["id"] for t in c.call("thread/list", {"limit": 200})["data"]], "children are not among the interactive threads")
    for key in ("parentThreadId", "ancestorThreadId"):
        rows = c.call("thread/list", {key: thread})["data"]
        need([t["id"] for t in rows] == [child], "thread/list by " + key, [t["id"] for t in rows])


@check("agents")
def child_result_reaches_the_parent(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [spawn(w, "reporter", [[{"say": "report-xyz"}]])], [agent_call(w, "wait_agent", timeout_ms=20000)], [{"say": "parent done"}], timeout=60)
    inputs = [r["body"]["input"] for r in w.model_requests() if "/root/reporter" in json.dumps(r["body"]["input"])]
    mail = [i for items in inputs for i in items if i.get("author") == "/root/reporter"]
    need(mail and "report-xyz" in json.dumps(mail[-1]) and mail[-1]["recipient"] == "/root", "the final answer arrives in the parent's input with author and recipient", mail)
    need("FINAL_ANSWER" in json.dumps(mail[-1]), "message type", mail[-1])


@check("agents")
def agent_names_are_unique_and_checked(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [spawn(w, "same_name", [[{"say": "a"}]])], [spawn(w, "same_name", [[{"say": "b"}]]), spawn(w, "Bad Name", [[{"say": "c"}]])],
             [agent_call(w, "send_message", target="/root/nobody", message="x")], [{"say": "end"}], timeout=60)
    outputs = [json.dumps(i["output"]) for i in w.model_requests()[-1]["body"]["input"] if i.get("type") == "function_call_output"]
    sent = [r for r in w.model_requests() if "same_name" in json.dumps(r["body"]["input"])]
    outputs = max(([json.dumps(i["output"]) for i in r["body"]["input"] if i.get("type") == "function_call_output"] for r in sent), key=len)
    need(len(outputs) == 4 and "same_name" in outputs[0], "outputs", outputs)
    need("already" in outputs[1] or "exists" in outputs[1], "a repeated name is refused", outputs[1])
    need("lowercase" in outputs[2] or "invalid" in outputs[2].lower() or "must" in outputs[2], "a bad name is refused", outputs[2])
    need("nobody" in outputs[3], "an unknown target is refused", outputs[3])


@check("agents")
def agents_are_listed_with_paths(w):
    c = w.common().client()
    thread = start_thread(c)
    run_turn(c, thread, [spawn(w, "lister", [[{"say": "a"}]])], [agent_call(w, "wait_agent", timeout_ms=20000)], [agent_call(w, "list_agents")], [{"say": "end"}], timeout=60)
    outputs = [i["output"] for r in w.model_requests() for i in r["body"]["input"] if i.get("type") == "function_call_output" and "agent_name" in json.dumps(i["output"])]
    rows = json.loads(outputs[-1] if isinstance(outputs[-1], str) else outputs[-1][0]["text"])["agents"]
    need({"/root", "/root/lister"} <= {r["agent_name"] for r in rows}, "paths in list_agents", rows)
    need([r["agent_status"] for r in rows if r["agent_name"] == "/root/lister"] == [{"completed": "a"}], "status of a finished agent", rows)


@check("agents")
def message_reaches_a_running_child(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    run_turn(c, thread, [spawn(w, "mailee", [[shell(w, "sleep 2")], [{"say": "child end"}]])], [agent_call(w, "send_message", target="mailee", message="note-from-parent")],
             [agent_call(w, "wait_agent", timeout_ms=20000)], [{"say": "end"}], timeout=60)
    mail = [i for r in w.model_requests() for i in r["body"]["input"] if i.get("recipient") == "/root/mailee" and "note-from-parent" in json.dumps(i)]
    need(mail and mail[0]["author"] == "/root", "the child's model input must hold the message with author and recipient", mail)
    child = child_thread(c, thread, mark)
    need(len(c.notes("turn/started", mark, threadId=child)) == 1, "send_message must not start a turn")


@check("agents")
def interrupt_agent_stops_the_child(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    start_turn(c, thread, [spawn(w, "victim", [[shell(w, "sleep 25", yield_time_ms=30000)], [{"say": "never"}]])], [shell(w, "sleep 1")],
               [agent_call(w, "interrupt_agent", target="victim")], [{"say": "end"}])
    child = child_thread(c, thread, mark)
    need(c.note("turn/completed", 20, mark, threadId=child)["turn"]["status"] == "interrupted", "child turn")
    need(c.note("turn/completed", 20, mark, threadId=thread)["turn"]["status"] == "completed", "parent turn")
    outputs = [json.dumps(i["output"]) for i in w.model_requests()[-1]["body"]["input"] if i.get("type") == "function_call_output"]
    need(any("previous_status" in o and "running" in o for o in outputs), "previous status in the result", outputs)


@check("agents")
def mailbox_message_wakes_a_waiting_parent(w):
    c = w.common().client()
    # the reference server gives children these tools only with a model of its catalogue
    thread = start_thread(c, **({"model": "gpt-6-sol"} if w.options.profile == "codex" else {}))
    child_steps = [[agent_call(w, "send_message", target="/root", message="note-from-child")], [{"say": "child end"}]]
    run_turn(c, thread, [spawn(w, "mailer", child_steps)], [agent_call(w, "wait_agent", timeout_ms=20000)], [{"say": "end"}], timeout=60)
    mail = [i for r in w.model_requests() for i in r["body"]["input"] if i.get("author") == "/root/mailer" and "note-from-child" in json.dumps(i)]
    need(mail and mail[0]["recipient"] == "/root" and "MESSAGE" in json.dumps(mail[0]), "the parent's model input must hold the child's message", mail)


@check("agents")
def follow_up_task_starts_another_child_turn(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    again = "RUN " + json.dumps([[{"say": "second-answer"}]])
    run_turn(c, thread, [spawn(w, "helper", [[{"say": "first-answer"}]])], [agent_call(w, "wait_agent", timeout_ms=20000)],
             [agent_call(w, "followup_task", target="helper", message=again)], [agent_call(w, "wait_agent", timeout_ms=20000)], [{"say": "end"}], timeout=60)
    child = child_thread(c, thread, mark)
    need(len(c.notes("turn/completed", mark, threadId=child)) == 2, "two child turns")
    said = [m["params"]["item"]["text"] for m in c.notes("item/completed", mark, threadId=child, item__type="agentMessage")]
    need(said == ["first-answer", "second-answer"], "child messages", said)


@check("agents")
def waiting_ends_on_timeout(w):
    c = w.common().client()
    thread = start_thread(c)
    began = time.monotonic()
    run_turn(c, thread, [spawn(w, "sleeper", [[shell(w, "sleep 14", yield_time_ms=20000)], [{"say": "late"}]])], [agent_call(w, "wait_agent", timeout_ms=10000)], [{"say": "end"}], timeout=60)
    outputs = [json.dumps(i["output"]) for i in w.model_requests()[-1]["body"]["input"] if i.get("type") == "function_call_output"]
    need(9 < time.monotonic() - began < 14 and "timed_out" in outputs[-1] and "true" in outputs[-1], "timed out wait", outputs)


@check("agents")
def interrupting_the_parent_leaves_the_child_running(w):
    c = w.common().client()
    thread = start_thread(c)
    mark = c.mark()
    turn = start_turn(c, thread, [spawn(w, "longrun", [[shell(w, "sleep 2")], [{"say": "child finished"}]])], [agent_call(w, "wait_agent", timeout_ms=30000)], [{"say": "no"}])
    child = child_thread(c, thread, mark)
    c.note("turn/started", 20, mark, threadId=child)
    c.call("turn/interrupt", {"threadId": thread, "turnId": turn})
    need(c.note("turn/completed", 20, mark, threadId=thread)["turn"]["status"] == "interrupted", "parent")
    need(c.note("turn/completed", 20, mark, threadId=child)["turn"]["status"] == "completed", "child goes on")


# ---------------------------------------------------------------- everything that arrived fits the schema

@check("schema")
def every_message_matched_the_schema(w):
    bad, total = [], 0
    for thing in w.live:
        for connection in getattr(thing, "connections", [thing]):
            total += len(connection.seen)
            bad += connection.problems
    need(not bad, "%d of %d messages do not fit the schema" % (len(bad), total), *bad[:5])
    need(total > 0, "no messages to judge")


# ---------------------------------------------------------------- main

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cmd", help="server command; --listen URL is appended unless it holds {listen}")
    parser.add_argument("--ws", help="URL of a server that runs already (checks that start servers are skipped)")
    parser.add_argument("--profile", choices=("codex", "project"), default="project")
    parser.add_argument("--env", action="append", metavar="KEY=VALUE", help="extra environment of started servers; {base} and {home} are filled in")
    parser.add_argument("--only", action="append", help="run checks whose GROUP.NAME holds this text")
    parser.add_argument("--skip", action="append", help="leave out checks whose name holds this text")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--model-port", type=int, default=0)
    parser.add_argument("--schema", help="folder with the schema files")
    parser.add_argument("--shell-tool", default="exec_command")
    parser.add_argument("--shell-arg", default="cmd")
    parser.add_argument("--patch", choices=("heredoc", "custom", "function"), default="heredoc")
    parser.add_argument("--agent-namespace", default="collaboration")
    parser.add_argument("--tmp", help="folder for homes and work files")
    parser.add_argument("--keep", action="store_true", help="keep that folder")
    parser.add_argument("--beyond", choices=("run", "skip"), help="checks beyond the peer; default: run, with --profile codex skip")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    chosen = [c for c in CHECKS if (not options.only or any(t in c[0] + "." + c[1] for t in options.only))
              and not (options.skip and any(t in c[1] for t in options.skip))]
    if options.list:
        for group, name, _, beyond in chosen:
            print("%-10s %s%s" % (group, name, "  (beyond the peer)" if beyond else ""))
        return 0
    if not options.cmd and not options.ws:
        parser.error("give --cmd or --ws")
    world = World(options)
    if options.ws:
        print("model base URL: " + world.base, flush=True)
    passed, failed, skipped = 0, [], 0
    try:
        for group, name, function, beyond in chosen:
            began = time.monotonic()
            label = "%s.%s%s" % (group, name, " (beyond the peer)" if beyond else "")
            try:
                if beyond and (options.beyond or ("skip" if options.profile == "codex" else "run")) == "skip":
                    raise Skipped("the peer does not do this")
                function(world)
            except Skipped as why:
                skipped += 1
                print("skip %s: %s" % (label, why), flush=True)
                continue
            except Failed as why:
                failed.append(label)
                print("FAIL %s: %s" % (label, why), flush=True)
                continue
            except Exception as err:
                failed.append(label)
                print("FAIL %s: %s: %s" % (label, type(err).__name__, err), flush=True)
                if options.verbose:
                    import traceback
                    traceback.print_exc()
                continue
            passed += 1
            print("ok   %s (%.1fs)" % (label, time.monotonic() - began), flush=True)
    finally:
        world.cleanup()
    for label in failed:
        print("failed: " + label)
    print("%d passed, %d failed%s" % (passed, len(failed), ", %d skipped" % skipped if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
