#!/usr/bin/env python3
"""Compares the events of `trace exec` with those of `codex exec`, script by script, field by field.

    exec_events.py --trace PROGRAM --peer PROGRAM [--place FOLDER]

Both programs play the same scripts with the scripted model. Only the differences that `comparable` removes are allowed; docs/exec.md
lists them. The script uses nothing but the standard library."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../samples/stand-in"))
import scripted_model  # noqa: E402

# The peer knows this model, so it offers the tool for patches.
MODEL = "gpt-6.1-sol"

CONFIG = """model = "%(model)s"
model_provider = "stand-in"
check_for_update_on_startup = false
suppress_unstable_features_warning = true
[model_providers.stand-in]
name = "stand-in"
base_url = "%(url)s"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
supports_websockets = false
[features]
multi_agent_v2 = true
[tools.update_plan]
enabled = true
[mcp_servers.notes]
command = "%(python)s"
args = ["%(here)s/notes_server.py"]
"""


def shell(command, **more):
    return {"call": "exec_command", "args": dict(cmd=command, **more)}


def patch(*lines):
    return {"custom": "apply_patch", "input": "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])}


def plan(*steps):
    return {"call": "update_plan", "args": {"plan": [{"step": step, "status": status} for step, status in steps]}}


def agents(name, **arguments):
    return {"call": name, "ns": "collaboration", "args": arguments}


def note(name, **arguments):
    return {"call": name, "ns": "mcp__notes", "args": arguments}


CHILD = 'go RUN [[{"say": "the child is done"}]]'

# Name of a case, its script.
CASES = [
    ("a message", [[{"say": "hello", "phase": "final_answer"}]]),
    ("reasoning and several messages", [[{"think": "first"}, {"say": "one", "phase": "commentary"}, shell("true")],
                                        [{"think": ""}, {"say": "two"}]]),
    ("commands", [[shell("echo out")], [shell("echo err >&2; exit 3")], [shell("printf '%s' \"a b\" | wc -c")],
                  [shell("printf 'no line end'")], [{"say": "done"}]]),
    ("a command that is written to", [[shell("read line; echo got $line", yield_time_ms=250, tty=True)], [{"say": "left alone"}]]),
    ("patches", [[patch("*** Add File: a.txt", "+one")],
                 [patch("*** Update File: a.txt", "@@", "-one", "+two", "*** Add File: sub/b.txt", "+x")],
                 [patch("*** Delete File: a.txt", "*** Update File: sub/b.txt", "*** Move to: c.txt", "@@", "-x", "+y")],
                 [{"say": "done"}]]),
    ("a plan", [[plan(("look", "in_progress"), ("act", "pending"))], [plan(("look", "completed"), ("act", "in_progress"))],
                [plan(("look", "completed"), ("act", "completed"))], [{"say": "done"}]]),
    ("a plan of a turn that fails", [[plan(("look", "in_progress"))], [{"status": 400, "message": "no"}]]),
    ("a web search", [[{"search": "weather in Oslo"}, shell("true")], [{"say": "done"}]]),
    ("MCP tools", [[note("add", text="milk")], [note("fail", text="bread")], [note("structured", text="eggs")], [{"say": "done"}]]),
    ("agents", [[agents("spawn_agent", task_name="kid", message=CHILD, fork_turns="none")],
                [agents("wait_agent", timeout_ms=20000)], [{"say": "done"}]]),
    ("an unknown tool", [[{"call": "no_such_tool", "args": {}}], [{"say": "done"}]]),
    ("a request that is refused", [[{"status": 400, "message": "no"}]]),
    ("tries that are used up", [[{"status": 500, "message": "down"}]]),
    ("an answer that breaks off", [[{"say": "half"}, {"drop": True, "once": "%(key)s"}], [{"say": "whole"}]]),
    ("an answer that fails", [[{"failed": "the model broke"}]]),
    ("an image", [[{"say": "seen"}]]),
    ("a schema", [[{"say": "{\"answer\": 4}"}]]),
    ("nothing", [[]]),
]


class Program:
    """One of the two programs, with a home of its own."""

    def __init__(self, name, path, place, url):
        self.name, self.path = name, os.path.abspath(path)
        self.home = os.path.join(place, name, "home")
        self.work = os.path.join(place, name, "work")
        for folder in (self.home, self.work):
            os.makedirs(folder)
        subprocess.run(["git", "init", "-q", self.work], check=True)
        config = CONFIG % {"model": MODEL, "url": url, "python": sys.executable, "here": HERE}
        with open(os.path.join(self.home, "config.toml"), "w") as file:
            file.write(config)

    def run(self, prompt, *options, sandbox="danger-full-access"):
        env = dict(os.environ, HOME=self.home, CODEX_HOME=self.home, TRACE_HOME=self.home)
        return subprocess.run([self.path, "exec", "--experimental-json", "--sandbox", sandbox, *options], input=prompt,
                              capture_output=True, text=True, cwd=self.work, env=env, timeout=120)

    def events(self, prompt, *options, **more):
        """Returns the events of a run, and its exit code."""
        done = self.run(prompt, *options, **more)
        events = [json.loads(line, object_pairs_hook=pairs) for line in done.stdout.splitlines()]
        assert events, "%s printed no event: %s" % (self.name, done.stderr)
        return events, done.returncode


def pairs(members):
    """Makes an object of its members; the first of two members of one name counts. The peer prints the id of a web search twice."""
    result = {}
    for name, value in members:
        result.setdefault(name, value)
    return result


def comparable(program, events):
    """Returns events without what may differ: ids of threads and agents, folders, numbers of tokens, texts of errors."""
    numbers, result, last_error = {}, [], None
    for event in events:
        event = json.loads(json.dumps(event).replace(program.work, "WORK"))
        item = event.get("item")
        if item is not None:
            # The peer warns of models and transports that it does not know, which are not those of the other program.
            if item["type"] == "error" and program.name == "peer":
                continue
            item["id"] = numbers.setdefault(item["id"], "item_%d" % len(numbers))
            for name in ("sender_thread_id", "receiver_thread_ids"):
                if name in item:
                    item[name] = type(item[name])()
        if event["type"] == "thread.started":
            assert re.fullmatch(r"[0-9a-f-]{36}", event["thread_id"]), event
            event["thread_id"] = "THREAD"
        if event["type"] == "turn.completed":
            assert all(isinstance(number, int) for number in event["usage"].values()), event
            event["usage"] = sorted(event["usage"])
        if event["type"] == "error":
            last_error = event["message"]
            event["message"] = re.sub(r" \(.*\)$", " (WHY)", last_error) if last_error.startswith("Reconnecting") else "WHY"
        if event["type"] == "turn.failed":
            assert event["error"] == {"message": last_error}, (event, last_error)
            event["error"]["message"] = "WHY"
        result.append(event)
    return result


def shown(events):
    return "\n".join("  " + json.dumps(event, sort_keys=True) for event in events)


def compare(trace, peer, case, key, script, options=()):
    prompts = [("go RUN " + json.dumps(script)) % {"key": "%s %s" % (key, program.name)} if "%(key)s" in json.dumps(script)
               else "go RUN " + json.dumps(script) for program in (trace, peer)]
    (mine, my_code), (theirs, their_code) = trace.events(prompts[0], *options), peer.events(prompts[1], *options)
    left, right = comparable(trace, mine), comparable(peer, theirs)
    assert my_code == their_code, "%s: exit code %d, the peer has %d" % (case, my_code, their_code)
    assert left == right, "%s:\ntrace\n%s\npeer\n%s" % (case, shown(left), shown(right))
    return mine, theirs


def refused(trace, peer):
    """Compares what is refused. The peer prints nothing of it, so these items are the only difference."""
    script = [[shell("echo x", sandbox_permissions="require_escalated", justification="j")],
              [patch("*** Update File: none.txt", "@@", "-a", "+b")], [patch("no patch")], [{"say": "done"}]]
    mine, theirs = (program.events("go RUN " + json.dumps(script), sandbox="read-only")[0] for program in (trace, peer))
    own = [event for event in comparable(trace, mine) if event.get("item", {}).get("status") in ("declined", "failed")]
    assert [(event["type"], event["item"]["type"], event["item"]["status"]) for event in own] == [
        ("item.completed", "command_execution", "declined"), ("item.completed", "file_change", "failed"),
        ("item.completed", "file_change", "failed")], own
    rest = [event for event in comparable(trace, mine) if event not in own]
    for event in rest:
        if "item" in event:
            event["item"]["id"] = "item_0"
    assert rest == comparable(peer, theirs), shown(rest) + shown(theirs)
    print("what is refused is the only difference")


def ends(trace, peer, place):
    """Compares how both programs end when they cannot begin."""
    broken = os.path.join(place, "broken.json")
    with open(broken, "w") as file:
        file.write("{")
    outside = os.path.join(place, "outside")
    os.makedirs(outside)
    unknown = "01a20d7c-95f9-7481-85f6-66be81b013bf"
    cases = [
        ("outside of a repository", "hi", ["--cd", outside]),
        ("no prompt", "", []),
        ("a folder that is not there", "hi", ["--cd", os.path.join(place, "nowhere")]),
        ("a schema that is not JSON", "hi", ["--output-schema", broken]),
        ("a schema that is not there", "hi", ["--output-schema", broken + "x"]),
        ("a wrong value in --config", "hi", ["--config", "sandbox_mode=3"]),
        ("a policy that asks", "hi", ["--config", 'approval_policy="untrusted"']),
        ("an unknown thread", "hi", ["resume", unknown]),
        ("a review of nothing", "", ["review"]),
        ("a wrong value of an option", "hi", ["--ephemeral", "--cyber-access-program", "none"]),
        ("an unknown option", "hi", ["--no-such-option"]),
    ]
    for case, prompt, options in cases:
        mine, theirs = trace.run(prompt, *options), peer.run(prompt, *options)
        assert (mine.returncode, mine.stdout) == (theirs.returncode, theirs.stdout), (case, mine, theirs)
        assert mine.stderr.strip() and "panicked" not in mine.stderr, (case, mine.stderr)
    print("%d ends without a turn are alike" % len(cases))


def resumed(trace, peer):
    """Compares a thread that is resumed twice: its id, and its sums of tokens."""
    found = []
    for program in (trace, peer):
        first, _ = program.events('go RUN [[{"say": "one"}, {"tokens": 1000}]]')
        thread = first[0]["thread_id"]
        second, _ = program.events('go RUN [[{"say": "two"}, {"tokens": 1000}]]', "resume", thread)
        third, _ = program.events('go RUN [[{"say": "three"}, {"tokens": 1000}]]', "resume", "--last")
        assert second[0]["thread_id"] == third[0]["thread_id"] == thread, (program.name, second, third)
        usages = [events[-1]["usage"] for events in (first, second, third)]
        found.append([(usage["input_tokens"], usage["cached_input_tokens"]) for usage in usages])
        copied, code = program.events("", "fork", thread)
        assert code == 0 and len(copied) == 1 and copied[0]["thread_id"] != thread, (program.name, copied)
    assert found[0] == found[1], found
    print("resumed threads have the same sums of tokens: %s" % found[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--place", help="folder that gets everything, and is kept")
    options = parser.parse_args()
    place = os.path.abspath(options.place) if options.place else tempfile.mkdtemp(prefix="exec-events-")
    os.makedirs(place, exist_ok=True)
    server, url = scripted_model.start(0, os.path.join(place, "model.jsonl"))
    trace, peer = Program("trace", options.trace, place, url), Program("peer", options.peer, place, url)
    image, schema = os.path.join(place, "dot.png"), os.path.join(place, "schema.json")
    with open(image, "wb") as file:
        file.write(bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000"
                                 "1f15c4890000000d4944415478da6364f8cf500f0003860180"
                                 "5a347d6b0000000049454e44ae426082"))
    with open(schema, "w") as file:
        json.dump({"type": "object", "properties": {"answer": {"type": "number"}}, "required": ["answer"],
                   "additionalProperties": False}, file)
    more = {"an image": ["--image", image], "a schema": ["--output-schema", schema]}
    types = set()
    failures = []
    for number, (case, script) in enumerate(CASES):
        try:
            mine, _ = compare(trace, peer, case, "key-%d" % number, script, more.get(case, ()))
            types |= {event["item"]["type"] for event in mine if "item" in event}
        except AssertionError as error:
            failures.append(str(error))
    print("%d of %d scripts give the same events; items: %s" % (len(CASES) - len(failures), len(CASES), ", ".join(sorted(types))))
    assert not failures, "\n\n".join(failures)
    resumed(trace, peer)
    refused(trace, peer)
    ends(trace, peer, place)
    server.shutdown()
    if not options.place:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
