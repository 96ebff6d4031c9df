#!/usr/bin/env python3
"""Asks the Codex CLI (the peer) anew for the verdicts that the tests hold the reducer against.

    verify.py [--peer CODEX] [--peer-of-schema-1 CODEX] [--trace TRACE] [--write]

The verdicts lie beside the bundles of `cases` and `recordings`: `expected.json` is what `codex debug trace-reduce` writes,
to the byte, `error.txt` what it says of a bundle that it refuses, with `<bundle>` in the place of the bundle's path. Release
0.169.0 (npm @openai/codex@0.169.0) judges bundles of schema 2, release 0.163.0 those of schema 1; verdicts whose release is
not given are counted as not asked for. A new bundle without a verdict counts as a difference. `--trace` has our own program
reduce the same bundles, and refuse them with `--strict`. Differences give exit status 1; `--write` writes what the peer says
now, also for new bundles.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# The peer of schema 2 refuses a bundle of schema 1. We read both.
REFUSED_SCHEMA_1 = "env-schema1-in-schema2-peer"


def reduce(command, bundle):
    """Runs a reducer. Returns the text that it wrote, or nothing, and what it said."""
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "out.json")
        ran = subprocess.run([*command, bundle, "-o", out], capture_output=True, text=True, timeout=120,
                             env=dict(os.environ, RUST_BACKTRACE="0"))
        if ran.returncode == 0:
            with open(out, encoding="utf-8", newline="") as file:
                return file.read(), ran.stderr
        return None, ran.stderr


def verdict(peer, bundle):
    """Returns the name of the file that holds the peer's verdict on a bundle, and its text."""
    state, said = reduce([peer, "debug", "trace-reduce"], bundle)
    if state is not None:
        return "expected.json", state
    # The peer tidies up its home directory when it starts, and warns when another one does so at the same time.
    said = "\n".join(line for line in said.splitlines() if not line.startswith("WARNING:"))
    return "error.txt", said.split("\nStack backtrace")[0].strip().replace(bundle, "<bundle>") + "\n"


def bundles():
    """Returns the folder of every bundle, the bundle, and the schema of the release that judges it."""
    for root in ("cases", "recordings"):
        for name in sorted(os.listdir(os.path.join(HERE, root))):
            folder = os.path.join(HERE, root, name)
            if not os.path.isdir(folder):
                continue
            bundle = os.path.join(folder, "bundle")
            is_schema_1 = name.startswith(("v1-", "schema1-"))
            yield folder, bundle if os.path.isdir(bundle) else folder, 1 if is_schema_1 else 2


def stored(folder):
    """Returns the stored verdict of a folder like `verdict`, or nothing."""
    for kind in ("expected.json", "error.txt"):
        path = os.path.join(folder, kind)
        if os.path.exists(path):
            with open(path, encoding="utf-8", newline="") as file:
                return kind, file.read()
    return None


def write(folder, kind, text):
    for other in ("expected.json", "error.txt"):
        if other != kind and os.path.exists(os.path.join(folder, other)):
            os.remove(os.path.join(folder, other))
    with open(os.path.join(folder, kind), "w", encoding="utf-8", newline="") as file:
        file.write(text)


def ours_differs(trace, folder, bundle):
    """Says whether our program makes something else of a bundle than the peer did."""
    verdict_of_peer = stored(folder)
    if verdict_of_peer is None:
        return False
    kind, expected = verdict_of_peer
    strict, _ = reduce([trace, "reduce", "--strict"], bundle)
    if kind == "error.txt":
        return strict is not None and os.path.basename(folder) != REFUSED_SCHEMA_1
    return strict is None or json.loads(strict) != json.loads(expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer")
    parser.add_argument("--peer-of-schema-1")
    parser.add_argument("--trace")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    peers = {1: options.peer_of_schema_1, 2: options.peer}
    everything = list(bundles())

    def ask(one):
        folder, bundle, schema = one
        name = os.path.relpath(folder, HERE)
        problems = []
        if peers[schema]:
            said = verdict(peers[schema], bundle)
            if said != stored(folder):
                problems.append("%s: the peer's verdict is another one" % name)
                if options.write:
                    write(folder, *said)
        elif stored(folder) is None:
            problems.append("%s: has no verdict, and its peer is not given" % name)
        if options.trace and ours_differs(options.trace, folder, bundle):
            problems.append("%s: our program makes something else of it" % name)
        return problems

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [problem for found in pool.map(ask, everything) for problem in found]
    for problem in problems:
        print(problem)
    asked = sum(1 for _, _, schema in everything if peers[schema])
    print("%d verdicts: the peer was asked for %d%s; %d differences%s" % (
        len(everything), asked, ", our program for all" if options.trace else "", len(problems),
        ", written" if options.write and problems else ""))
    return 1 if problems and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
