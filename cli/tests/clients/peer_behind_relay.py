#!/usr/bin/env python3
"""The app-server of the Codex CLI behind our relay.

    peer_behind_relay.py --server "trace serve" --trace TRACE --peer CODEX

The peer enrols at the backend of its product before it dials. A stand-in answers the enrolment on loopback, and passes the
connection on to the relay with the token of a device. Two clients work through the relay: one that numbers its messages, with
its connections and those of the peer cut in the turn, and an ordinary one.
"""

import asyncio
import base64
import json
import os
import subprocess
import sys

from setting import CODEX_CONFIG, Setting, Steps, arguments, script, watchdog

LONGEST = 64 << 20


def token(claims):
    """Returns a token that looks like those of the product. Nobody checks its signature here."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return ".".join([part({"alg": "none"}), part(claims), "signature"])


class Backend:
    """Answers the enrolment of a server, and passes its WebSocket on to the relay."""

    def __init__(self, relay):
        self.relay = relay
        self.requests = []
        self.open = set()

    async def start(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode().rstrip().split("\r\n")
            method, path, _ = first.split(" ")
            headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
            self.requests.append((method, path, headers))
            if headers.get("upgrade", "").lower() == "websocket":
                await self.hand_on(first, lines, reader, writer)
            else:
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                await self.answer(path, json.loads(body or b"{}"), writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, path, body, writer):
        answer, status = {}, "404 Not Found"
        if path.endswith(("/wham/remote/control/server/enroll", "/wham/remote/control/server/refresh")):
            with open(self.relay.token_file) as file:
                device = file.read().strip()
            status = "200 OK"
            answer = {"server_id": "srv", "environment_id": "env", "remote_control_token": device,
                      "expires_at": "2100-01-01T00:00:00Z"}
        text = json.dumps(answer).encode()
        head = "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(text))
        writer.write(head.encode() + text)
        await writer.drain()

    async def hand_on(self, first, lines, reader, writer):
        host, port = self.relay.url[len("ws://"):].split(":")
        up_reader, up_writer = await asyncio.open_connection(host, int(port))
        method, _, version = first.split(" ")
        up_writer.write(("\r\n".join(["%s /server %s" % (method, version), *lines]) + "\r\n\r\n").encode())
        self.open.add(writer)
        copies = [asyncio.ensure_future(self.copy(*pair)) for pair in ((reader, up_writer), (up_reader, writer))]
        await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        self.open.discard(writer)
        up_writer.close()

    @staticmethod
    async def copy(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()

    def cut(self):
        for writer in list(self.open):
            writer.transport.abort()


class Numbered:
    """A client that numbers its messages, and resumes its stream."""

    def __init__(self, relay):
        self.relay = relay
        self.stream, self.socket = None, None
        self.sent, self.waiting = 0, {}
        self.received, self.heard = 0, []
        self.changed = asyncio.Condition()
        self.task = asyncio.ensure_future(self.run())

    async def run(self):
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed

        while True:
            query = "/?stream=%s&after=%d" % (self.stream, self.received) if self.stream else "/"
            try:
                async with connect(self.relay.url + query, subprotocols=["trace.relay.v1"], max_size=LONGEST,
                                   additional_headers={"Authorization": "Bearer " + self.relay.token}) as socket:
                    self.stream = self.stream or socket.response.headers["x-trace-stream"]
                    for frame in list(self.waiting.values()):
                        await socket.send(frame)
                    self.socket = socket
                    while True:
                        await self.take(socket, json.loads(await socket.recv()))
            except ConnectionClosed as error:
                if error.rcvd and error.rcvd.code >= 4000:
                    sys.exit("the stream ended: %s" % error)
            except OSError:
                pass
            self.socket = None
            await asyncio.sleep(0.05)

    async def take(self, socket, frame):
        if "ack" in frame:
            self.waiting = {seq: text for seq, text in self.waiting.items() if seq > frame["ack"]}
        elif "seq" in frame:
            if frame["seq"] > self.received:
                self.received = frame["seq"]
                async with self.changed:
                    self.heard.append(frame["message"])
                    self.changed.notify_all()
            await socket.send(json.dumps({"ack": self.received}))

    async def say(self, message):
        self.sent += 1
        self.waiting[self.sent] = json.dumps({"seq": self.sent, "message": message})
        if self.socket:
            try:
                await self.socket.send(self.waiting[self.sent])
            except Exception:  # It is sent again.
                pass

    async def until(self, fits):
        def found():
            return [message for message in self.heard if fits(message)]

        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(found), 90)
        return found()[0]

    async def ask(self, number, method, params):
        await self.say({"id": number, "method": method, "params": params})
        answer = await self.until(lambda message: message.get("id") == number and "method" not in message)
        assert "result" in answer, answer
        return answer["result"]

    def cut(self):
        if self.socket:
            self.socket.transport.abort()


INTRODUCTION = {"clientInfo": {"name": "relay", "version": "1"}, "capabilities": {"experimentalApi": True}}


async def ordinary(relay):
    """Initializes an ordinary client, and returns the answer."""
    from websockets.asyncio.client import connect

    async with connect(relay.url, additional_headers={"Authorization": "Bearer " + relay.token}) as socket:
        await socket.send(json.dumps({"id": 1, "method": "initialize", "params": INTRODUCTION}))
        return json.loads(await asyncio.wait_for(socket.recv(), 60))


async def run(setting, peer):
    step = Steps()
    relay = setting.relay
    backend = Backend(relay)
    await backend.start()
    home = setting.folder("peer")
    with open(os.path.join(home, "config.toml"), "w") as file:
        file.write('chatgpt_base_url = "http://127.0.0.1:%d/backend-api"\n' % backend.port)
        file.write('cli_auth_credentials_store = "file"\n')
        file.write(CODEX_CONFIG % setting.model_url)
    claims = {"email": "nobody@example.com", "exp": 4102444800,
              "https://api.openai.com/auth": {"chatgpt_account_id": "account", "chatgpt_plan_type": "plus", "chatgpt_user_id": "user"}}
    tokens = {"id_token": token(claims), "access_token": token(claims), "refresh_token": "none", "account_id": "account"}
    with open(os.path.join(home, "auth.json"), "w") as file:
        json.dump({"OPENAI_API_KEY": None, "tokens": tokens, "last_refresh": "2099-01-01T00:00:00Z"}, file)
    process = subprocess.Popen([peer, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=setting.errors,
                               env=dict(os.environ, HOME=home, CODEX_HOME=home), cwd=setting.work, start_new_session=True)
    setting.processes.append(process)
    loop = asyncio.get_running_loop()

    def say(message):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()

    step("the peer enrols, and dials the relay")
    say({"id": 1, "method": "initialize", "params": INTRODUCTION})
    say({"method": "initialized"})
    say({"id": 2, "method": "remoteControl/enable", "params": {}})
    while True:
        line = await asyncio.wait_for(loop.run_in_executor(None, process.stdout.readline), 60)
        assert line, "the peer has ended"
        message = json.loads(line)
        assert "error" not in message, message
        if message.get("method") == "remoteControl/status/changed" and message["params"]["status"] == "connected":
            break
    dialled = [headers for _, path, headers in backend.requests if path.endswith("/control/server")]
    assert dialled and dialled[0]["x-codex-protocol-version"] == "3", backend.requests

    step("a client that numbers its messages, and an ordinary one")
    client = Numbered(relay)
    await client.ask(1, "initialize", INTRODUCTION)
    await client.say({"method": "initialized"})
    answer = await ordinary(relay)
    assert "result" in answer, answer
    started = await client.ask(2, "thread/start", {})
    thread = started["thread"]["id"]

    async def turn(number, *steps):
        begin = len(client.heard)
        await client.ask(number, "turn/start", {"threadId": thread, "input": [{"type": "text", "text": script(*steps)}]})

        def heard(method):
            return [message for message in client.heard[begin:] if message.get("method") == method]

        return heard

    step("a turn without cuts")
    heard = await turn(3, [{"say": "nothing is cut"}])
    await client.until(lambda message: message in heard("turn/completed"))

    step("a turn in which both connections are cut")
    text = "x" * (300 << 10)
    heard = await turn(4, [{"say": "before", "phase": "commentary"}, {"hold": "cut"}, {"say": text, "chunk": 400000}])
    backend.cut()
    client.cut()
    setting.release("cut")
    await client.until(lambda message: message in heard("turn/completed"))
    said = [message["params"]["item"]["text"] for message in heard("item/completed")
            if message["params"]["item"]["type"] == "agentMessage"]
    assert said.count(text) == 1, "the text comes once, not %d times" % said.count(text)
    assert len(heard("turn/completed")) == 1, "the end comes once"
    again = [headers for _, path, headers in backend.requests if path.endswith("/control/server")]
    assert len(again) >= 2 and "x-codex-subscribe-cursor" in again[-1], again

    step("a second turn after the cut")
    heard = await turn(5, [{"say": "it goes on"}])
    await client.until(lambda message: message in heard("turn/completed"))
    client.task.cancel()


def main():
    parser = arguments(__doc__)
    parser.add_argument("--peer", required=True, help="the Codex CLI's own binary")
    options = parser.parse_args()
    options.relay = True
    watchdog(300)
    with Setting(options) as setting:
        asyncio.run(run(setting, options.peer))


if __name__ == "__main__":
    main()
