#!/usr/bin/env python3
"""Tries tokens that clients give for a provider, and those that a program prints, with a provider that knows which tokens are good.

    client_tokens.py --trace PROGRAM
"""

import argparse
import contextlib
import glob
import http.server
import json
import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import websockets.sync.client
from websockets.exceptions import ConnectionClosed

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../samples/stand-in"))
import scripted_model  # noqa: E402

# Every token begins with this, so that a search for it finds any.
MARK = "tok-7f3a9c"


class Gateway(scripted_model.Handler):
    """The scripted model behind a gateway that knows which tokens are good. Its refusals repeat the token, as some services do."""

    good = set()
    seen = []
    lock = threading.Lock()

    def do_POST(self):
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        with self.lock:
            self.seen.append((token, dict((name.lower(), value) for name, value in self.headers.items())))
            is_good = token in self.good
        if is_good:
            return super().do_POST()
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_json(401, {"error": {"message": "the token %s is not valid" % token, "code": "invalid_api_key"}})

    @classmethod
    def reset(cls, *good):
        with cls.lock:
            cls.good, cls.seen = set(good), []


class Client:
    """A client of a server. `answers` has functions from params to a result by method; what has none is never answered."""

    def __init__(self, url, attests=False):
        self.socket = websockets.sync.client.connect(url, max_size=None)
        self.next, self.waiting, self.notes = 0, {}, queue.Queue()
        self.answers, self.asked, self.heard = {}, [], []
        threading.Thread(target=self.listen, daemon=True).start()
        self.call("initialize", {"clientInfo": {"name": "tokens", "version": "1"},
                                 "capabilities": {"experimentalApi": True, "requestAttestation": attests}})
        self.send({"method": "initialized"})

    def send(self, message):
        self.socket.send(json.dumps(message))

    def leave(self):
        """Cuts the connection without a word."""
        with contextlib.suppress(OSError):
            self.socket.socket.shutdown(socket.SHUT_RDWR)

    def listen(self):
        try:
            for text in self.socket:
                message = json.loads(text)
                if "method" in message and "id" in message:
                    self.asked.append((message["method"], message.get("params")))
                    threading.Thread(target=self.answer, args=(message,), daemon=True).start()
                elif "method" in message:
                    self.notes.put(message)
                else:
                    self.waiting.pop(message["id"]).put(message)
        except (ConnectionClosed, OSError):
            pass

    def answer(self, message):
        answer = self.answers.get(message["method"])
        try:
            result = answer(message.get("params")) if answer else None
        except PermissionError as error:
            self.send({"id": message["id"], "error": {"code": -32000, "message": str(error)}})
            return
        if result is not None:
            self.send({"id": message["id"], "result": result})

    def start(self, method, params=None):
        self.next += 1
        number, self.waiting[self.next] = self.next, queue.Queue()
        reply = self.waiting[number]
        self.send(dict({"id": number, "method": method}, **({} if params is None else {"params": params})))
        return reply

    def call(self, method, params=None):
        message = self.start(method, params).get(timeout=60)
        assert "result" in message, (method, message)
        return message["result"]

    def refused(self, method, params=None):
        message = self.start(method, params).get(timeout=60)
        assert "error" in message, (method, message)
        return message["error"]

    def login(self, token, account="acc-1"):
        result = self.call("account/login/start", {"type": "chatgptAuthTokens", "accessToken": token, "chatgptAccountId": account})
        assert result == {"type": "chatgptAuthTokens"}, result

    def turn(self, thread, script):
        text = "go RUN " + json.dumps(script)
        return self.call("turn/start", {"threadId": thread, "input": [{"type": "text", "text": text}]})["turn"]["id"]

    def thread(self):
        return self.call("thread/start", {"approvalPolicy": "never", "sandbox": "danger-full-access"})["thread"]["id"]

    def ends(self, *turns):
        """Waits until turns have ended, and returns them by their ids."""
        ended = {}
        while set(turns) - set(ended):
            note = self.notes.get(timeout=60)
            self.heard.append(note)
            if note["method"] == "turn/completed":
                ended[note["params"]["turn"]["id"]] = note["params"]["turn"]
        return [ended[turn] for turn in turns]

    def run(self, script):
        thread = self.thread()
        return self.ends(self.turn(thread, script))[0]


