"""Checks exports with the readers' own schemas.

    check_traces.py DIRECTORY

DIRECTORY holds for each session NAME.perfetto-trace, NAME.chrome.json, NAME.otlp.jsonl and NAME.counts.json, which says how
many objects its graph has. Perfetto traces are parsed by the messages of the PyPI package `perfetto`, OTLP by those of
`opentelemetry-proto`. If TRACE_PROCESSOR names Perfetto's trace_processor_shell, that program loads the Perfetto and Chrome
traces too. Prints one line per session and the number of checks. Exits with 1 at the first failed check.
"""

import base64
import json
import os
import sys
from collections import Counter, defaultdict
from pathlib import Path

from google.protobuf import json_format
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

SLICES = ("threads", "turns", "inferences", "tools", "cells", "compaction_requests")


def check(condition, what):
    check.count += 1
    if not condition:
        sys.exit(f"wrong: {what}")


check.count = 0


def unknown_fields(message):
    """Says whether a message has fields that the schema does not know."""
    if len(UnknownFieldSet(message)):
        return True
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        values = value if field.is_repeated else [value]
        if any(unknown_fields(value) for value in values):
            return True
    return False


def check_perfetto(name, data, counts):
    trace = Trace()
    trace.ParseFromString(data)
    check(not unknown_fields(trace), f"{name}: fields that Perfetto does not know")
    tracks, parents, open_slices = set(), {}, defaultdict(list)
    starts, ends, slices, marks, last = Counter(), Counter(), 0, 0, 0
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            check(track.uuid not in tracks, f"{name}: track {track.uuid} is there twice")
            check(not track.HasField("parent_uuid") or track.parent_uuid in tracks, f"{name}: a track before its parent")
            tracks.add(track.uuid)
            parents[track.uuid] = track.parent_uuid
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        check(packet.timestamp >= last, f"{name}: time goes back at {packet.timestamp}")
        check(packet.timestamp < 1 << 63, f"{name}: a time that is too late")
        last = packet.timestamp
        check(event.track_uuid in tracks, f"{name}: a slice on no track")
        stack = open_slices[event.track_uuid]
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            slices += 1
            stack.append(event.name)
        elif event.type == TrackEvent.TYPE_SLICE_END:
            check(stack, f"{name}: an end without a beginning")
            stack.pop()
        else:
            check(event.type == TrackEvent.TYPE_INSTANT, f"{name}: type {event.type}")
            marks += 1
        for flow in event.terminating_flow_ids:
            check(starts[flow] == 1, f"{name}: arrow {flow} ends before it begins")
            ends[flow] += 1
        for flow in event.flow_ids:
            starts[flow] += 1
    check(not any(open_slices.values()), f"{name}: slices without an end")
    check(slices == 1 + sum(counts[kind] for kind in SLICES), f"{name}: {slices} slices for {counts}")
    check(len(starts) == counts["edges"] and set(starts.values()) <= {1}, f"{name}: arrows {starts} for {counts}")
    check(ends == starts, f"{name}: arrows without an end")
    return slices, marks, len(starts)


