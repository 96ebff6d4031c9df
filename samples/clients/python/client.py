"""A small client of the app-server: one prompt, its answer, and questions in between.

    python client.py "Count the files here"
    python client.py --server "codex app-server" "Count the files here"

It starts the server, speaks the protocol over its stdin and stdout, one JSON message a line, and prints what happens: what the
agent says, which commands it runs, which files it changes. When the agent needs an approval, it asks you. Python 3.11, no packages.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "docs" / "protocol" / "python"))

from trace_protocol import (
    CommandExecutionRequestApprovalParams,
    FileChangeRequestApprovalParams,
    InitializeParams,
    ServerNotification,
    ServerRequest,
    ThreadItem,
    ThreadStartParams,
    ThreadStartResponse,
    TurnStartParams,
)


class Server:
    """A server that this program started."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.next_id = 0
        # Notifications and requests that arrived while a response was awaited.
        self.waiting: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the server has ended")
        return cast(dict[str, Any], json.loads(line))

    def call(self, method: str, params: Any) -> Any:
        """Sends a request and returns its result. Everything else that arrives meanwhile is kept for `messages`."""
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" in message or message.get("id") != self.next_id:
                self.waiting.append(message)
            elif "error" in message:
                sys.exit(f"{method}: {message['error']['message']}")
            else:
                return message["result"]

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yields notifications and requests as they come."""
        while True:
            yield self.waiting.pop(0) if self.waiting else self.receive()

    def close(self) -> None:
        """Closes the connection. The server ends when its only client leaves."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def show(item: ThreadItem) -> None:
    """Prints an item that is complete. What the agent says was printed while it arrived."""
    if item["type"] == "commandExecution":
        print(f"$ {item['command']}  [{item['status']}, exit code {item.get('exitCode')}]")
        print("".join(f"  {line}\n" for line in (item.get("aggregatedOutput") or "").splitlines()), end="")
    elif item["type"] == "fileChange":
        for change in item["changes"]:
            print(f"~ {change['path']}  [{item['status']}]")
    elif item["type"] == "mcpToolCall":
        print(f"* {item['server']}.{item['tool']}  [{item['status']}]")


def may(question: str) -> bool:
    """Asks the person at the terminal."""
    print(f"? {question} [y/N] ", end="", flush=True)
    answer = sys.stdin.readline()
    # Without a terminal, the answers are read from a file or a pipe, and have to be shown.
    if not sys.stdin.isatty():
        print(answer.strip())
    return answer.strip().lower() in ("y", "yes")


def answer(server: Server, request: ServerRequest) -> None:
    """Answers a question of the server. It waits for every answer."""
    if request["method"] == "item/commandExecution/requestApproval":
        command: CommandExecutionRequestApprovalParams = request["params"]
        allowed = may(f"run `{command.get('command')}`{reason(command.get('reason'))}")
    elif request["method"] == "item/fileChange/requestApproval":
        change: FileChangeRequestApprovalParams = request["params"]
        allowed = may(f"change files{reason(change.get('reason'))}")
    else:
        error = {"code": -32601, "message": f"this client does not answer {request['method']}"}
        return server.send({"id": request["id"], "error": error})
    server.send({"id": request["id"], "result": {"decision": "accept" if allowed else "decline"}})


def reason(text: str | None) -> str:
    return f" ({text})" if text else ""


def run(server: Server, prompt: str, cwd: str) -> int:
    """Runs one turn. Returns the exit code of this program."""
    hello: InitializeParams = {"clientInfo": {"name": "sample-python", "version": "1.0.0"}}
    server.call("initialize", hello)
    server.send({"method": "initialized"})
    settings: ThreadStartParams = {"cwd": cwd}
    started = cast(ThreadStartResponse, server.call("thread/start", settings))
    thread = started["thread"]["id"]
    turn: TurnStartParams = {"threadId": thread, "input": [{"type": "text", "text": prompt}]}
    server.call("turn/start", turn)
    for message in server.messages():
        if "id" in message and "method" in message:
            answer(server, cast(ServerRequest, message))
            continue
        notification = cast(ServerNotification, message)
        if notification["method"] == "item/agentMessage/delta":
            print(notification["params"]["delta"], end="", flush=True)
        elif notification["method"] == "item/completed":
            if notification["params"]["item"]["type"] == "agentMessage":
                print()
            show(notification["params"]["item"])
        elif notification["method"] == "error":
            print(f"! {notification['params']['error']['message']}", file=sys.stderr)
        elif notification["method"] == "turn/completed" and notification["params"]["threadId"] == thread:
            status = notification["params"]["turn"]["status"]
            print(f"turn {status}")
            return 0 if status == "completed" else 1
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs one turn on an app-server")
    parser.add_argument("--server", default="trace serve", help="the command that starts the server [trace serve]")
    parser.add_argument("--cwd", default=".", help="the folder in which the agent works [.]")
    parser.add_argument("prompt")
    options = parser.parse_args()
    server = Server(shlex.split(options.server))
    code = run(server, options.prompt, str(Path(options.cwd).resolve()))
    server.close()
    return code


if __name__ == "__main__":
    sys.exit(main())
