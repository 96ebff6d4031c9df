#!/usr/bin/env python3
"""Records the sessions of scenarios.json with the Codex CLI (the peer), which talks to the scripted model.

    record.py --peer CODEX [--peer-of-schema-1 CODEX] [--scenarios FILE] [--into FOLDER] [NAME...]

CODEX is the program itself, not the script that npm puts before it: release 0.169.0 (npm @openai/codex@0.169.0) records
schema 2, release 0.163.0 schema 1. Every recording is a folder beside this file, or in FOLDER: `bundle/` is what the peer
wrote, except

- paths of the machine, which become paths below /home/dev, and
- the peer's own texts (descriptions of its tools, its instructions to the model, what introduces a summary together with the
  summary), which do not belong into this repository. Each becomes a remark with its length and the beginning of its SHA-256, so that equal texts stay equal and different ones
  stay different.

`expected.json` is what the peer makes of the bundle after that. Ids and times are those of the run. How tool calls and agents
that run at the same time interleave differs from run to run as well.
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../../samples/stand-in"), os.path.join(HERE, "..")]
import scripted_model  # noqa: E402
from verify import verdict  # noqa: E402

# Shorter texts of the peer say no more than the name of what they describe.
PEER_TEXT_CHARS_MIN = 24

CONFIG = """
model_instructions_file = "%(place)s/home/instructions.md"
model = "%(model)s"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
suppress_unstable_features_warning = true
check_for_update_on_startup = false
[model_providers.scripted]
name = "%(provider)s"
base_url = "%(url)s"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
supports_websockets = false
[features]
code_mode = true
[features.multi_agent_v2]
enabled = true
max_concurrent_threads_per_session = 40
[agents]
max_depth = 4
"""

CALCULATOR = """
[mcp_servers.calc]
command = "%s"
args = ["%s/calculator.py"]
"""


def prompt(run):
    return "RUN " + json.dumps(run, ensure_ascii=False)


class Client:
    """A client of the peer's app-server that says one thing after the other."""

    def __init__(self, peer, env, cwd):
        self.process = subprocess.Popen([peer, "app-server", "--listen", "stdio://"], env=env, cwd=cwd, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last_id = 0
        self.call("initialize", clientInfo={"name": "recorder", "version": "1"}, capabilities={"experimentalApi": True})
        self.send(method="initialized")
        self.thread = self.call("thread/start", cwd=cwd)["thread"]["id"]

    def send(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self, is_wanted):
        for line in self.process.stdout:
            message = json.loads(line)
            if is_wanted(message):
                return message
        raise SystemExit("the app-server ended")

    def call(self, method, **params):
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params)
        answer = self.receive(lambda message: message.get("id") == self.last_id and "method" not in message)
        if "error" in answer:
            raise SystemExit("%s: %s" % (method, answer["error"]))
        return answer["result"]

    def ended(self):
        self.receive(lambda message: message.get("method") == "turn/completed")

    def play(self, step):
        if "compact" in step:
            self.call("thread/compact/start", threadId=self.thread)
            return self.ended()
        text = {"type": "text", "text": prompt(step["turn"])}
        turn = self.call("turn/start", threadId=self.thread, input=[text])["turn"]["id"]
        if "then" in step:
            self.receive(lambda message: message.get("method") == "item/started"
                         and message["params"]["item"]["type"] == "commandExecution")
        if step.get("then") == "interrupt":
            self.call("turn/interrupt", threadId=self.thread, turnId=turn)
        elif step.get("then") == "steer":
            self.call("turn/steer", threadId=self.thread, expectedTurnId=turn, input=[{"type": "text", "text": "be quick"}])
        self.ended()

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def record(peer, scene, place):
    """Has the peer record a scene below `place`. Returns the path of the bundle."""
    for name in ("home", "work", "traces"):
        os.makedirs(os.path.join(place, name))
    server, url = scripted_model.start()
    config = CONFIG % {"place": place, "model": scene.get("model", "scripted"), "url": url,
                       "provider": scene.get("provider", "scripted")}
    if scene.get("mcp"):
        config += CALCULATOR % (sys.executable, HERE)
    with open(os.path.join(place, "home/config.toml"), "w") as file:
        file.write(config)
    with open(os.path.join(place, "home/instructions.md"), "w") as file:
        file.write("Follow the RUN script.\n")
    env = {"PATH": os.environ["PATH"], "HOME": os.path.join(place, "home"), "CODEX_HOME": os.path.join(place, "home"),
           "CODEX_ROLLOUT_TRACE_ROOT": os.path.join(place, "traces"), "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
    work = os.path.join(place, "work")
    try:
        if "client" in scene:
            client = Client(peer, env, work)
            for step in scene["client"]:
                client.play(step)
            client.end()
        else:
            # A turn that fails gives exit status 1, which is no fault of the recording.
            subprocess.run([peer, "exec", "--skip-git-repo-check", prompt(scene["run"])], env=env, cwd=work, timeout=300,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        server.shutdown()
    bundles = os.listdir(os.path.join(place, "traces"))
    assert len(bundles) == 1, bundles
    return os.path.join(place, "traces", bundles[0])


def peer_texts(request):
    """Returns the texts in a request that the peer brought along."""
    texts = set()

    def descriptions(value):
        if isinstance(value, list):
            for one in value:
                descriptions(one)
        elif isinstance(value, dict):
            for key, one in value.items():
                if key in ("description", "definition") and isinstance(one, str):
                    texts.add(one)
                else:
                    descriptions(one)

    descriptions(request.get("tools"))
    for item in request["input"]:
        descriptions(item.get("tools"))
        if item.get("role") == "developer" and isinstance(item.get("content"), list):
            texts.update(part["text"] for part in item["content"] if "text" in part)
        # The introduction to a summary has the role of the user. Users send prompts, and notes are enclosed in tags.
        if item.get("role") == "user" and isinstance(item.get("content"), list):
            said = (part["text"] for part in item["content"] if "text" in part)
            texts.update(text for text in said if not text.startswith(("RUN [", "<")))
    return {text for text in texts if len(text) >= PEER_TEXT_CHARS_MIN}


def files(bundle):
    for folder, _, names in os.walk(bundle):
        for name in sorted(names):
            yield os.path.join(folder, name)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def clean(bundle, place):
    """Takes the machine's paths and the peer's texts out of a bundle."""
    texts = set()
    for path in files(os.path.join(bundle, "payloads")):
        payload = json.loads(read(path))
        if isinstance(payload, dict) and isinstance(payload.get("input"), list):
            texts |= peer_texts(payload)
    for path in files(bundle):
        text = read(path)
        for theirs in sorted(texts, key=len, reverse=True):
            digest = hashlib.sha256(theirs.encode()).hexdigest()[:8]
            remark = "(a text of the Codex CLI: %d characters, %s)" % (len(theirs), digest)
            text = text.replace(json.dumps(theirs, ensure_ascii=False), json.dumps(remark))
        text = text.replace(place, "/home/dev").replace(os.path.abspath(HERE), "/home/dev").replace(sys.executable, "python3")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    for path in files(os.path.join(bundle, "payloads")):
        payload = json.loads(read(path))
        if isinstance(payload, dict) and isinstance(payload.get("input"), list):
            left = [text for text in peer_texts(payload) if not text.startswith("(a text of the Codex CLI")]
            assert not left, "%s: a text of the peer is left: %.80r" % (path, left[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--peer-of-schema-1")
    parser.add_argument("--scenarios", default=os.path.join(HERE, "scenarios.json"))
    parser.add_argument("--into", default=HERE)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    with open(options.scenarios, encoding="utf-8") as file:
        scenes = json.load(file)
    for name, scene in scenes.items():
        peer = options.peer_of_schema_1 if scene.get("schema") == 1 else options.peer
        if options.names and name not in options.names or not peer:
            continue
        with tempfile.TemporaryDirectory(prefix="record-") as place:
            place = os.path.realpath(place)
            bundle = record(os.path.abspath(peer), scenes[scene["as"]] if "as" in scene else scene, place)
            clean(bundle, place)
            folder = os.path.join(options.into, name)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            shutil.move(bundle, os.path.join(folder, "bundle"))
        kind, text = verdict(peer, os.path.join(folder, "bundle"))
        with open(os.path.join(folder, kind), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        print(name, kind)
        assert kind == "expected.json", text


if __name__ == "__main__":
    main()
