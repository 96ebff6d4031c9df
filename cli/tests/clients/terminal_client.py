#!/usr/bin/env python3
"""The Codex terminal client on a real terminal, against a server over WebSocket.

    terminal_client.py --server "trace serve" --peer CODEX [--trace TRACE]
    terminal_client.py --server "trace serve" --peer CODEX --trace TRACE --relay
    terminal_client.py --server "trace serve" --peer CODEX --trace TRACE --sealed
    terminal_client.py --server "CODEX app-server" --profile codex --peer CODEX

CODEX is the program itself (npm @openai/codex@0.169.0). Needs tmux, and the packages websockets and jsonschema. Asserts what
the screen shows as well as what passed between client and server.
"""

import os
import re
import shlex
import subprocess
import sys

from setting import Setting, Steps, arguments, asking, script, shell, spawn, until, wait, watchdog

COLUMNS, ROWS = 160, 60


class Terminal:
    """One program on a terminal of its own."""

    def __init__(self, place, name, command, env, cwd):
        self.socket = os.path.join(place, name + ".tmux")
        self.place, self.name = place, name
        # A shell keeps the exit status: what tmux tells of it is not dependable.
        self.status = os.path.join(place, name + ".status")
        words = "%s; echo $? >%s" % (shlex.join(command), shlex.quote(self.status))
        settings = os.path.join(place, "tmux.conf")
        with open(settings, "w") as file:
            # What the program leaves on the screen can be read after its end.
            file.write("set -g remain-on-exit on\nset -g default-terminal screen-256color\n")
        subprocess.run(["tmux", "-S", self.socket, "-f", settings, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), words],
                       check=True, env=env, cwd=cwd)

    def tmux(self, *words, text=None):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True, capture_output=True, text=True, input=text).stdout

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def shows(self, text, seconds=60):
        """Waits until the screen shows a text."""
        return until(lambda: text in self.screen() and self.screen(), "the screen shows %r" % text, seconds)

    def lacks(self, text, seconds=60):
        """Waits until the screen shows a text no longer."""
        until(lambda: text not in self.screen(), "the screen no longer shows %r" % text, seconds)

    def key(self, name):
        self.tmux("send-keys", name)

    def type(self, text):
        """Puts a text into the prompt as a paste does, for typed keys may be taken for commands."""
        self.tmux("load-buffer", "-", text=text)
        self.tmux("paste-buffer", "-p")
        # The end of it has to be there before Enter is pressed: Enter within a paste is a new line.
        end = re.sub(r"\s", "", text)[-20:]
        until(lambda: end in re.sub(r"\s", "", self.screen()), "the prompt holds what was typed")

    def ended(self):
        """Returns the exit status once the program ended."""
        if not os.path.exists(self.status):
            return None
        with open(self.status) as file:
            return int(file.read() or -1)

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)


class Client:
    """The terminal client, with a home of its own that nobody logged in to."""

    def __init__(self, setting, peer, url):
        self.setting, self.peer, self.url = setting, peer, url
        self.home = setting.folder("client")
        self.count = 0
        with open(os.path.join(self.home, "config.toml"), "w") as file:
            file.write("check_for_update_on_startup = false\n")

    def start(self, *words):
        self.count += 1
        env = dict(os.environ, CODEX_HOME=self.home, HOME=self.home, TERM="xterm-256color")
        command = [self.peer, *words, "--remote", self.url, "-C", self.setting.work]
        if self.setting.relay and not self.setting.options.sealed:
            env["RELAY_TOKEN"] = self.setting.relay.token
            command += ["--remote-auth-token-env", "RELAY_TOKEN"]
        return Terminal(self.setting.place, "terminal-%d" % self.count, command, env, self.setting.work)