def check_chrome(name, data, counts):
    trace = json.loads(data)
    open_slices, asynchronous = defaultdict(list), {}
    threads, starts, ends, slices, last = {}, Counter(), Counter(), 0, 0
    for event in trace["traceEvents"]:
        kind, lane = event["ph"], (event["pid"], event["tid"])
        if kind == "M":
            if event["name"] == "thread_name":
                check(lane not in threads, f"{name}: thread {lane} is there twice")
                threads[lane] = event["args"]["name"]
            continue
        check(lane in threads, f"{name}: an event on thread {lane}, which has no name")
        check(event["ts"] >= last, f"{name}: time goes back at {event['ts']}")
        last = event["ts"]
        if kind == "B":
            # A slice that only holds the end of an arrow has no arguments.
            slices += "args" in event and event["cat"] != "mail"
            open_slices[lane].append(event["name"])
        elif kind == "E":
            check(open_slices[lane] and open_slices[lane].pop() == event["name"], f"{name}: slices cross on {lane}")
        elif kind == "b":
            slices += 1
            check(event["id"] not in asynchronous, f"{name}: id {event['id']} is there twice")
            asynchronous[event["id"]] = event["name"]
        elif kind == "e":
            check(asynchronous.get(event["id"]) == event["name"], f"{name}: an end without a beginning")
            asynchronous[event["id"]] = None
        elif kind in "sf":
            check(open_slices[lane], f"{name}: an arrow that binds to nothing")
            check(kind == "s" or starts[event["id"]], f"{name}: an arrow that ends before it begins")
            (starts if kind == "s" else ends)[event["id"]] += 1
        else:
            check(kind == "i", f"{name}: an event of type {kind}")
    check(not any(open_slices.values()) and not any(asynchronous.values()), f"{name}: slices without an end")
    check(len(threads) == 1 + counts["threads"], f"{name}: {len(threads)} threads for {counts}")
    check(slices == 1 + sum(counts[kind] for kind in SLICES), f"{name}: {slices} slices for {counts}")
    check(len(starts) == counts["edges"] and starts == ends, f"{name}: arrows")


def check_otlp(name, lines, counts):
    spans, traces, links = {}, set(), 0
    for line in lines:
        request = as_hex_ids(json.loads(line))
        message = json_format.ParseDict(request, ExportTraceServiceRequest())
        for resource in message.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    check(len(span.trace_id) == 16 and len(span.span_id) == 8, f"{name}: the size of ids")
                    check(span.span_id not in spans, f"{name}: span {span.span_id.hex()} is there twice")
                    check(span.start_time_unix_nano <= span.end_time_unix_nano, f"{name}: {span.name} ends before it begins")
                    spans[span.span_id] = span
                    traces.add(span.trace_id)
                    links += len(span.links)
    check(len(traces) == 1, f"{name}: {len(traces)} traces")
    check(len(spans) == 1 + sum(counts[kind] for kind in SLICES), f"{name}: {len(spans)} spans for {counts}")
    check(sum(not span.parent_span_id for span in spans.values()) == 1, f"{name}: more than one root")
    for span in spans.values():
        check(not span.parent_span_id or span.parent_span_id in spans, f"{name}: {span.name} has no parent")
        check(all(link.span_id in spans for link in span.links), f"{name}: {span.name} links to nothing")
    check(links == counts["edges"] - counts["spawns"], f"{name}: {links} links for {counts}")


def as_hex_ids(value):
    """Turns ids from hexadecimal, which OTLP has, into base64, which JSON of protobuf has."""
    if isinstance(value, list):
        return [as_hex_ids(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode() if key in ids else as_hex_ids(one)
        for key, one in value.items()
    }


def check_by_trace_processor(name, path, counts, shell):
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    with TraceProcessor(trace=str(path), config=TraceProcessorConfig(bin_path=shell)) as processor:
        def number(query):
            return next(iter(processor.query(query))).n

        errors = "select count(*) as n from stats where severity = 'error' and value > 0"
        check(number(errors) == 0, f"{name}: {path.suffix} has errors of import")
        check(number("select count(*) as n from flow") == counts["edges"], f"{name}: {path.suffix}: arrows")


def main(directory):
    shell = os.environ.get("TRACE_PROCESSOR")
    for path in sorted(directory.glob("*.counts.json")):
        name = path.name.removesuffix(".counts.json")
        counts = json.loads(path.read_text())
        file = lambda ending: directory / f"{name}.{ending}"
        slices, marks, arrows = check_perfetto(name, file("perfetto-trace").read_bytes(), counts)
        check_chrome(name, file("chrome.json").read_text(encoding="utf-8"), counts)
        check_otlp(name, file("otlp.jsonl").read_text(encoding="utf-8").splitlines(), counts)
        if shell:
            check_by_trace_processor(name, file("perfetto-trace"), counts, shell)
            check_by_trace_processor(name, file("chrome.json"), counts, shell)
        print(f"{name}: {slices} slices, {marks} marks, {arrows} arrows")
    print(f"{check.count} checks passed")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
