#!/usr/bin/env python3
"""An MCP client (PyPI mcp 2.3.0) against `trace mcp`, over stdio and streamable HTTP.

    mcp_client.py --trace TRACE

Asks every question about recorded sessions, reads all pages of long answers, runs agents with the scripted model, and approves what
they ask. Every answer is held against its limit, and hostile arguments have to be told of.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, PromptReference

from setting import asking, script, shell

MAX_ANSWER_BYTES = 8_000
MAX_DEFINITION_BYTES = 8_000
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../samples")
QUESTIONS = ["sessions", "overview", "postmortem", "audit", "why", "grep", "context", "query"]
SECRET = "ghp_" + "a1B2" * 9


def plain(result):
    """Returns the result of a call as the server sent it."""
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def checked(result, is_error=False):
    """Returns the data of an answer, which is not larger than it may be."""
    whole = plain(result)
    size = len(json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode())
    assert size <= MAX_ANSWER_BYTES, "%d bytes: %s" % (size, whole)
    assert result.is_error == is_error, whole
    if is_error:
        return whole["content"][0]["text"]
    assert whole["content"][0]["text"], whole
    return whole["structuredContent"]


async def ask(client, tool, **arguments):
    return checked(await client.call_tool(tool, arguments))


async def refused(client, tool, *words, **arguments):
    """Calls a tool that has to refuse, and to name these words."""
    text = checked(await client.call_tool(tool, arguments), is_error=True)
    assert all(word in text for word in words), (tool, arguments, text)


async def pages(client, tool, rows, **arguments):
    """Returns the rows of all pages of an answer."""
    found, count = [], 0
    while True:
        data = await ask(client, tool, **arguments)
        new = data.get(rows, [])
        assert "cursor" not in data or any(value for value in data.values() if isinstance(value, list)), "no row: %s" % data
        found += new
        count += 1
        if "cursor" not in data:
            return found, count
        assert data["narrow"], data
        arguments["cursor"] = data["cursor"]
        assert count < 200, "the pages do not end"


async def look(client):
    """What the server offers."""
    tools = (await client.list_tools()).tools
    names = [tool.name for tool in tools]
    assert names == QUESTIONS + ["codex", "codex-reply"], names
    definitions = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    size = len(json.dumps(definitions, separators=(",", ":"), ensure_ascii=False).encode())
    assert size <= MAX_DEFINITION_BYTES, size
    for tool in tools[:7]:
        assert tool.annotations.read_only_hint is True and tool.annotations.open_world_hint is False, tool
    resources = (await client.list_resources()).resources
    assert [str(resource.uri) for resource in resources] == ["trace://schema"], resources
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["trace://schema/{table}", "trace://session/{id}/page"]
    schema = (await client.read_resource("trace://schema")).contents[0].text
    assert "\nturns: " in schema and len(schema) < MAX_ANSWER_BYTES
    assert "duration_ms INTEGER" in (await client.read_resource("trace://schema/turns")).contents[0].text
    page = (await client.read_resource("trace://session/three-children/page")).contents[0].text
    assert "trace view three-children --open" in page, page
    for unknown in ["trace://schema/nothing", "trace://session/nothing/page", "file:///etc/passwd", "trace://schema/../x"]:
        with contextlib.suppress(mcp.MCPError):
            await client.read_resource(unknown)
            raise AssertionError("%s is a resource" % unknown)
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["diagnose"]
    prompt = await client.get_prompt("diagnose", {"session": "three-children"})
    assert "postmortem" in prompt.messages[0].content.text
    reference = PromptReference(type="ref/prompt", name="diagnose")
    completed = (await client.complete(reference, {"name": "session", "value": "three"})).completion
    assert completed.values == ["three-children"], completed
    await client.send_ping()
    return size


async def questions(client, failed):
    """Asks every question. `failed` is the id of the session that failed last."""
    # Two calls tell why the last session failed.
    listed = await ask(client, "sessions", status="failed", limit=1)
    assert listed["sessions"][0]["session"] == failed, listed
    found = await ask(client, "postmortem", session=listed["sessions"][0]["session"])
    cause = found["turns"][0]["root_cause"]
    assert cause["category"] == "model_error" and "the model gave up" in cause["message"], cause
    # And one, if it is the latest.
    assert (await ask(client, "postmortem"))["session"] == failed

    listed, _ = await pages(client, "sessions", "sessions", limit=50)
    everything = [session["session"] for session in listed]
    assert everything[0] == failed and {"three-children", "one-agent", "packed"} <= set(everything), everything
    one_by_one, count = await pages(client, "sessions", "sessions", limit=1)
    assert [session["session"] for session in one_by_one] == everything and count == len(everything)
    assert [session["session"] for session in (await ask(client, "sessions", query="RELEASE 0.4"))["sessions"]] == ["three-children"]
    assert not (await ask(client, "sessions", cwd="/nowhere"))["sessions"]
    assert [session["session"] for session in (await ask(client, "sessions", since="1d"))["sessions"]][0] == failed

    overview = await ask(client, "overview", session="three")
    assert [agent["agent"] for agent in overview["agents"]] == ["/root", "/root/changelog", "/root/docs", "/root/speed"]
    assert overview["next"] == "postmortem session=three-children" and len(overview["failures"]) == 3, overview
    found = await ask(client, "postmortem", session="three-children", all=True)
    assert found["counts"] == {"degraded": 2, "failed": 1, "ok": 1}, found["counts"]
    broken = next(turn for turn in found["turns"] if turn["agent"] == "/root/docs")
    why = await ask(client, "why", session="three-children", object=broken["root_cause"]["object"])
    assert why["origin"]["kind"] == "tool_output" and why["origin"]["agent"] == "/root/docs", why
    assert (await ask(client, "why", session="three-children", text="no such words"))["origin"] is None
    lines = await ask(client, "grep", session="three-children", pattern="WICKS", ignore_case=True, agent="/root/changelog")
    assert len(lines["matches"]) == 4 and lines["matches"][0]["text"] == "7d20b11 Dim all wicks at once", lines
    assert not (await ask(client, "grep", session="three-children", pattern="WICKS"))["matches"]
    all_lines, count = await pages(client, "grep", "matches", pattern="error|tests|parser", since="2000-01-01", limit=3)
    assert count > 3 and len({line["session"] for line in all_lines}) > 2, count
    request = await ask(client, "context", session="three-children", agent="/root/docs", request="2")
    assert request["request"]["number"] == 2 and request["items"][0]["index"] == 0, request
    item = await ask(client, "context", session="three-children", agent="/root/docs", request="2", item=1)
    assert item["text"] == "Other agents may take parts of the work; their answers arrive as messages.", item
    rows = await ask(client, "query", session="three-children", sql="SELECT status, count(*) AS n FROM turns GROUP BY 1 ORDER BY 1")
    assert rows["columns"] == ["status", "n"] and rows["rows"] == [["completed", 3], ["failed", 1]], rows
    rows = await ask(client, "query", session="three-children, one-agent", sql="@failed-turns")
    assert len(rows["rows"]) == 1, rows
    packed = await ask(client, "overview", session="packed")
    assert packed["totals"]["agents"] == 1, packed


async def long_answers(client):
    """Answers that do not fit onto a page go on until their end."""
    rows, count = await pages(
        client, "query", "rows", session="three-children",
        sql="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, 'row ' || i AS text FROM n")
    assert [row[0] for row in rows] == list(range(1, 901)) and count > 3, count
    items, count = await pages(client, "context", "items", session="big")
    assert count > 1 and [item["index"] for item in items] == list(range(len(items))), count
    largest = max(items, key=lambda item: item["text_bytes"])
    text, cursor, count = "", {}, 0
    while True:
        page = await ask(client, "context", session="big", item=largest["index"], **cursor)
        text += page["text"]
        count += 1
        if "cursor" not in page:
            break
        cursor = {"cursor": page["cursor"]}
    assert count > 1 and len(text.encode()) == largest["text_bytes"], (count, len(text), largest)
    agents, count = await pages(client, "overview", "agents", session="big")
    assert len(agents) == 1
    turns, count = await pages(client, "why", "seen_by", session="big", text=text[:200])
    assert count >= 1


async def hostile(client):
    """What cannot be answered is told of, with what to do."""
    await refused(client, "overview", "nearest", "sessions", session="no-such-session")
    await refused(client, "overview", session="../../../etc/passwd")
    await refused(client, "overview", session="x" * 100_000)
    await refused(client, "overview", "needs the argument `session`")
    await refused(client, "sessions", "whole number from 1 to 50", limit=1000)
    await refused(client, "sessions", "one of completed", status="fine")
    await refused(client, "sessions", "since", since="long ago")
    await refused(client, "sessions", "has no argument", "query, since", pattern="x")
    for cursor in ["", "abc", "AAAA", "x" * 100_000, "WzEsMl0"]:
        await refused(client, "sessions", "without `cursor`", cursor=cursor)
    await refused(client, "grep", "escape", pattern="(")
    await refused(client, "grep", "line feed", pattern="a\nb")
    await refused(client, "grep", pattern="(a{1000}){1000}")
    await refused(client, "why", "either `text` or `object`", session="latest")
    await refused(client, "why", "TYPE:ID", session="latest", object="nothing")
    await refused(client, "why", "has no", session="three-children", object="tool_call:none")
    await refused(client, "context", "/root/docs", session="three-children", agent="/nobody")
    await refused(client, "context", "requests 1 to 3", session="three-children", agent="/root/docs", request="9")
    await refused(client, "context", "numbered from 0", session="three-children", item=999_999)
    await refused(client, "query", "no such table", "turns", sql="SELECT * FROM nowhere")
    await refused(client, "query", "trace://schema/{table}", sql="SELECT nix FROM turns")
    await refused(client, "query", "never changed", sql="DELETE FROM turns")
    await refused(client, "query", "not allowed", sql="ATTACH '/tmp/x' AS y")
    await refused(client, "query", "one statement", sql="SELECT 1; SELECT 2")
    await refused(client, "query", "at most", sql="SELECT '" + "x" * (1 << 20) + "'")
    await refused(client, "query", session="three-children", sql="SELECT json_extract(agent_path, '$') FROM turns")
    await refused(client, "query", "@slowest-tools", sql="@nothing")
    text = checked(await client.call_tool("nothing", {}), is_error=True)
    assert "the tools are sessions" in text, text
    # A value that is huge does not become an answer that is huge.
    await ask(client, "query", session="three-children", sql="SELECT hex(zeroblob(1000000)) AS big")
    await ask(client, "why", session="three-children", text="x" * 1_000_000)


async def agents(client, work, progress, elicited):
    """Runs agents."""
    told = []

    async def on_progress(done, total, message):
        told.append((done, message))

    result = await client.call_tool(
        "codex", {"prompt": script([{"say": "first"}, shell("echo out > made")], [{"say": "the end"}]), "cwd": work, "sandbox": "workspace-write"},
        progress_callback=on_progress)
    assert not result.is_error and result.content[0].text == "the end", result
    thread = result.structured_content["threadId"]
    assert result.structured_content["content"] == "the end" and os.path.exists(os.path.join(work, "made"))
    if progress:
        assert any("running" in message for _, message in told) and [done for done, _ in told] == list(range(1, len(told) + 1)), told
    # The session that was recorded is found by the id of its thread.
    assert (await ask(client, "overview", session=thread))["totals"]["turns"] == 1
    result = await client.call_tool("codex-reply", {"threadId": thread, "prompt": script([{"say": "again"}])})
    assert result.structured_content == {"threadId": thread, "content": "again"}, result
    result = await client.call_tool("codex-reply", {"conversationId": thread, "prompt": script([{"failed": "no more"}])})
    assert result.is_error and "no more" in result.content[0].text and result.structured_content["threadId"] == thread, result

    for action, expected in [("accept", True), ("decline", False)]:
        elicited.clear()
        elicited.append(action)
        path = os.path.join(work, action)
        result = await client.call_tool("codex", {
            "prompt": script([asking("echo x > %s" % path)], [{"say": "asked"}]), "cwd": work, "sandbox": "read-only", "approval-policy": "on-request"})
        assert not result.is_error and os.path.exists(path) == expected, (action, result)
        assert len(elicited) == 2 and path in elicited[1], elicited
    elicited.clear()
    elicited.append("cancel")
    result = await client.call_tool("codex", {
        "prompt": script([asking("echo x")], [{"say": "asked"}]), "cwd": work, "sandbox": "read-only", "approval-policy": "on-request"})
    assert result.is_error and "interrupted" in result.content[0].text, result

    for arguments, words in [
        ({}, "needs the argument `prompt`"), ({"prompt": " "}, "empty"), ({"prompt": "x", "nothing": 1}, "has no argument"),
        ({"prompt": "x", "sandbox": "none"}, "one of read-only"), ({"prompt": "x", "config": 7}, "an object"),
        ({"prompt": "x", "cwd": "/nowhere/at/all"}, "nowhere"),
    ]:
        result = await client.call_tool("codex", arguments)
        assert result.is_error and words in result.content[0].text, (arguments, result)
    for arguments, words in [({"prompt": "x"}, "threadId"), ({"prompt": "x", "threadId": "no-such-thread"}, "no-such-thread")]:
        result = await client.call_tool("codex-reply", arguments)
        assert result.is_error and words in result.content[0].text, (arguments, result)
    return thread


async def cancelled(client, work):
    """A call that the client gives up ends its turn and the command in it."""
    mark = os.path.join(work, "went-on")
    prompt = script([shell("sleep 3; echo x > %s" % mark)], [{"say": "late"}])
    call = asyncio.create_task(client.call_tool("codex", {"prompt": prompt, "cwd": work, "sandbox": "workspace-write"}))
    await asyncio.sleep(1)
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call
    await client.send_ping()
    return mark


class Setting:
    """A home with recordings."""

    def __init__(self, trace, place):
        self.trace = trace
        self.home = os.path.join(place, "home")
        self.work = os.path.join(place, "work")
        self.traces = os.path.join(self.home, "traces")
        os.makedirs(self.traces)
        os.makedirs(self.work)
        self.environment = {
            "HOME": self.home, "TRACE_HOME": self.home, "XDG_CACHE_HOME": os.path.join(place, "cache"), "PATH": os.environ["PATH"]}
        for name in ["three-children", "one-agent"]:
            shutil.copytree(os.path.join(SAMPLES, name), os.path.join(self.traces, name))
        self.run("pack", os.path.join(self.traces, "one-agent"), "-o", os.path.join(self.traces, "packed.trace"))

    def run(self, *arguments, fails=False):
        done = subprocess.run([self.trace, *arguments], env=self.environment, cwd=self.work, capture_output=True, text=True)
        assert (done.returncode != 0) == fails, done
        return done.stdout

    def record(self, prompt, **more):
        """Records a session, and returns the path of its bundle."""
        known = set(os.listdir(self.traces))
        self.run("run", "--provider", "scripted", prompt, **more)
        new, = set(os.listdir(self.traces)) - known
        return os.path.join(self.traces, new)

    def record_long(self):
        steps = [[shell("seq 1 2000 | sed 's/$/ é \\\"quoted\\\" line/'", max_output_tokens=20000)]] + [[shell("echo %d" % n)] for n in range(60)]
        big = self.record(script(*steps, [{"say": "done"}], text="a long one"))
        os.rename(big, os.path.join(self.traces, "big.trace"))

    def record_failed(self):
        """Records a session that fails, and returns its id."""
        failed = self.record(script([shell("exit 3")], [{"failed": "the model gave up"}], text="Please fix the parser."), fails=True)
        row, = json.loads(self.run("query", "--json", failed, "SELECT trace_id FROM bundles"))
        return row["trace_id"]


def on_elicitation(elicited):
    async def answer(_context, params):
        elicited.append(params.message)
        action = elicited[0]
        return ElicitResult(action=action, content={} if action == "accept" else None)

    return answer


async def over_stdio(setting, failed, mode):
    elicited = []
    server = mcp.StdioServerParameters(
        command=setting.trace, args=["mcp", "--provider", "scripted"], env=setting.environment, cwd=setting.work)
    async with mcp.Client(server, mode=mode, elicitation_callback=on_elicitation(elicited)) as client:
        size = await look(client)
        await questions(client, failed)
        await hostile(client)
        await long_answers(client)
        thread = await agents(client, setting.work, True, elicited)
        mark = await cancelled(client, setting.work)
    await asyncio.sleep(3)
    assert not os.path.exists(mark), "the command of a cancelled call went on"
    # A server that is started anew goes on with a thread that is on disk.
    async with mcp.Client(server, mode=mode) as client:
        result = await client.call_tool("codex-reply", {"threadId": thread, "prompt": script([{"say": "from disk"}])})
        assert result.content[0].text == "from disk", result
        # Nobody can be asked, so what needs an approval is declined.
        result = await client.call_tool("codex", {"prompt": script([asking("echo x")], [{"say": "not asked"}]), "cwd": setting.work})
        assert result.content[0].text == "not asked", result
    return size


async def over_http(setting, failed):
    token = os.path.join(setting.home, "token")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write("a-token-of-the-test\n")
    server = subprocess.Popen(
        [setting.trace, "mcp", "--provider", "scripted", "--listen", "http://127.0.0.1:0/mcp", "--token-file", token],
        env=setting.environment, cwd=setting.work, stderr=subprocess.PIPE, text=True)
    try:
        url = server.stderr.readline().split()[-1]
        headers = {"Authorization": "Bearer a-token-of-the-test"}
        elicited = []
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(url, http_client=http)
            async with mcp.Client(transport, elicitation_callback=on_elicitation(elicited)) as client:
                await look(client)
                await questions(client, failed)
                await agents(client, setting.work, True, elicited)
                await attacked(client, url, setting.work)
                # Over HTTP, secrets are taken out of answers.
                setting.record(script([shell("echo token=%s" % SECRET)], [{"say": "done"}]))
                lines = await ask(client, "grep", pattern="token=", session="latest")
                assert lines["matches"] and SECRET not in json.dumps(lines) and "redacted" in json.dumps(lines), lines
            await doors(http, url)
    finally:
        began = time.monotonic()
        server.terminate()
        assert server.wait(10) == 0 and time.monotonic() - began < 5, "the server does not end"


async def attacked(client, url, work):
    """A command of an agent that has the token does not reach the server that runs it."""
    port = url.split(":")[2].split("/")[0]
    request = r"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer a-token-of-the-test\r\nConnection: close\r\n\r\n" % port
    command = "exec 3<>/dev/tcp/127.0.0.1/%s && printf '%s' >&3 && timeout 5 cat <&3 > answer" % (port, request)
    result = await client.call_tool("codex", {
        "prompt": script([shell(command)], [{"say": "tried"}]), "cwd": work, "sandbox": "danger-full-access", "approval-policy": "never"})
    assert result.content[0].text == "tried", result
    with open(os.path.join(work, "answer")) as file:
        answer = file.read()
    assert "405" not in answer and "text/event-stream" not in answer, answer


async def doors(http, url):
    """Who may not come in."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "doors", "version": "1"}}}
    accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    port = url.split(":")[2].split("/")[0]

    async def post(message=hello, **headers):
        text = json.dumps(message) if isinstance(message, dict) else message
        headers = {**accept, **{name.replace("_", "-"): value for name, value in headers.items()}}
        is_long = len(text) > 16 << 20 or len(str(headers)) > 16_000
        for last in [False, False, True]:
            try:
                response = await http.post(url, content=text, headers=headers)
                return response.status_code, response
            except httpx2.TransportError:
                # The server does not read on if a message is too long, and the client may find that out before it reads the answer.
                if is_long:
                    return 0, None
                # It closes the connection of a request that is too long, and the client may send the next one on it before it
                # hears of that.
                if last:
                    raise

    assert (await post())[0] == 200
    assert (await post(Host="localhost:" + port))[0] == 200
    assert (await post(Origin="http://localhost:" + port))[0] == 200
    for bad in [{"Host": "evil.example"}, {"Host": "evil.example:" + port}, {"Host": "127.0.0.1"},
                {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://127.0.0.1:" + port}]:
        assert (await post(**bad))[0] == 403, bad
    for token in ["Bearer wrong", "Basic a-token-of-the-test", "", "Bearer " + "x" * 20_000]:
        status, response = await post(Authorization=token)
        assert status in (401, 431, 0) and (status != 401 or response.headers["www-authenticate"] == "Bearer"), (token, status)
    assert (await post(Accept="text/html"))[0] == 406
    assert (await post(Content_Type="text/plain"))[0] == 415
    assert (await post(MCP_Protocol_Version="1999-01-01"))[0] == 400
    assert (await post(message="{"))[0] == 400
    assert (await post(message="[]"))[0] == 400
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert (await post(message=ping))[0] == 400, "no session"
    assert (await post(message=ping, Mcp_Session_Id="0" * 32))[0] == 404
    session = (await post())[1].headers["mcp-session-id"]
    assert (await post(message=ping, Mcp_Session_Id=session))[0] == 200
    assert (await post(message={"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id=session))[0] == 202
    assert (await post(message={"jsonrpc": "2.0", "id": 3, "method": "x", "params": {"x": "y" * (17 << 20)}}, Mcp_Session_Id=session))[0] in (413, 0)
    # The server closes the connection of the request that is too large, and the client may not have noticed yet.
    for _ in range(3):
        try:
            status = (await http.get(url, headers={"Accept": "text/event-stream"})).status_code
            break
        except httpx2.RemoteProtocolError:
            continue
    assert status == 405
    assert (await http.delete(url, headers={"Mcp-Session-Id": session})).status_code == 204
    assert (await post(message=ping, Mcp_Session_Id=session))[0] == 404
    assert (await http.get(url.replace("/mcp", "/other"))).status_code == 404


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace", required=True)
    arguments = parser.parse_args()
    place = tempfile.mkdtemp(prefix="trace-mcp-")
    setting = Setting(os.path.abspath(arguments.trace), place)
    setting.record_long()
    size = await asyncio.wait_for(over_stdio(setting, setting.record_failed(), "auto"), 120)
    await asyncio.wait_for(over_http(setting, setting.record_failed()), 120)
    print("the definitions of all tools have %d bytes" % size)
    shutil.rmtree(place)


if __name__ == "__main__":
    asyncio.run(main())
