#!/usr/bin/env python3
"""Scripted stand-in for a model provider, for tests on loopback.

It answers the streaming "Responses" HTTP API (POST .../responses, server-sent events) and plays a
script that the test puts into the user's message. It keeps no state between requests: the step to
play is derived from the conversation that the client sends, so retries, forks, resumed threads
and many threads at once all work.

    scripted_model.py [--port N] [--log FILE] [--port-file FILE]

Port 0 (the default) picks a free port; the line `listening http://127.0.0.1:PORT/v1` is printed to
stdout, and the bare port is written to --port-file when given. --log appends every request as one
JSON line {"n","path","headers","body"}.

SCRIPT SYNTAX
A script is the word RUN, one space, and a JSON array of steps, anywhere in a message of role user
(or in an inter-agent message). The newest message holding a script wins. A step is an array of
actions that make up ONE model response. Step 0 answers the first request after the script message,
step 1 the next (after the tool outputs of step 0 came back), and so on: the step number is how many
model responses the conversation holds since the script. Past the end the answer is the text "done";
with no script at all it is "no script". A request that ends in an item of the type compaction_trigger is answered with a
compaction item, after which the script goes on.

Actions that put an item into the response, in order:
  {"say": TEXT, "phase": P?, "chunk": N?, "gap": SECONDS?}  assistant text, streamed N characters
                                             (default 24) at a time with SECONDS between the pieces
  {"think": TEXT}                            reasoning item with one summary part, streamed
  {"call": NAME, "args": {...}, "ns": S?}    function call ("args" may be a raw string: bad JSON)
  {"custom": NAME, "input": TEXT}            custom (free-form) tool call
  {"search": QUERY}                          finished web search item
  {"item": {...}}                            this item as it is
Actions that shape the response:
  {"sleep": SECONDS}         wait before the terminal event (items are already out)
  {"hold": NAME}             wait (at most 60 s) until POST /release/NAME was called, then go on
  {"tokens": N}              report N input tokens
  {"status": CODE, "message": TEXT?, "retry_after": S?}   plain HTTP error instead of a stream
  {"drop": true}             close the stream without a terminal event
  {"failed": TEXT, "code": C?}   terminal event response.failed
  {"once": KEY}              before a status/drop/failed action: apply that fault only the first
                             time KEY is seen, afterwards play the rest of the step normally

CONTROL (HTTP): GET /requests -> all recorded requests; GET /count -> {"count": n};
POST /release/NAME releases a hold; POST /reset forgets recorded requests, holds and once-keys.
"""
import argparse
import http.server
import itertools
import json
import sys
import threading
import time

COUNTER = itertools.count(1)
LOCK = threading.Lock()
REQUESTS = []
RELEASED = {}
SEEN_ONCE = set()
LOG_FILE = None

MODEL_ITEM_TYPES = {
    "reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call",
    "tool_search_call", "image_generation_call",
}


def message_text(item):
    content = item.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text") or part.get("encrypted_content") or "" for part in content if isinstance(part, dict))
    return item.get("text") or ""


def made_by_model(item):
    kind = item.get("type", "message")
    return kind in MODEL_ITEM_TYPES or (kind == "message" and item.get("role") == "assistant")


def locate_script(items):
    """Newest script and its index; (None, -1) when there is none."""
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        if not str(item.get("type", "message")).endswith("message"):
            continue
        if item.get("role") in ("developer", "system", "assistant"):
            continue
        text = message_text(item)
        start = text.find("RUN [")
        if start < 0:
            continue
        try:
            script, _ = json.JSONDecoder().raw_decode(text[start + 4:])
        except ValueError as err:
            return [[{"say": "script error: %s" % err}]], index
        return script, index
    return None, -1


def responses_since(items, index):
    count, inside = 0, False
    for item in items[index + 1:]:
        carried = str(item.get("encrypted_content")).rpartition("@")[2] if item.get("type") == "compaction" else ""
        if carried.isdigit():
            count, inside = int(carried), False
            continue
        mine = made_by_model(item)
        if mine and not inside:
            count += 1
        inside = mine
    return count