class Server:
    """A server with the gateway as its provider."""

    def __init__(self, trace, place, url, keys):
        self.home, self.bundles, self.log = (os.path.join(place, name) for name in ("home", "bundles", "log"))
        self.work = os.path.join(place, "work")
        os.makedirs(self.home)
        os.makedirs(self.work)
        with open(os.path.join(self.home, "config.toml"), "w") as file:
            file.write('model = "m"\nmodel_provider = "gateway"\n[model_providers.gateway]\nbase_url = "%s"\n%s\n' % (url, keys))
        env = dict(os.environ, TRACE_HOME=self.home, TRACE_ROOT=self.bundles, HOME=self.home, PROBE="visible")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([trace, "-vv", "serve", "--listen", "ws://127.0.0.1:0"], cwd=self.work, env=env,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.trace, self.clients = trace, []
        deadline = time.monotonic() + 60
        while True:
            with open(self.log) as log:
                found = re.search(r"ws://127\.0\.0\.1:[1-9][0-9]*", log.read())
            if found:
                self.url = found.group()
                return
            assert self.process.poll() is None and time.monotonic() < deadline, "the server does not listen"
            time.sleep(0.02)

    def client(self, **more):
        client = Client(self.url, **more)
        self.clients.append(client)
        return client

    def end(self):
        for client in self.clients:
            client.leave()
        self.process.terminate()
        self.process.wait(30)

    def attempts(self):
        """Returns the statuses of the recorded requests, a list per recording."""
        sql = "select status from inference_calls order by started_seq"
        bundles = glob.glob(self.bundles + "/*.trace")
        answers = [subprocess.check_output([self.trace, "query", "--json", bundle, sql]) for bundle in bundles]
        return sorted([row["status"] for row in json.loads(answer)] for answer in answers)

    def tells_nothing(self):
        """Searches everything that the server wrote for a token."""
        bundles = glob.glob(self.bundles + "/*.trace")
        assert bundles, "nothing was recorded"
        # A recording is compressed, so its directory is searched.
        unpacked = tempfile.mkdtemp(dir=os.path.dirname(self.bundles))
        subprocess.check_output([self.trace, "unpack", *bundles, "-o", unpacked + "/"])
        folders = (self.home, self.bundles, unpacked)
        files = [self.log] + [path for folder in folders for path in glob.glob(folder + "/**", recursive=True)]
        assert any(path.endswith("trace.jsonl") for path in files), files
        for path in files:
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    assert MARK.encode() not in file.read(), "a token is in " + path
        for bundle in bundles:
            done = subprocess.run([self.trace, "redact", "--check", bundle], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        return len(files)


REFRESH = "account/chatgptAuthTokens/refresh"
SAY = [[{"say": "hello"}]]


def given(token, account="acc-1"):
    return {"accessToken": token, "chatgptAccountId": account}


def refreshed(server):
    """Four turns at once are refused, and their client is asked once."""
    client = server.client()
    Gateway.reset()
    assert client.run(SAY)["status"] == "failed", "there is no token yet"
    assert Gateway.seen == [], "nothing is asked of the provider without a token"
    client.login(MARK + "-old")

    def answer(params):
        assert params == {"reason": "unauthorized", "previousAccountId": "acc-1"}, params
        time.sleep(0.3)
        Gateway.good.add(MARK + "-new")
        return given(MARK + "-new", "acc-2")

    client.answers[REFRESH] = answer
    threads = [client.thread() for _ in range(4)]
    client.heard.clear()
    turns = client.ends(*[client.turn(thread, SAY) for thread in threads])
    assert [turn["status"] for turn in turns] == ["completed"] * 4, turns
    assert len(client.asked) == 1, client.asked
    assert not [note for note in client.heard if note["method"] == "error"], "clients hear of a token that was renewed"
    used = [token for token, _ in Gateway.seen]
    assert used.count(MARK + "-new") == 4 and set(used) == {MARK + "-old", MARK + "-new"}, used
    accounts = {headers.get("x-account") for token, headers in Gateway.seen if token.endswith("-new")}
    assert accounts == {"acc-2"}, accounts
    account = client.call("account/read", {})
    assert account["account"] is None and MARK not in json.dumps(account), account

    # A command sees neither the token nor its account.
    script = [[{"call": "exec_command", "args": {"cmd": "tr '\\0' '\\n' < /proc/self/environ > seen; cat /proc/$PPID/environ >> seen"}}],
              [{"say": "done"}]]
    assert client.run(script)["status"] == "completed"
    with open(os.path.join(server.work, "seen"), "rb") as file:
        seen = file.read()
    assert b"PROBE=visible" in seen and MARK.encode() not in seen and b"acc-2" not in seen, seen
    client.call("account/logout")
    assert client.run(SAY)["status"] == "failed", "the token was taken back"


def declined(server):
    """A refusal holds: the turn asks once, and so do the next ones until somebody logs in."""
    client = server.client()
    Gateway.reset()
    for answer, why in [(lambda _: deny(), "refused"), (lambda _: {"accessToken": 3}, "no text `accessToken`")]:
        client.login(MARK + "-bad")
        client.answers[REFRESH] = answer
        before = len(client.asked)
        for _ in range(3):
            turn = client.run(SAY)
            assert turn["status"] == "failed" and turn["error"]["codexErrorInfo"] == "unauthorized", turn
            assert MARK not in json.dumps(turn) and "[token]" in json.dumps(turn), turn
            assert why in json.dumps(turn["error"]), turn
        assert len(client.asked) == before + 1, client.asked
    client.login(MARK + "-fine")
    Gateway.good.add(MARK + "-fine")
    assert client.run(SAY)["status"] == "completed", "a login ends the refusal"
    client.leave()


def deny():
    raise PermissionError("no %s for you" % MARK)


def silent(server):
    """A client that does not answer is not waited for longer than ten seconds."""
    client = server.client()
    Gateway.reset()
    client.login(MARK + "-bad")
    turn = client.run(SAY)
    assert turn["status"] == "failed" and "did not answer" in json.dumps(turn), turn
    assert len(client.asked) == 1, client.asked
    client.leave()


def gone(server):
    """If the asked client leaves, the next one that gave a token is asked."""
    first, second = server.client(), server.client()
    Gateway.reset(MARK + "-third")
    first.login(MARK + "-first")
    first.answers[REFRESH] = lambda _: given(MARK + "-third")
    second.login(MARK + "-second")
    second.answers[REFRESH] = lambda _: second.leave()
    turn = first.run(SAY)
    assert turn["status"] == "completed", turn
    assert (len(first.asked), len(second.asked)) == (1, 1), (first.asked, second.asked)
    first.leave()


def attested(server):
    """The client that starts a turn attests its requests, also those of agents below it."""
    attesting, other = server.client(attests=True), server.client()
    Gateway.reset(MARK + "-a")
    attesting.login(MARK + "-a")
    attesting.answers["attestation/generate"] = lambda _: {"token": "signed"}
    child = "go RUN " + json.dumps(SAY)
    script = [[{"call": "spawn_agent", "ns": "collaboration", "args": {"task_name": "kid", "message": child, "fork_turns": "none"}}],
              [{"call": "wait_agent", "ns": "collaboration", "args": {"timeout_ms": 20000}}], [{"say": "done"}]]
    # A request waits 100 ms, which a busy machine may need for other things.
    for _ in range(20):
        Gateway.reset(MARK + "-a")
        assert attesting.run(script)["status"] == "completed"
        signed = [headers.get("x-attestation") for _, headers in Gateway.seen]
        if len(signed) >= 3 and set(signed) == {"signed"}:
            break
    else:
        raise AssertionError(signed)
    Gateway.reset(MARK + "-a")
    assert other.run(SAY)["status"] == "completed"
    attesting.answers["attestation/generate"] = lambda _: time.sleep(5)
    assert attesting.run(SAY)["status"] == "completed", "it goes on without"
    assert {headers.get("x-attestation") for _, headers in Gateway.seen} == {None}, Gateway.seen


def refusals(server):
    client = server.client()
    for params in ({"type": "apiKey", "apiKey": MARK}, {"type": "chatgpt"},
                   {"type": "chatgptAuthTokens", "accessToken": " ", "chatgptAccountId": "a"}):
        error = client.refused("account/login/start", params)
        assert MARK not in json.dumps(error), error
    client.leave()


def printed(trace, place, url):
    """A program prints tokens for a server without clients that could."""
    count = os.path.join(place, "count")
    program = os.path.join(place, "token")
    with open(program, "w") as file:
        file.write('#!/bin/sh\necho x >> "%s"\nprintf \'{"access_token": "%s-%%s", "expires_in": 3600, "account_id": "robot"}\' '
                   '"$(wc -l < "%s" | tr -d " ")"\n' % (count, MARK, count))
    os.chmod(program, 0o755)
    server = Server(trace, os.path.join(place, "printed"), url, 'auth_command = ["%s"]\naccount_header = "x-account"' % program)
    client = server.client()
    Gateway.reset(MARK + "-2")
    assert client.run(SAY)["status"] == "completed"
    assert [(token, headers.get("x-account")) for token, headers in Gateway.seen] == [(MARK + "-1", "robot"), (MARK + "-2", "robot")]
    Gateway.reset()
    turn = client.run(SAY)
    assert turn["status"] == "failed" and turn["error"]["codexErrorInfo"] == "unauthorized", turn
    assert len(Gateway.seen) == 2, "the request is repeated once"
    error = client.refused("account/login/start", {"type": "chatgptAuthTokens", "accessToken": MARK, "chatgptAccountId": "a"})
    assert "no provider takes a token from a client" in error["message"], error
    server.end()
    assert server.attempts() == [["failed", "completed"], ["failed", "failed"]], "each attempt is recorded"
    server.tells_nothing()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", required=True)
    trace = os.path.abspath(parser.parse_args().trace)
    place = tempfile.mkdtemp(prefix="client-tokens-")
    gateway = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    gateway.daemon_threads = True
    threading.Thread(target=gateway.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/v1" % gateway.server_address[1]
    keys = 'auth = "client"\naccount_header = "x-account"\nattestation_header = "x-attestation"'
    server = Server(trace, os.path.join(place, "clients"), url, keys)
    try:
        for check in (refreshed, declined, gone, attested, refusals, silent):
            check(server)
            print("%s: %s" % (check.__name__, check.__doc__ or "logins of other kinds are refused"))
    finally:
        server.end()
    print("no token in %d files that the server wrote" % server.tells_nothing())
    printed(trace, place, url)
    print("printed: " + printed.__doc__)
    gateway.shutdown()
    shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
