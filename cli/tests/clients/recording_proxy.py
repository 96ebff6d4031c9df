#!/usr/bin/env python3
"""A proxy between a client and a server that forwards every message unchanged and records it.

    recording_proxy.py ws --upstream ws://127.0.0.1:PORT [--port N] --log FILE
    recording_proxy.py stdio --log FILE -- SERVER COMMAND
    recording_proxy.py judge --schema FOLDER FILE...

`ws` prints the URL that clients connect to. `stdio` is the server for whoever starts it: it starts SERVER COMMAND and copies
lines. `judge` holds what was kept against the schema and answers with status 1 when something does not fit. One line of
a log is {"at", "connection", "from": "client"|"server", "message"}.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import threading

from conversation import Conversation, Judge, load

# Headers that are not forwarded: extensions that this proxy cannot read, and headers of a single connection.
NOT_HANDED_ON = {"host", "upgrade", "connection", "x-codex-app-server-compression"}


class WebSocketProxy:
    """A proxy for WebSocket connections, in a thread of its own."""

    def __init__(self, upstream, conversation, port=0):
        self.upstream = upstream
        self.conversation = conversation
        self.port = port
        self.connections = 0
        self.open = {}
        self.ready = threading.Event()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_until_complete, args=(self.serve(),), daemon=True).start()
        if not self.ready.wait(10):
            raise AssertionError("the proxy does not start")

    @property
    def url(self):
        return "ws://127.0.0.1:%d" % self.port

    async def serve(self):
        from websockets.asyncio.server import serve

        limits = {"max_size": None, "compression": None, "ping_interval": None}
        async with serve(self.hand_on, "127.0.0.1", self.port, process_request=self.connect, **limits) as server:
            self.port = server.sockets[0].getsockname()[1]
            self.ready.set()
            await asyncio.get_running_loop().create_future()

    async def connect(self, connection, request):
        """Connects to the server before it answers the client, so that the client gets a refusal unchanged."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus

        headers = [(name, value) for name, value in request.headers.raw_items()
                   if name.lower() not in NOT_HANDED_ON and not name.lower().startswith("sec-websocket")]
        try:
            connection.upstream = await connect(
                self.upstream + request.path, additional_headers=headers, user_agent_header=None,
                max_size=None, compression=None, ping_interval=None, proxy=None)
        except InvalidStatus as refusal:
            return connection.respond(refusal.response.status_code, (refusal.response.body or b"").decode("utf-8", "replace"))
        except OSError as error:
            return connection.respond(502, str(error))
        return None

    async def hand_on(self, client):
        self.connections += 1
        number = self.connections
        self.open[number] = client
        await asyncio.wait(
            [asyncio.ensure_future(self.copy(client, client.upstream, number, "client")),
             asyncio.ensure_future(self.copy(client.upstream, client, number, "server"))],
            return_when=asyncio.FIRST_COMPLETED)
        await client.upstream.close()
        await client.close()
        del self.open[number]

    async def copy(self, source, target, number, sender):
        from websockets.exceptions import ConnectionClosed

        try:
            async for message in source:
                self.conversation.add(number, sender, message if isinstance(message, str) else message.decode("utf-8", "replace"))
                await target.send(message)
        except ConnectionClosed:
            pass


def stdio(command, log):
    """Runs `command` as a proxy of its standard streams. Returns its exit status."""
    conversation = Conversation(log)
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())

    def forward():
        for line in sys.stdin.buffer:
            conversation.add(1, "client", line.decode("utf-8", "replace"))
            try:
                server.stdin.write(line)
                server.stdin.flush()
            except OSError:
                return
        server.stdin.close()

    threading.Thread(target=forward, daemon=True).start()
    for line in server.stdout:
        conversation.add(1, "server", line.decode("utf-8", "replace"))
        try:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        except OSError:
            break
    return server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    ws = kinds.add_parser("ws")
    ws.add_argument("--upstream", required=True)
    ws.add_argument("--port", type=int, default=0)
    ws.add_argument("--log", required=True)
    lines = kinds.add_parser("stdio")
    lines.add_argument("--log", required=True)
    lines.add_argument("command", nargs="+")
    judge = kinds.add_parser("judge")
    judge.add_argument("--schema", required=True)
    judge.add_argument("logs", nargs="+")
    options = parser.parse_args()
    if options.kind == "stdio":
        # sys.exit would wait for the thread that is blocked on its input.
        os._exit(stdio(options.command, options.log))
    if options.kind == "ws":
        print(WebSocketProxy(options.upstream, Conversation(options.log), options.port).url, flush=True)
        signal.pause()
    found = [problem for log in options.logs for problem in Judge(options.schema).problems(load(log))]
    print("\n".join(found) or "everything fits")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