def build_items(step):
    out = []
    for action in step:
        n = next(COUNTER)
        if "say" in action:
            item = {"type": "message", "id": "msg_%d" % n, "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": action["say"], "annotations": []}]}
            if action.get("phase"):
                item["phase"] = action["phase"]
        elif "think" in action:
            item = {"type": "reasoning", "id": "rs_%d" % n,
                    "summary": [{"type": "summary_text", "text": action["think"]}],
                    "encrypted_content": "sealed-%d" % n}
        elif "call" in action:
            args = action.get("args", {})
            item = {"type": "function_call", "id": "fc_%d" % n, "call_id": "call_%d" % n,
                    "name": action["call"], "arguments": args if isinstance(args, str) else json.dumps(args)}
            if action.get("ns"):
                item["namespace"] = action["ns"]
        elif "custom" in action:
            item = {"type": "custom_tool_call", "id": "ct_%d" % n, "call_id": "call_%d" % n,
                    "name": action["custom"], "input": action.get("input", "")}
        elif "search" in action:
            item = {"type": "web_search_call", "id": "ws_%d" % n, "status": "completed",
                    "action": {"type": "search", "query": action["search"]}}
        elif "item" in action:
            item = action["item"]
        else:
            continue
        out.append((item, action))
    return out


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send_json(self, code, value, headers=()):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0].rstrip("/")
        if path.endswith("/requests"):
            with LOCK:
                snapshot = list(REQUESTS)
            self.send_json(200, snapshot)
        elif path.endswith("/count"):
            self.send_json(200, {"count": len(REQUESTS)})
        else:
            self.send_json(200, {"object": "list", "data": [{"id": "scripted-1", "object": "model"}], "models": []})

    def read_body(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "zstd":
            import zstandard
            raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
        return raw

    def do_POST(self):
        raw = self.read_body()
        path = self.path.split("?")[0].rstrip("/")
        if "/release/" in path:
            with LOCK:
                RELEASED.setdefault(path.rsplit("/", 1)[1], threading.Event()).set()
            return self.send_json(200, {})
        if path.endswith("/reset"):
            with LOCK:
                REQUESTS.clear()
                RELEASED.clear()
                SEEN_ONCE.clear()
            return self.send_json(200, {})
        try:
            request = json.loads(raw)
        except ValueError as err:
            return self.send_json(400, {"error": {"message": "bad json: %s" % err, "type": "invalid_request_error"}})
        with LOCK:
            record = {"n": len(REQUESTS), "path": self.path, "headers": dict(self.headers), "body": request}
            REQUESTS.append(record)
            if LOG_FILE:
                with open(LOG_FILE, "a") as f:
                    f.write(json.dumps(record) + "\n")
        if path.endswith("/compact"):
            n = next(COUNTER)
            return self.send_json(200, {"output": [{"type": "compaction", "id": "cmp_%d" % n, "encrypted_content": "sealed-summary-%d" % n}]})
        if not path.endswith("/responses"):
            return self.send_json(404, {"error": {"message": "no such path", "type": "invalid_request_error"}})
        items = request.get("input") or []
        if isinstance(items, str):
            items = [{"type": "message", "role": "user", "content": items}]
        script, at = locate_script(items)
        if items and items[-1].get("type") == "compaction_trigger":
            # The removed responses cannot be counted any more, so the summary contains their number.
            n = next(COUNTER)
            step = [{"item": {"type": "compaction", "id": "cmp_%d" % n,
                              "encrypted_content": "sealed-summary-%d@%d" % (n, responses_since(items, at))}}]
        elif script is None:
            step = [{"say": "no script"}]
        else:
            k = responses_since(items, at)
            step = script[k] if k < len(script) else [{"say": "done"}]
        self.play(step, len(raw))

    def play(self, step, size):
        faults_off = False
        for action in step:
            if "once" in action:
                with LOCK:
                    faults_off = action["once"] in SEEN_ONCE
                    SEEN_ONCE.add(action["once"])
        if not faults_off:
            for action in step:
                if "status" in action:
                    headers = [("retry-after", str(action["retry_after"]))] if "retry_after" in action else []
                    return self.send_json(action["status"], {"error": {
                        "message": action.get("message", "scripted failure"), "type": "server_error",
                        "code": action.get("code", "scripted")}}, headers)
        rid = "resp_%d" % next(COUNTER)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("x-request-id", "req_" + rid)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.stream(step, rid, size, faults_off)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def event(self, value):
        self.wfile.write(("event: %s\ndata: %s\n\n" % (value["type"], json.dumps(value))).encode())
        self.wfile.flush()

    def stream(self, step, rid, size, faults_off):
        self.event({"type": "response.created", "response": {"id": rid, "status": "in_progress"}})
        written = 0
        for index, (item, action) in enumerate(build_items(step)):
            opening = dict(item)
            if item["type"] == "message":
                opening["content"] = []
                opening["status"] = "in_progress"
            elif item["type"] == "reasoning":
                opening["summary"] = []
            self.event({"type": "response.output_item.added", "output_index": index, "item": opening})
            if item["type"] == "message":
                text, width = item["content"][0]["text"], action.get("chunk", 24)
                for pos in range(0, len(text), width):
                    self.event({"type": "response.output_text.delta", "item_id": item["id"], "output_index": index,
                                "content_index": 0, "delta": text[pos:pos + width]})
                    if action.get("gap"):
                        time.sleep(action["gap"])
            elif item["type"] == "reasoning":
                self.event({"type": "response.reasoning_summary_part.added", "item_id": item["id"],
                            "output_index": index, "summary_index": 0, "part": {"type": "summary_text", "text": ""}})
                text = item["summary"][0]["text"]
                for pos in range(0, len(text), 24):
                    self.event({"type": "response.reasoning_summary_text.delta", "item_id": item["id"],
                                "output_index": index, "summary_index": 0, "delta": text[pos:pos + 24]})
            self.event({"type": "response.output_item.done", "output_index": index, "item": item})
            written += len(json.dumps(item))
        tokens = size // 4
        for action in step:
            if "sleep" in action:
                time.sleep(action["sleep"])
            if "hold" in action:
                with LOCK:
                    gate = RELEASED.setdefault(action["hold"], threading.Event())
                gate.wait(60)
            if "tokens" in action:
                tokens = action["tokens"]
            if "drop" in action and not faults_off:
                return
            if "failed" in action and not faults_off:
                self.event({"type": "response.failed", "response": {"id": rid, "error": {
                    "code": action.get("code", "server_error"), "message": action["failed"]}}})
                return
        self.event({"type": "response.completed", "response": {"id": rid, "usage": {
            "input_tokens": tokens, "input_tokens_details": {"cached_tokens": tokens // 2},
            "output_tokens": written // 4 + 1, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens + written // 4 + 1}}})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128


def start(port=0, log=None):
    """Start in a background thread; returns (server, base_url)."""
    global LOG_FILE
    LOG_FILE = log
    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, "http://127.0.0.1:%d/v1" % server.server_address[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log")
    parser.add_argument("--port-file")
    args = parser.parse_args()
    server, url = start(args.port, args.log)
    print("listening " + url, flush=True)
    if args.port_file:
        with open(args.port_file, "w") as f:
            f.write(str(server.server_address[1]))
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
