#!/usr/bin/env python3
"""Asks the Codex CLI (the peer) anew for the schema of its app-server protocol, which the tests hold our messages against.

    verify.py --peer CODEX [--write]

CODEX is the program of release 0.169.0 (npm @openai/codex@0.169.0). The files beside this script:

- stable.schemas.json, experimental.schemas.json: what `codex app-server generate-json-schema --out DIR` and the same with
  `--experimental` write to `codex_app_server_protocol.schemas.json`, without descriptions and spaces.
- methods.json: each message with the type of its parameters, and whether it is in the stable schema. All of that is taken
  from the schemas. They do not say which type answers a request (`result`), and they know nothing of our own `tier` and of
  the `scope` in whose order requests are handled: those three stay as they are in the file.

Differences give exit status 1; `--write` writes what the peer says now.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

LISTS = {
    "clientRequests": "ClientRequest",
    "serverNotifications": "ServerNotification",
    "serverRequests": "ServerRequest",
    "clientNotifications": "ClientNotification",
}

# What methods.json has from elsewhere.
KEPT = ("result", "tier", "scope")


def ask(peer, *options):
    """Returns the schema that the peer writes."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([peer, "app-server", "generate-json-schema", *options, "--out", place], check=True, stderr=subprocess.DEVNULL)
        with open(os.path.join(place, "codex_app_server_protocol.schemas.json"), encoding="utf-8") as file:
            return json.load(file)


def without_descriptions(schema):
    """Leaves out descriptions, but no property whose name is `description`."""
    if isinstance(schema, list):
        return [without_descriptions(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: without_descriptions(one) for name, one in value.items()} if key in ("properties", "definitions")
        else without_descriptions(value)
        for key, value in schema.items()
        if not (key == "description" and isinstance(value, str))
    }


def parameters(schema, kind):
    """Returns the type of the parameters of each message of a kind, and whether they must be there."""
    found = {}
    for message in schema["definitions"][kind].get("oneOf", [schema["definitions"][kind]]):
        params = message["properties"].get("params", {})
        target = params.get("$ref") or params.get("anyOf", [{}])[0].get("$ref")
        name = target.removeprefix("#/definitions/") if target else None
        found[message["properties"]["method"]["enum"][0]] = (name, "params" in message.get("required", []))
    return found


def methods(stable, experimental, kept):
    """Returns the list of all messages."""
    lists = {}
    for name, kind in LISTS.items():
        in_stable = parameters(stable, kind)
        entries = {}
        for method, (params, required) in parameters(experimental, kind).items():
            entry = {"params": params}
            if name == "clientRequests":
                entry["paramsRequired"] = required
            entry["stable"] = method in in_stable
            entries[method] = entry | {key: value for key, value in (kept[name].get(method) or {}).items() if key in KEPT}
            result = entry_result(entries[method])
            assert result is None or result in experimental["definitions"]["v2"] or result in experimental["definitions"], result
        lists[name] = entries
    return lists


def entry_result(entry):
    """Returns the type of a message's answer, without the name of its module."""
    return entry["result"].removeprefix("v2/") if entry.get("result") else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    path = os.path.join(HERE, "methods.json")
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
    stable, experimental = ask(options.peer), ask(options.peer, "--experimental")
    now = {
        "stable.schemas.json": without_descriptions(stable),
        "experimental.schemas.json": without_descriptions(experimental),
        "methods.json": methods(stable, experimental, kept),
    }
    differing = []
    for name, value in now.items():
        path = os.path.join(HERE, name)
        if name == "methods.json":
            # One message a line: people edit this one.
            lists = ",\n".join('"%s": {\n%s\n}' % (key, ",\n".join(
                "  %s: %s" % (json.dumps(method), json.dumps(entry)) for method, entry in entries.items()))
                for key, entries in value.items())
            text = "{\n%s\n}\n" % lists
        else:
            text = json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"
        stored = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                stored = file.read()
        if text != stored:
            differing.append(name)
            if options.write:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    said = "differs from what the peer says" + (", written" if options.write else "")
    for name in differing:
        print("%s %s" % (name, said))
    if not differing:
        print("the peer's schema is as it is stored")
    return 1 if differing and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
