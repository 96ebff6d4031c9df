#!/usr/bin/env python3
"""An MCP server with one tool, for the recordings: `add` adds two numbers, and fails if one is missing."""
import json
import sys

NUMBER = {"type": "number"}
TOOL = {
    "name": "add",
    "description": "Adds two numbers.",
    "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}},
}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "calculator", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        numbers = params.get("arguments", {})
        if "a" in numbers and "b" in numbers:
            return {"content": [{"type": "text", "text": str(numbers["a"] + numbers["b"])}]}
        return {"content": [{"type": "text", "text": "a number is missing"}], "isError": True}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
