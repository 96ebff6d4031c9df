#!/usr/bin/env python3
"""Records sessions to audit with the Codex CLI (the peer), which talks to the scripted model.

    cargo run -p trace-samples --bin make-audit -- --scripts SCRIPTS
    record.py --peer CODEX --scripts SCRIPTS/scripts.jsonl --into FOLDER [--all] [NAME...]

CODEX is the program itself, not the script that npm puts before it. Each script that the peer can play becomes
`FOLDER/NAME/bundle`, with the expected findings in `truth.json` beside it, in the form of make-audit. Without `--all`
and names, one session of each plot is recorded.

The model plays the steps of the script, the peer runs the commands. Programs are stand-ins that print what the script says
and end with the exit code that it says; `echo`, `cat > FILE` and the like are real, and patches change real files. So the
bundle is the peer's own, while its content is known. Steps that need a person (declined calls) or a server of tools are left
out, and so are sessions in which something did not come as the script says: the peer refuses to run some commands.
"""
import argparse
import importlib.util
import json
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.join(HERE, "../../..")
sys.path.insert(0, os.path.join(REPOSITORY, "samples/stand-in"))
sys.path.insert(0, os.path.join(REPOSITORY, "reducer/tests"))
import scripted_model  # noqa: E402

_SPEC = importlib.util.spec_from_file_location("record_peer", os.path.join(REPOSITORY, "reducer/tests/recordings/record.py"))
peer_recorder = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(peer_recorder)

# What the peer cannot be made to do by a script alone.
LEFT_OUT = {"compact", "refuse", "decline-patch", "mcp", "repeat-mcp", "background", "poll", "stop"}

# Programs that are real in the folder of the session.
REAL = {"echo", "cd", "tail", "head", "true", "sleep", "exit", "cat >", "export", "env", "timeout"}

STUB = r'''#!%(python)s
"""Prints the next output of the script, if this program is the one that the step begins with."""
import fcntl, json, os, sys
folder = %(folder)r
with open(os.path.join(folder, "lock"), "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    steps = json.load(open(os.path.join(folder, "steps.json")))
    name = os.path.basename(sys.argv[0])
    found = next((step for step in steps if step["program"] == name), None)
    if found is None:
        sys.exit(0)
    steps.remove(found)
    json.dump(steps, open(os.path.join(folder, "steps.json"), "w"))
sys.stdout.write(found["output"])
sys.stdout.flush()
sys.exit(found["exit"])
'''


def programs(command):
    """Returns the programs of a command line, in order, without what stands before them."""
    found = []
    command = command.split("<<")[0]
    for part in re.split(r"\|\||&&|[|;\n]", command):
        part = part.replace("2>&1", "").strip()
        while re.match(r"[A-Z_]+=\S* ", part):
            part = part.split(" ", 1)[1]
        words = part.split()
        if not words:
            continue
        word = "cat >" if part.startswith("cat >") else words[0]
        if word in ("env", "timeout"):
            words = [w for w in words[1:] if "=" not in w and not w.isdigit()]
            word = words[0]
        found.append(word)
    return found


def stands_in(command):
    """Returns the programs of a command line that need a stand-in: `head` at its beginning does, behind a pipe it is real."""
    found = programs(command)
    return [program for at, program in enumerate(found) if program not in REAL or (at == 0 and program in ("head", "tail"))]


def call_id(agent, name, number):
    return "call_%s_%s_%d" % (agent, re.sub(r"\W", "_", name) or "x", number)


