"""Records the messages between a client and a server, waits for messages, and validates them against the schema of the protocol."""

import json
import os
import threading
import time


# A request may be open when a connection ends. One that was open for this many seconds counts as not answered.
OPEN_LIMIT_SECONDS = 10


class Conversation:
    """Messages of any number of connections, in the order in which they passed."""

    def __init__(self, log=None):
        self.entries = []
        self.log = open(log, "a", encoding="utf-8") if log else None
        self.changed = threading.Condition()

    def add(self, connection, sender, text):
        """Records one message; `sender` is "client" or "server". A text that is not JSON is recorded as a string."""
        try:
            entry = {"at": time.time(), "connection": connection, "from": sender, "message": json.loads(text)}
        except ValueError:
            entry = {"at": time.time(), "connection": connection, "from": sender, "text": text}
        with self.changed:
            self.entries.append(entry)
            if self.log:
                self.log.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self.log.flush()
            self.changed.notify_all()

    def mark(self):
        """Returns the current number of messages, for functions that take the messages after it."""
        with self.changed:
            return len(self.entries)

    def messages(self, sender=None, method=None, since=0, **fields):
        """Returns the messages that match. `fields` are values in the params; `a__b` is a member of an object."""
        with self.changed:
            entries = self.entries[since:]
        return [entry["message"] for entry in entries if fits(entry, sender, method, fields)]

    def wait(self, sender, method, since=0, seconds=30, **fields):
        """Returns the first message that matches, now or within the given time."""
        deadline = time.monotonic() + seconds
        position = since
        with self.changed:
            while True:
                while position < len(self.entries):
                    entry = self.entries[position]
                    position += 1
                    if fits(entry, sender, method, fields):
                        return entry["message"]
                left = deadline - time.monotonic()
                if left <= 0:
                    tail = [brief(entry) for entry in self.entries[-15:]]
                    raise AssertionError("no %s %s of the %s came; last: %s" % (method, fields or "", sender, tail))
                self.changed.wait(left)

    def requested(self):
        """Returns the methods that clients asked for."""
        return {m["method"] for m in self.messages("client") if "id" in m and "method" in m}


def load(path):
    """Reads a recorded conversation."""
    conversation = Conversation()
    with open(path, encoding="utf-8") as lines:
        conversation.entries = [json.loads(line) for line in lines]
    return conversation


def dig(value, path):
    """Returns the value at `a__b` in nested objects, or `None`."""
    for part in path.split("__"):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def fits(entry, sender, method, fields):
    message = entry.get("message")
    if not isinstance(message, dict) or (sender and entry["from"] != sender):
        return False
    if method and message.get("method") != method:
        return False
    return all(dig(message.get("params"), path) == value for path, value in fields.items())


def brief(entry):
    message = entry.get("message")
    if not isinstance(message, dict):
        return entry["from"] + ": no message"
    return entry["from"] + ": " + str(message.get("method") or ("error" if "error" in message else "result"))


class Judge:
    """Finds the messages of a server that do not match the schema."""

    def __init__(self, folder):
        import jsonschema
        from referencing import Registry, Resource
        from referencing.jsonschema import DRAFT7

        with open(os.path.join(folder, "experimental.schemas.json"), encoding="utf-8") as file:
            bundle = json.load(file)
        with open(os.path.join(folder, "methods.json"), encoding="utf-8") as file:
            self.methods = json.load(file)
        self.registry = Registry().with_resource("urn:protocol", Resource(contents=bundle, specification=DRAFT7))
        self.validator = jsonschema.Draft7Validator
        self.validators = {}

    def problems(self, conversation):
        """Returns one line for each message of the server that does not match the schema."""
        asked, latest = {}, {}
        found = []
        for entry in conversation.entries:
            message = entry.get("message")
            requests = asked.setdefault(entry["connection"], {})
            latest[entry["connection"]] = entry["at"]
            if entry["from"] == "client":
                if isinstance(message, dict) and "method" in message and "id" in message:
                    requests.setdefault(json.dumps(message["id"]), []).append((message["method"], entry["at"]))
                continue
            for problem in self.of(message, requests):
                shown = json.dumps(message, ensure_ascii=False) if message is not None else entry.get("text", "")
                found.append("%s :: %s" % (problem, shown[:300]))
        for connection, requests in asked.items():
            found += ["no answer to %s (id %s)" % (method, key) for key, waiting in requests.items() for method, at in waiting
                      if latest[connection] - at > OPEN_LIMIT_SECONDS]
        return found

    def of(self, message, requests):
        """Returns the problems of one message. `requests` are the unanswered ones of its connection, by their ids as JSON."""
        if not isinstance(message, dict):
            return ["no JSON object"]
        problems = ["has a field jsonrpc"] if "jsonrpc" in message else []
        if "method" in message:
            group = "serverRequests" if "id" in message else "serverNotifications"
            if group == "serverNotifications" and not isinstance(message.get("emittedAtMs"), int):
                problems.append("a notification without emittedAtMs")
            known = self.methods[group].get(message["method"])
            if known is None:
                return problems + ["%s is not among the %s" % (message["method"], group)]
            return problems + self.against(known["params"], message.get("params"))
        waiting = requests.get(json.dumps(message.get("id")))
        if not waiting:
            return problems + ["answers no request"]
        method, _ = waiting.pop(0)
        if "error" in message:
            return problems + self.against("JSONRPCErrorError", message["error"])
        if "result" not in message:
            return problems + ["has neither result nor error"]
        known = self.methods["clientRequests"].get(method)
        return problems + (self.against(known["result"], message["result"]) if known else [])

    def against(self, name, value):
        if not name:
            return []
        if name not in self.validators:
            self.validators[name] = self.validator({"$ref": "urn:protocol#/definitions/" + name}, registry=self.registry)
        errors = sorted(self.validators[name].iter_errors(value), key=lambda error: len(error.path))
        return ["%s at %s: %s" % (name, "/".join(map(str, e.absolute_path)) or "the top", e.message[:300]) for e in errors[:2]]
