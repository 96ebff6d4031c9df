#!/usr/bin/env python3
"""An MCP server with three tools that do nothing, for the comparison of events: one succeeds, one reports an error, one has a
structured result."""

import json
import sys

TOOLS = ["add", "fail", "structured"]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"}}
    if method == "tools/list":
        annotations = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
        return {"tools": [{"name": name, "description": name, "inputSchema": SCHEMA, "annotations": annotations} for name in TOOLS]}
    if method == "tools/call":
        text = "%s: %s" % (params["name"], params["arguments"].get("text"))
        result = {"content": [{"type": "text", "text": text}]}
        if params["name"] == "fail":
            result["isError"] = True
        if params["name"] == "structured":
            result["structuredContent"] = {"text": text}
        return result
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and "method" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request.get("params") or {})}
        print(json.dumps(reply), flush=True)