class Play:
    """The responses of the model for each agent and turn, the outputs of the programs, and what becomes of the names."""

    def __init__(self, script):
        self.turns = []
        self.responses = {}
        self.steps = []
        self.files = {}
        self.current = {}
        self.objects = {}
        self.answers = {}
        self.remarks = {}
        self.keys = {"root": None}
        self.number = 0
        self.problem = None
        for step in script["steps"]:
            self.step(step)

    def respond(self, agent, actions):
        remark = self.remarks.pop(agent, [])
        self.responses[self.keys[agent]].append(remark + actions)

    def call(self, step, name, item):
        self.number += 1
        item["call_id"] = call_id(step["agent"], name, self.number)
        item["id"] = "item_%d" % self.number
        self.objects.setdefault(name, []).append([{"type": "tool_call", "id": item["call_id"]}])
        self.respond(step["agent"], [{"item": item}])
        return item["call_id"]

    def begin(self, agent, text):
        if text in self.responses:
            self.problem = "the same message twice"
        self.keys[agent] = text
        self.responses[text] = []

    def command(self, step, name, command, output, code):
        stubs = stands_in(command)
        if stubs:
            # What real programs print behind the stand-in is no output of its own.
            for said in re.findall(r"(?:\|\||;|&&) echo (\w+)$", command):
                output = output[: -len(said) - 1] if output.endswith(said + "\n") else output
            self.steps.append({"program": os.path.basename(stubs[0]), "output": output, "exit": code})
        if ";" in command.split("<<")[0]:
            # The first one prints everything, the last one decides the exit code.
            self.steps += [{"program": os.path.basename(stub), "output": "", "exit": code} for stub in stubs[1:]]
        arguments = json.dumps({"cmd": command})
        return self.call(step, name, {"type": "function_call", "name": "exec_command", "arguments": arguments})

    def patch(self, step):
        lines, file = step["lines"], step["text"]
        if step["verb"] == "add":
            body = "*** Add File: %s\n%s" % (file, "".join("+%s\n" % line.lstrip("+") for line in lines))
            self.current[file] = [line.lstrip("+") for line in lines]
        else:
            body = "*** Update File: %s\n@@\n%s\n" % (file, "\n".join(lines))
            old = [line[1:] for line in lines if line[:1] in "- "]
            new = [line[1:] for line in lines if line[:1] in "+ "]
            now = self.current.setdefault(file, [])
            if step["verb"] == "refuse-patch":
                self.files.setdefault(file, now or ["something else"])
            else:
                at = next((at for at in range(len(now)) if now[at:at + len(old)] == old), None) if old else len(now)
                if at is None:
                    # Nothing that the script did brought these lines, so the file has them from the beginning.
                    self.files[file] = self.files.get(file, []) + old
                    at = len(now)
                    now.extend(old)
                self.files.setdefault(file, list(now))
                now[at:at + len(old)] = new
        text = "*** Begin Patch\n%s*** End Patch\n" % body
        self.call(step, step["name"], {"type": "custom_tool_call", "name": "apply_patch", "input": text})

    def step(self, step):
        verb, agent, text = step["verb"], step["agent"], step["text"]
        whole = "\n".join([text] + step["lines"])
        if verb in LEFT_OUT or step.get("shows"):
            self.problem = "cannot be played: " + verb
        elif verb == "user":
            self.turns.append(whole)
            self.begin("root", whole)
        elif verb in ("think", "say"):
            self.remarks.setdefault(agent, []).append({verb: text})
        elif verb == "answer":
            self.answers[agent] = whole
            self.respond(agent, [{"say": whole}])
        elif verb == "fail":
            self.respond(agent, [{"status": 500, "message": text}])
        elif verb in ("run", "repeat"):
            output = "".join(line + "\n" for line in step["lines"])
            for time in range(step["times"]):
                if step.get("between") and time:
                    self.command(step, step["name"] + ".between", step["between"], "", 0)
                varied = output.replace(step["varies"], "0.%ds" % (40 + time)) if step.get("varies") else output
                self.command(step, step["name"], text, varied, step["exit"])
        elif verb == "cell":
            output = "".join(line + "\n" for line in step["lines"])
            self.steps.append({"program": os.path.basename(stands_in(text)[0]), "output": output, "exit": step["exit"]})
            source = "const run = await tools.exec_command({ cmd: %s });\ntext(run.output);\n" % json.dumps(text)
            cell = self.call(step, step["name"], {"type": "custom_tool_call", "name": "exec", "input": source})
            self.objects[step["name"]][-1].append({"type": "code_cell", "id": "code_cell:" + cell})
            self.objects[step["name"]][-1].append({"nested": cell})
        elif verb in ("patch", "add", "refuse-patch"):
            self.patch(step)
        elif verb in ("spawn", "fork"):
            arguments = {"task_name": step["name"], "message": text, "fork_turns": "all" if verb == "fork" else "none"}
            item = {"type": "function_call", "name": "spawn_agent", "namespace": "collaboration", "arguments": json.dumps(arguments)}
            self.call(step, step["name"] + ".spawn", item)
            self.begin(step["name"], text)
        elif verb == "follow":
            arguments = {"target": step["name"], "message": text}
            item = {"type": "function_call", "name": "followup_task", "namespace": "collaboration", "arguments": json.dumps(arguments)}
            self.call(step, step["name"] + ".follow", item)
            self.begin(step["name"], text)
        elif verb == "wait":
            item = {"type": "function_call", "name": "wait_agent", "namespace": "collaboration", "arguments": json.dumps({"timeout_ms": 30000})}
            self.call(step, agent + ".wait", item)
        elif verb != "end-wait":
            self.problem = "no verb " + verb


