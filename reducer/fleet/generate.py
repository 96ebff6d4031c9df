#!/usr/bin/env python3
"""Makes a folder of many sessions by repeating and varying recorded ones.

    generate.py OUT COUNT ROOT... [--change PERCENT]

Each session is a copy of a bundle below the roots under ids of its own, in one of eight teams, on one of sixty days, with
tokens, tools and agents as they were. Payloads are hard links where the file system has them. `--change PERCENT` changes that
share of the sessions of an earlier run instead: the last turn of their logs happens once more under another time.

The same arguments make the same sessions.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import sys
import zlib

DAY_MS = 24 * 3600 * 1000
TEAMS = ["red", "blue", "green", "amber", "violet", "teal", "white", "black"]


def bundles(roots):
    found = []
    for root in roots:
        for manifest in sorted(pathlib.Path(root).rglob("manifest.json")):
            folder = manifest.parent
            try:
                json.loads(manifest.read_text())
            except ValueError:
                continue
            if (folder / "trace.jsonl").is_file() and (folder / "payloads").is_dir():
                found.append(folder)
    if not found:
        sys.exit("there is no bundle directory below " + " ".join(map(str, roots)) + "; `trace unpack` makes them of files")
    return found


def link(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def make(out, number, bundle):
    hashed = zlib.crc32(str(number).encode())
    shift = hashed % 60 * DAY_MS
    folder = out / f"team={TEAMS[hashed // 64 % len(TEAMS)]}" / f"session-{number:07}"
    folder.mkdir(parents=True)
    (folder / "payloads").mkdir()
    for payload in (bundle / "payloads").iterdir():
        if payload.is_file():
            link(payload, folder / "payloads" / payload.name)
    manifest = json.loads((bundle / "manifest.json").read_text())
    trace_id = manifest["trace_id"]
    manifest["trace_id"] = f"{trace_id}-{number}"
    manifest["started_at_unix_ms"] += shift
    (folder / "manifest.json").write_text(json.dumps(manifest))
    log = (bundle / "trace.jsonl").read_text()
    log = log.replace(trace_id, manifest["trace_id"])
    log = re.sub(r'"wall_time_unix_ms":(\d+)', lambda found: f'"wall_time_unix_ms":{int(found[1]) + shift}', log)
    (folder / "trace.jsonl").write_text(log)


def change(out, percent):
    folders = sorted(path.parent for path in out.glob("team=*/*/trace.jsonl"))
    step = max(1, round(100 / percent))
    chosen = folders[step // 2 :: step]
    for folder in chosen:
        log = (folder / "trace.jsonl").read_text()
        later = re.sub(r'("wall_time_unix_ms":)(\d+)', lambda found: f"{found[1]}{int(found[2]) + 1000}", log)
        (folder / "trace.jsonl").write_text(later)
    print(f"{len(chosen)} of {len(folders)} sessions changed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("count", type=int)
    parser.add_argument("roots", nargs="*")
    parser.add_argument("--change", type=float)
    options = parser.parse_args()
    if options.change:
        change(options.out, options.change)
        return
    found = bundles(options.roots)
    if not found:
        parser.error("there is no bundle below the roots")
    for number in range(options.count):
        make(options.out, number, found[number % len(found)])
    print(f"{options.count} sessions of {len(found)} bundles")


main()
