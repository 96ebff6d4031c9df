#!/usr/bin/env python3
"""The official inspector (npm @modelcontextprotocol/inspector 2.12.0) in its command-line mode against `trace mcp` over stdio.

    mcp_inspector.py --trace TRACE --modules NODE_MODULES --node NODE

With `--strict`, the inspector reports schemas of tools that some client or model does not take.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../samples")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", required=True)
    parser.add_argument("--modules", required=True)
    parser.add_argument("--node", required=True)
    arguments = parser.parse_args()
    place = tempfile.mkdtemp(prefix="trace-inspector-")
    os.makedirs(os.path.join(place, "traces"))
    shutil.copytree(os.path.join(SAMPLES, "three-children"), os.path.join(place, "traces/three-children"))
    environment = {"HOME": place, "XDG_CACHE_HOME": os.path.join(place, "cache"), "PATH": os.environ["PATH"]}
    inspector = os.path.join(arguments.modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js")

    def inspect(*options, code=0):
        command = [arguments.node, inspector, "--cli", os.path.abspath(arguments.trace), "mcp", "--home", place, *options]
        done = subprocess.run(command, env=environment, cwd=place, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, (done, code)
        return json.loads(done.stdout), done.stderr

    tools, said = inspect("--method", "tools/list", "--strict")
    assert len(tools["tools"]) == 10, tools
    assert "error" not in said and "warning" not in said, said
    answer, _ = inspect("--method", "tools/call", "--tool-name", "postmortem", "--tool-arg", "session=three-children", "all=true")
    assert answer["structuredContent"]["counts"] == {"degraded": 2, "failed": 1, "ok": 1}, answer
    answer, _ = inspect("--method", "tools/call", "--tool-name", "sessions", "--tool-arg", "limit=1")
    assert [session["session"] for session in answer["structuredContent"]["sessions"]] == ["three-children"], answer
    answer, said = inspect("--method", "tools/call", "--tool-name", "overview", "--tool-arg", "session=none", code=5)
    assert answer["isError"] and "three-children" in answer["content"][0]["text"], answer
    resources, _ = inspect("--method", "resources/list")
    assert [resource["uri"] for resource in resources["resources"]] == ["trace://schema"], resources
    resource, _ = inspect("--method", "resources/read", "--uri", "trace://schema/turns")
    assert "duration_ms INTEGER" in resource["contents"][0]["text"], resource
    prompt, _ = inspect("--method", "prompts/get", "--prompt-name", "diagnose", "--prompt-args", "session=three-children")
    assert "session=three-children" in prompt["messages"][0]["content"]["text"], prompt
    shutil.rmtree(place)
    print("the inspector has nothing against the server")


if __name__ == "__main__":
    main()