def locate(responses):
    """Returns a function that finds the newest message of a conversation that the script answers."""
    keys = sorted(responses, key=len, reverse=True)

    def locate_script(items):
        for index in range(len(items) - 1, -1, -1):
            item = items[index]
            kind = str(item.get("type", "message"))
            if not kind.endswith("message") or item.get("role") in ("developer", "system", "assistant"):
                continue
            text = scripted_model.message_text(item)
            for key in keys:
                if text == key or (kind == "agent_message" and text.endswith("Payload:\n" + key)):
                    return responses[key], index
        return None, -1

    return locate_script


def stand_ins(play, place):
    """Writes the stand-ins for programs, and what they print."""
    folder = os.path.join(place, "programs")
    work = os.path.join(place, "work")
    os.makedirs(folder)
    with open(os.path.join(folder, "steps.json"), "w") as file:
        json.dump(play.steps, file)
    stub = STUB % {"python": sys.executable, "folder": folder}
    commands = [json.loads(action["item"]["arguments"])["cmd"] for responses in play.responses.values() for actions in responses
                for action in actions if action.get("item", {}).get("name") == "exec_command"]
    cells = [action["item"]["input"] for responses in play.responses.values() for actions in responses
             for action in actions if action.get("item", {}).get("name") == "exec"]
    commands += [json.loads(re.search(r"cmd: (\".*\") }", cell).group(1)) for cell in cells]
    for command in commands:
        for program in stands_in(command):
            path = os.path.join(work, program) if "/" in program else os.path.join(folder, program)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(stub)
            os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        for entered in re.findall(r"cd (\S+) &&", command) + [os.path.dirname(path) for path in re.findall(r"> (\S+/\S+)", command)]:
            os.makedirs(os.path.join(work, entered), exist_ok=True)
    return folder


