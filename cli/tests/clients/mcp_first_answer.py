#!/usr/bin/env python3
"""Measures how soon `trace mcp` answers the first question about recordings, in a new process and without a cache.

    mcp_first_answer.py --trace PROGRAM --traces FOLDER [--runs 5]

For each tool it prints the least and the median time from the start of the process to the first answer, and of the same question again.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time

QUESTIONS = [
    ("sessions", {}), ("overview", {"session": "latest"}), ("postmortem", {"session": "latest"}), ("audit", {"session": "latest"}),
    ("why", {"session": "latest", "text": "e"}), ("grep", {"session": "latest", "pattern": "error"}),
    ("context", {"session": "latest"}), ("query", {"session": "latest", "sql": "SELECT count(*) FROM turns"})]


def ask(process, number, method, params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert "result" in answer and not answer["result"].get("isError"), (method, params, answer)


def measured(trace, traces, tool, arguments):
    """Returns the seconds to the first answer of a new process, and to the answer to the same question again."""
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, "TRACE_HOME": home, "XDG_CACHE_HOME": home}
        begun = time.monotonic()
        process = subprocess.Popen([trace, "mcp", "--only", "questions", "--trace-root", traces], env=env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        ask(process, 1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                       "clientInfo": {"name": "measure", "version": "1"}})
        ask(process, 2, "tools/call", {"name": tool, "arguments": arguments})
        first = time.monotonic()
        ask(process, 3, "tools/call", {"name": tool, "arguments": arguments})
        again = time.monotonic()
        process.stdin.close()
        process.wait(30)
    return first - begun, again - first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", required=True)
    parser.add_argument("--traces", required=True, help="the folder of the recordings")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print("%-10s  first: least  median   again: least" % "tool")
    for tool, arguments in QUESTIONS:
        runs = [measured(options.trace, options.traces, tool, arguments) for _ in range(options.runs)]
        first, again = sorted(run[0] for run in runs), min(run[1] for run in runs)
        print("%-10s %9.3f s %8.3f s %9.3f s" % (tool, first[0], first[len(first) // 2], again))


if __name__ == "__main__":
    main()
