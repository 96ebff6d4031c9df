#!/usr/bin/env python3
"""Expands graphs in the compact form to what state.json has.

    trace reduce traces/trace-1 --compact
    python3 expand.py traces/trace-1/state.compact.json > state.json
    trace reduce traces -o - --compact | python3 expand.py    # one graph per line
"""

import json
import sys

# Which members of which objects are lists of items.
LISTS = {
    "inference_calls": ["request_item_ids"],
    "compactions": ["input_item_ids", "replacement_item_ids"],
}


def expand(graph):
    """Returns the graph as state.json has it. The argument stays as it is."""
    if graph.get("compact") != 1:
        raise ValueError("not a graph in the compact form, version 1")
    lines = []

    def items(elements):
        found = []
        for element in elements:
            if isinstance(element, str):
                found.append(element)
                continue
            line, start, end = element["line"], element.get("start", 0), element["end"]
            if not (0 <= line < len(lines) and 0 <= start <= end <= len(lines[line])):
                raise ValueError(f"line {line} has no items {start} to {end}")
            found.extend(lines[line][start:end])
        return found

    for elements in graph["item_lines"]:
        lines.append(items(elements))
    state = {name: value for name, value in graph.items() if name not in ("compact", "item_lines")}
    for name, lists in LISTS.items():
        state[name] = {
            key: {member: items(value) if member in lists else value for member, value in thing.items()}
            for key, thing in state[name].items()
        }
    return state


def main():
    if len(sys.argv) > 1:
        graphs = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
    else:
        graphs = (json.loads(line) for line in sys.stdin.buffer)
    for graph in graphs:
        print(json.dumps(expand(graph)))


if __name__ == "__main__":
    main()