def record(peer, play, place):
    for name in ("home", "traces", "work"):
        os.makedirs(os.path.join(place, name))
    folder = stand_ins(play, place)
    for file, lines in play.files.items():
        path = os.path.join(place, "work", file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as handle:
            handle.write("".join(line + "\n" for line in lines))
    scripted_model.locate_script = locate(play.responses)
    server, url = scripted_model.start()
    config = peer_recorder.CONFIG % {"place": place, "model": "gpt-6-sol", "url": url, "provider": "scripted"}
    with open(os.path.join(place, "home/config.toml"), "w") as file:
        file.write(config)
    with open(os.path.join(place, "home/instructions.md"), "w") as file:
        file.write("You help people with the repository in the working directory.\n")
    # The peer runs commands in a login shell, which sets PATH anew.
    for profile in (".bash_profile", ".profile"):
        with open(os.path.join(place, "home", profile), "w") as file:
            file.write("export PATH=%s:/usr/local/bin:/usr/bin:/bin\n" % shlex.quote(folder))
    env = {"PATH": os.environ["PATH"], "HOME": os.path.join(place, "home"), "CODEX_HOME": os.path.join(place, "home"),
           "CODEX_ROLLOUT_TRACE_ROOT": os.path.join(place, "traces"), "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
    try:
        client = peer_recorder.Client(peer, env, os.path.join(place, "work"))
        for turn in play.turns:
            text = {"type": "text", "text": turn}
            client.call("turn/start", threadId=client.thread, input=[text])
            client.receive(lambda message: message.get("method") == "turn/completed"
                           and message["params"].get("threadId", client.thread) == client.thread)
        client.end()
    finally:
        server.shutdown()
    bundles = os.listdir(os.path.join(place, "traces"))
    assert len(bundles) == 1, bundles
    return os.path.join(place, "traces", bundles[0])


def unlike(script, bundle):
    """Returns what did not come as the script says, if anything."""
    ran = {}
    for path in peer_recorder.files(os.path.join(bundle, "payloads")):
        payload = json.loads(peer_recorder.read(path))
        if isinstance(payload, dict) and "aggregated_output" in payload:
            ran.setdefault(payload["command"][-1], set()).add(payload["exit_code"])
    for step in script["steps"]:
        # A pipe and an `echo` behind the command end with codes of their own.
        if step["verb"] in ("run", "repeat", "cell") and step["exit"] not in ran.get(step["text"], ()):
            return "`%s` did not end with %d: %s" % (step["text"], step["exit"], ran.get(step["text"], "it did not run"))
    return None


def truth(script, play, bundle):
    """Returns the expected findings with the ids of the recording."""
    threads, turns, nested = {}, {}, {}
    with open(os.path.join(bundle, "trace.jsonl"), encoding="utf-8") as file:
        cells = {}
        for line in file:
            event = json.loads(line)
            payload = event["payload"]
            if payload["type"] == "thread_started":
                threads[payload["agent_path"].rsplit("/", 1)[1]] = (payload["agent_path"], payload["thread_id"])
            elif payload["type"] == "codex_turn_started":
                turns[payload["thread_id"]] = payload["codex_turn_id"]
            elif payload["type"] == "code_cell_started":
                cells[payload["runtime_cell_id"]] = payload["model_visible_call_id"]
            elif payload["type"] == "tool_call_started" and payload["requester"]["type"] == "code_cell":
                nested[cells.get(payload["requester"]["runtime_cell_id"])] = payload["tool_call_id"]

    def named(name):
        if name.endswith(".turn"):
            thread = threads[name[:-5]][1]
            return [{"type": "codex_turn", "id": turns[thread]}]
        if name.endswith(".answer"):
            agent = name[:-7]
            said = play.answers.get(agent)
            return [{"thread_id": threads[agent][1], "text": said}] if said else []
        objects = [one for call in play.objects[name] for one in call]
        return [{"type": "tool_call", "id": nested[one["nested"]]} if "nested" in one else one for one in objects
                if one.get("nested", True) in nested or "nested" not in one]

    def evidence(names, relations):
        relations = relations.split("|")
        if names.endswith("*"):
            return [{"objects": [one], "relations": relations, "optional": False} for one in named(names[:-1])]
        optional = names.endswith("?")
        objects = [one for name in names.rstrip("?").split("|") for one in named(name)]
        return [{"objects": objects, "relations": relations, "optional": optional}]

    expected = {"findings": [], "accepted": [], "supported": script["supported"]}
    for find in script["finds"]:
        path, thread = threads[find["agent"]]
        finding = {"kinds": find["kinds"], "agent_path": path, "thread_id": thread, "claim": find["claim"],
                   "evidence": [one for names, relations in find["evidence"] for one in evidence(names, relations)]}
        expected["accepted" if find["optional"] else "findings"].append(finding)
    return expected


def peer_texts(request):
    """Returns the texts in a request that the peer brought along: not those of the user, which are ours."""
    return {text for text in THEIR_TEXTS(dict(request, input=[item for item in request["input"] if item.get("role") != "user"]))}


THEIR_TEXTS = peer_recorder.peer_texts
peer_recorder.peer_texts = peer_texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--scripts", required=True)
    parser.add_argument("--into", required=True)
    parser.add_argument("--all", action="store_true", help="every session, not one of each plot")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    plots, count = set(), 0
    with open(options.scripts, encoding="utf-8") as file:
        sessions = [json.loads(line) for line in file]
    for session in sessions:
        name, script = session["name"], session["script"]
        plot = re.sub(r"-(pytest|cargo|go|jest|vitest|rspec|maven)(-\d)?$", "", name)
        if options.names and name not in options.names or (not options.names and not options.all and plot in plots):
            continue
        play = Play(script)
        if play.problem:
            print(name, "is left out:", play.problem)
            continue
        with tempfile.TemporaryDirectory(prefix="record-") as place:
            place = os.path.realpath(place)
            bundle = record(os.path.abspath(options.peer), play, place)
            problem = unlike(script, bundle)
            if problem:
                print(name, "is left out:", problem)
                continue
            plots.add(plot)
            expected = truth(script, play, bundle)
            peer_recorder.clean(bundle, place)
            folder = os.path.join(options.into, name)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            shutil.move(bundle, os.path.join(folder, "bundle"))
        with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as file:
            value = {"name": name, "about": session["about"], "honest": session["honest"], "expected": expected}
            file.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        count += 1
        print(name, flush=True)
    print("%d sessions in %s" % (count, options.into))


if __name__ == "__main__":
    main()