class Run:
    """The session: each method is one thing that a person does."""

    def __init__(self, setting, peer):
        self.setting = setting
        self.url, self.server = setting.listener()
        self.proxy, self.conversation = setting.proxy(self.url)
        self.client = Client(setting, peer, self.proxy.url)
        self.step = Steps()
        self.terminal = None
        self.thread = None

    def prompt(self, text):
        """Types a prompt and sends it. Returns where its messages begin, and its turn."""
        self.terminal.shows("›")
        mark = self.conversation.mark()
        self.terminal.type(text)
        self.enter(lambda: self.conversation.messages("client", "turn/start", mark, threadId=self.thread))
        turn = self.conversation.wait("server", "turn/started", mark, threadId=self.thread)
        return mark, turn["params"]["turn"]["id"]

    def enter(self, effect):
        """Presses Enter until it has its effect: while the client connects anew, it drops keys."""
        for _ in range(20):
            self.terminal.key("Enter")
            try:
                return until(effect, "Enter has an effect", 3)
            except AssertionError:
                continue
        raise AssertionError("Enter has no effect")

    def completed(self, mark, turn, status="completed"):
        message = self.conversation.wait("server", "turn/completed", mark, threadId=self.thread, turn__id=turn)
        found = message["params"]["turn"]["status"]
        assert found == status, "the turn is %s, not %s" % (found, status)

    def start(self):
        self.step("starts, and is told to trust the folder")
        self.terminal = self.client.start("-a", "on-request", "-s", "read-only")
        until(lambda: "Trust this folder?" in self.terminal.screen() or "To get started" in self.terminal.screen(),
              "the client comes up", 60)
        if "Trust this folder?" in self.terminal.screen():
            self.enter(lambda: self.conversation.messages("client", "config/batchWrite"))
        self.terminal.shows("To get started")
        started = until(lambda: self.conversation.messages("server", "thread/started"), "a thread is started")
        self.thread = started[0]["params"]["thread"]["id"]

    def streaming_and_shell(self):
        self.step("prompt, streaming, shell tool")
        first = [{"say": "streamed before the turn ends", "chunk": 5, "gap": 0.01}, {"hold": "first"}, shell("echo from-the-$((1+1))-shell")]
        mark, turn = self.prompt(script(first, [{"say": "that was the end"}]))
        self.terminal.shows("• streamed before the turn ends")
        assert not self.conversation.messages("server", "turn/completed", mark, turn__id=turn), "the turn goes on"
        self.setting.release("first")
        self.terminal.shows("that was the end")
        self.terminal.shows("from-the-2-shell")
        self.completed(mark, turn)
        items = self.conversation.messages("server", "item/completed", mark, turnId=turn, item__type="agentMessage")
        deltas = self.conversation.messages("server", "item/agentMessage/delta", mark, turnId=turn, itemId=items[0]["params"]["item"]["id"])
        assert len(deltas) > 1, "the text came in pieces"
        assert "".join(m["params"]["delta"] for m in deltas) == "streamed before the turn ends"

    def approval_accepted(self):
        self.step("approval, accepted")
        mark, turn = self.prompt(script([asking("echo approved-$((2+2))")], [{"say": "after the approval"}]))
        self.terminal.shows("Would you like to run the following command?")
        request = self.conversation.wait("server", "item/commandExecution/requestApproval", mark, threadId=self.thread)
        self.terminal.key("y")
        self.terminal.shows("after the approval")
        self.terminal.shows("approved-4")
        self.completed(mark, turn)
        assert self.answer(request) == "accept", "what the key y says"
        self.conversation.wait("server", "serverRequest/resolved", mark, requestId=request["id"])

    def approval_declined(self):
        self.step("approval, declined")
        flag = os.path.join(self.setting.work, "never-written")
        mark, turn = self.prompt(script([asking("touch " + flag)], [{"say": "after the refusal"}]))
        self.terminal.shows("Would you like to run the following command?")
        request = self.conversation.wait("server", "item/commandExecution/requestApproval", mark, threadId=self.thread)
        self.terminal.key("Escape")
        item = self.conversation.wait("server", "item/completed", mark, threadId=self.thread, item__type="commandExecution")
        assert item["params"]["item"]["status"] == "declined", item
        if self.answer(request) == "cancel":
            self.terminal.shows("Conversation interrupted")
            self.completed(mark, turn, "interrupted")
        else:
            self.terminal.shows("after the refusal")
            self.completed(mark, turn)
        assert not os.path.exists(flag), "what was refused did not run"

    def interrupt(self):
        self.step("interrupt")
        mark, turn = self.prompt(script([{"say": "a long command follows"}, shell("sleep 60", yield_time_ms=30000)], [{"say": "never said"}]))
        self.terminal.shows("esc to interrupt")
        self.conversation.wait("server", "item/started", mark, turnId=turn, item__type="commandExecution")
        self.terminal.key("Escape")
        self.conversation.wait("client", "turn/interrupt", mark, turnId=turn)
        self.completed(mark, turn, "interrupted")
        self.terminal.lacks("esc to interrupt")
        assert "• never said" not in self.terminal.screen()

    def server_restarts(self):
        self.step("the server ends and starts again")
        self.server.terminate()
        until(lambda: self.server.poll() is not None, "the server ends when it is told to", 60)
        mark = self.conversation.mark()
        _, self.server = self.setting.listener(port=int(self.url.rsplit(":", 1)[1]))
        self.conversation.wait("client", "thread/resume", mark, seconds=120, threadId=self.thread)
        mark, turn = self.prompt(script([{"say": "after the restart"}]))
        self.terminal.shows("• after the restart")
        self.completed(mark, turn)

    def quit(self):
        self.step("quit")
        mark = self.conversation.mark()
        self.terminal.type("/quit")
        self.enter(lambda: self.terminal.ended() is not None)
        assert self.terminal.ended() == 0, "exit status %s" % self.terminal.ended()
        self.terminal.shows("resume " + self.thread)
        self.conversation.wait("client", "thread/unsubscribe", mark, threadId=self.thread)
        until(lambda: not self.proxy.open, "the connection is closed")
        self.terminal.close()

    def resume(self):
        self.step("resume, with the history")
        mark = self.conversation.mark()
        self.terminal = self.client.start("resume", self.thread)
        for text in ("streamed before the turn ends", "from-the-2-shell", "approved-4", "after the restart"):
            self.terminal.shows(text)
        self.conversation.wait("client", "thread/resume", mark, threadId=self.thread)
        mark, turn = self.prompt(script([{"say": "and it goes on"}]))
        self.terminal.shows("• and it goes on")
        self.completed(mark, turn)
        request = self.setting.model_requests("and it goes on")[0]
        for text in ("streamed before the turn ends", "from-the-2-shell", "after the restart"):
            assert text in request, "the model is told what happened before: " + text

    def agents(self):
        self.step("two agents, shown as a tree")
        mark, turn = self.prompt(script(
            [{"say": "I ask two agents.", "phase": "commentary"}, spawn("quiet", [{"say": "the quiet one answers"}]),
             spawn("asker", [asking("echo child-$((3+4))")], [{"hold": "asker"}, {"say": "the asker answers"}]), wait()],
            [wait()], [{"say": "both have answered"}]))
        for text in ("• Started `/root/quiet`", "• Started `/root/asker`", "• Completed `/root/quiet`"):
            self.terminal.shows(text)

        self.step("the approval of a child, accepted in its own thread")
        self.terminal.shows("Thread: /root/asker")
        self.terminal.shows("Would you like to run the following command?")
        request = self.conversation.wait("server", "item/commandExecution/requestApproval", mark)
        child = request["params"]["threadId"]
        assert child != self.thread, "the child asks, not its parent"
        self.terminal.key("o")
        self.conversation.wait("client", "thread/resume", mark, threadId=child)
        self.terminal.lacks("Thread: /root/asker")
        self.terminal.shows("$ echo child-$((3+4))")
        self.terminal.key("y")
        self.terminal.shows("└ child-7")
        self.terminal.shows("direct input is disabled")
        assert self.answer(request) == "accept", "what the key y says"
        self.conversation.wait("server", "serverRequest/resolved", mark, requestId=request["id"])

        self.step("from thread to thread")
        self.pick("/root/quiet")
        self.terminal.shows("• the quiet one answers")
        self.terminal.lacks("child-7")
        self.pick("Main [default]")
        self.terminal.shows("• I ask two agents.")
        self.terminal.lacks("direct input is disabled")
        self.pick("/root/asker")
        self.terminal.shows("└ child-7")
        self.setting.release("asker")
        self.terminal.shows("• the asker answers")
        self.pick("Main [default]")
        self.terminal.shows("• Completed `/root/asker`")
        self.terminal.shows("• both have answered")
        self.completed(mark, turn)
        for child in ("quiet", "asker"):
            items = self.conversation.messages("server", "item/completed", mark, threadId=self.thread, item__type="subAgentActivity",
                                               item__agentPath="/root/" + child)
            kinds = [item["params"]["item"]["kind"] for item in items]
            assert kinds == ["started", "completed"], (child, kinds)

    def pick(self, name):
        """Goes to the thread of an agent, by the list of them."""
        self.terminal.type("/subagents")
        for _ in range(20):
            self.terminal.key("Enter")
            try:
                self.terminal.shows("Select an agent to watch", 3)
                break
            except AssertionError:
                continue
        for _ in range(10):
            chosen = [line for line in self.terminal.screen().splitlines() if re.match(r"\s*› \d+\. ", line)]
            if chosen and name in chosen[-1]:
                break
            self.terminal.key("Up")
            until(lambda: [line for line in self.terminal.screen().splitlines() if re.match(r"\s*› \d+\. ", line)] != chosen,
                  "another agent is chosen")
        else:
            raise AssertionError("no agent %s to be chosen" % name)
        self.terminal.key("Enter")
        self.terminal.lacks("Select an agent to watch")

    def answer(self, request):
        """Returns the decision that the client sent for a request."""
        found = until(lambda: [m for m in self.conversation.messages("client") if m.get("id") == request["id"] and "result" in m], "an answer")
        return found[-1]["result"]["decision"]

    def all(self):
        try:
            self.start()
            self.streaming_and_shell()
            self.approval_accepted()
            self.approval_declined()
            self.interrupt()
            self.server_restarts()
            self.quit()
            self.resume()
            self.agents()
            self.quit()
        except AssertionError:
            print("---- the screen\n%s\n----" % self.terminal.screen().rstrip(), file=sys.stderr)
            raise
        finally:
            if self.terminal:
                self.terminal.close()


def main():
    parser = arguments(__doc__)
    parser.add_argument("--peer", required=True, help="the Codex CLI's own binary")
    options = parser.parse_args()
    watchdog(900)
    with Setting(options) as setting:
        Run(setting, options.peer).all()
        setting.judge()
        setting.judge_bundles(at_least=2)


if __name__ == "__main__":
    main()
