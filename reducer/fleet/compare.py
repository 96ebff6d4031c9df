#!/usr/bin/env python3
"""Times every named question on a lake, side by side with DuckDB over the same data files.

    compare.py TRACE_FLEET QUESTIONS LAKE [REPEATS]

TRACE_FLEET is the program, and QUESTIONS the example `questions`. There are two comparisons. In one process that is already running:
the question alone, planned, answered and its rows taken, by the example and by DuckDB with the files as views. As a process of its own:
`trace-fleet query` from its start to the end of its output, and a Python that imports DuckDB, makes views of the tables that the
question reads, and answers it. Both use as many threads as there are cores. Of several repeats the fastest one counts.
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import time

import duckdb

ALONE = """
import json, sys
import duckdb
views, sql, values = json.loads(sys.argv[1])
db = duckdb.connect()
for view in views:
    db.execute(view)
rows = (db.execute(sql, values) if values else db.execute(sql)).fetchall()
print(len(rows))
"""


def questions(program):
    listed = subprocess.run([program, "questions"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        name = line.split()[0]
        sql = subprocess.run([program, "questions", name], capture_output=True, text=True, check=True).stdout
        yield name, sql, [word.split("=")[0] for word in line.split() if word.endswith("=…")]


def views(lake):
    made = {}
    for folder in sorted((lake / "tables").iterdir()):
        files = set()
        for version in sorted((folder / "_delta_log").glob("*.json")):
            for line in version.read_text().splitlines():
                action = json.loads(line)
                if "add" in action:
                    files.add(action["add"]["path"])
                if "remove" in action:
                    files.discard(action["remove"]["path"])
        if files:
            names = ", ".join(f"'{folder / name}'" for name in sorted(files))
            made[folder.name] = f"CREATE VIEW {folder.name} AS SELECT * FROM read_parquet([{names}])"
    made["costs"] = "CREATE VIEW costs AS SELECT *, CAST(NULL AS DOUBLE) AS money FROM inference_calls"
    return made


def fastest(repeats, act):
    best = math.inf
    for _ in range(repeats):
        started = time.perf_counter()
        act()
        best = min(best, (time.perf_counter() - started) * 1000)
    return best


def main():
    program, example, lake = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    made = views(lake)
    db = duckdb.connect()
    for view in made.values():
        db.execute(view)
    address = db.execute("SELECT min(address) FROM failures").fetchone()[0]
    told = subprocess.run([example, str(lake), str(repeats)], capture_output=True, text=True, check=True).stdout
    inside = {name: float(time) for name, time in (line.split() for line in told.splitlines())}
    total = [0.0] * 4
    print(f"{'':28} {'in a process':>24} {'of a process of its own':>34}")
    print(f"{'ms':28} {'trace':>8} {'DuckDB':>8} {'ratio':>6} {'trace-fleet':>14} {'DuckDB':>8} {'ratio':>6}")
    for name, sql, parameters in questions(program):
        values = {parameter: address if parameter == "address" else "none" for parameter in parameters}
        read = [table for table in made if re.search(rf"\b{table}\b", sql)]
        if "costs" in read and "inference_calls" not in read:
            read.insert(0, "inference_calls")
        if any(re.search(rf"\b{table}\b", sql) for table in ("findings", "diagnostics", "edges") if table not in made):
            print(f"{name:28} is left out: the lake has no rows for it", flush=True)
            continue
        read.sort(key=lambda table: table == "costs")
        command = [program, "query", "--lake", str(lake), "--format", "csv", name]
        for parameter, value in values.items():
            command += ["--param", f"{parameter}={value}"]
        alone = [sys.executable, "-c", ALONE, json.dumps([[made[table] for table in read], sql, values])]
        quiet = {"stdout": subprocess.DEVNULL, "check": True}
        times = [
            inside[name],
            fastest(repeats, lambda: (db.execute(sql, values) if values else db.execute(sql)).fetchall()),
            fastest(repeats, lambda: subprocess.run(command, **quiet)),
            fastest(repeats, lambda: subprocess.run(alone, **quiet)),
        ]
        total = [one + other for one, other in zip(total, times)]
        show(name, times)
    show("all", total)


def show(name, times):
    one, two, three, four = times
    print(f"{name:28} {one:8.1f} {two:8.1f} {one / two:6.2f} {three:14.1f} {four:8.1f} {three / four:6.2f}", flush=True)


main()
