#!/usr/bin/env python3
"""The Python SDK (PyPI openai-codex 0.163.0), with the server as its own process over stdio.

    python_sdk.py --server "trace serve" [--trace TRACE]
    python_sdk.py --server "CODEX app-server" --profile codex

Calls every method of the SDK that concerns threads and turns, blocking and asynchronous. The SDK checks every answer
against its own models, and each message is checked against the schema as well.
"""

import asyncio
import base64
import json
import os

from openai_codex import (
    AsyncCodex, Codex, CodexConfig, ExternalMessage, ImageInput, InvalidRequestError, LocalImageInput, MentionInput, Sandbox,
    SkillInput, TextInput, retry_on_overload,
)
from openai_codex.client import CodexClient
from openai_codex.generated.v2_all import ThreadGoalStatus, ThreadListResponse
from openai_codex.types import ReasoningEffort, ReasoningSummary, SortDirection, ThreadSortKey, ThreadSourceKind

from conversation import load
from setting import Setting, Steps, agents, arguments, asking, script, shell, spawn, until, wait, watchdog

# One red pixel.
PIXEL = ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


def kinds(items):
    return [item.root.type for item in items]


def status(value):
    return value.value


def last_turn(thread):
    return thread.read(include_turns=True).thread.turns[-1]


def everything_of(pages):
    """Returns the ids on all pages of a list."""
    ids, cursor = [], None
    while True:
        page = pages(cursor)
        ids += [thread.id for thread in page.data]
        cursor = page.next_cursor
        if not cursor:
            return ids


def turns(setting, codex, step):
    """Runs turns of every sort on one thread, and returns it."""
    step("start, and a turn with all that a model does")
    thread = codex.thread_start(
        sandbox=Sandbox.full_access, cwd=setting.work, base_instructions="Play the script.", developer_instructions="Be brief.",
        config={"model_reasoning_summary": "auto"}, service_name="clients")
    result = thread.run(script([{"think": "first a thought"}, {"say": "then words"}, shell("echo out; echo err >&2")], [{"say": "the end"}]))
    assert status(result.status) == "completed" and result.error is None, result
    assert result.final_response == "the end", result.final_response
    assert kinds(result.items) == ["userMessage", "reasoning", "agentMessage", "commandExecution", "agentMessage"], kinds(result.items)
    command = result.items[3].root
    assert command.exit_code == 0 and "out" in command.aggregated_output and "err" in command.aggregated_output, command
    assert result.usage.total.total_tokens > 0 and result.started_at and result.completed_at and result.duration_ms is not None, result

    step("the events of a turn, as they come")
    turn = thread.turn(script([{"say": "word by word", "chunk": 3}]))
    events = list(turn.stream())
    methods = [event.method for event in events]
    assert methods[0] == "turn/started" and methods[-1] == "turn/completed", methods
    deltas = [event.payload.delta for event in events if event.method == "item/agentMessage/delta"]
    assert "".join(deltas) == "word by word" and len(deltas) > 1, deltas
    unknown = [event.method for event in events if type(event.payload).__name__ == "UnknownNotification"]
    assert not unknown, "events that the SDK does not understand: %s" % unknown

    step("every sort of input")
    picture = os.path.join(setting.work, "pixel.png")
    with open(picture, "wb") as file:
        file.write(base64.b64decode(PIXEL.split(",")[1]))
    result = thread.run([TextInput(script([{"say": "seen"}])), ImageInput(PIXEL), LocalImageInput(picture),
                         SkillInput("none", os.path.join(setting.work, "SKILL.md")), MentionInput("that", "app://that")])
    sent = [part.root.type for part in result.items[0].root.content]
    assert sent == ["text", "image", "localImage", "skill", "mention"], sent
    assert result.final_response == "seen", result

    step("what other programs say")
    result = thread.run(ExternalMessage("mailbox", "a word from outside", namespace="post"))
    assert "functionCallOutput" in kinds(result.items), kinds(result.items)
    assert setting.model_requests("a word from outside"), "the model is told"

    step("settings of a turn that stay, and such that do not")
    answer = json.dumps({"answer": 42})
    result = thread.run(
        script([{"say": answer}]), cwd=setting.work, effort=ReasoningEffort.high, model="another-model", summary=ReasoningSummary("concise"),
        sandbox=Sandbox.read_only, output_schema={"type": "object", "properties": {"answer": {"type": "integer"}}}, source="timer")
    assert json.loads(result.final_response) == {"answer": 42}, result.final_response
    assert '"answer"' in setting.model_requests('"model": "another-model"')[-1], "the model is told of the schema"
    result = thread.run(script([shell("touch written")], [{"say": "tried"}]))
    commands = [item.root for item in result.items if item.root.type == "commandExecution"]
    assert commands[0].exit_code != 0, "the sandbox stays read-only"
    # The server offers to retry without it, and the SDK approves every request.
    for path in [os.path.join(setting.work, "written")]:
        if os.path.exists(path):
            os.remove(path)
    result = thread.run(script([shell("touch written")], [{"say": "done"}]), sandbox=Sandbox.full_access)
    assert os.path.exists(os.path.join(setting.work, "written")), "with full access it is written"
    return thread


def control(thread, step):
    """Steers and interrupts turns."""
    step("steer")
    turn = thread.turn(script([shell("sleep 1")], [{"say": "not this"}]))
    steered = False
    items = []
    for event in turn.stream():
        if event.method == "item/started" and event.payload.item.root.type == "commandExecution" and not steered:
            steered = turn.steer(script([{"say": "steered"}], text="rather")).turn_id == turn.id
        if event.method == "item/completed":
            items.append(event.payload.item.root)
    assert steered and [item.type for item in items].count("userMessage") == 2, [item.type for item in items]
    assert items[-1].text == "steered", items[-1]

    step("a second prompt joins the running turn")
    turn = thread.turn(script([shell("sleep 1")], [{"say": "not this"}]))
    joined = None
    for event in turn.stream():
        if event.method == "item/started" and event.payload.item.root.type == "commandExecution" and joined is None:
            joined = thread.turn(script([{"say": "joined"}]))
    assert joined.id == turn.id, "the input joins the turn"

    step("interrupt")
    turn = thread.turn(script([shell("sleep 60", yield_time_ms=30000)], [{"say": "never"}]))
    ended = None
    for event in turn.stream():
        if event.method == "item/started" and event.payload.item.root.type == "commandExecution":
            turn.interrupt()
        if event.method == "turn/completed":
            ended = event.payload.turn
    assert status(ended.status) == "interrupted" and ended.error is None, ended
    for late in (lambda: turn.interrupt(), lambda: turn.steer("too late")):
        try:
            late()
            raise AssertionError("a turn that ended can be changed")
        except InvalidRequestError as error:
            assert "no active turn" in error.message, error.message

    step("a turn that fails")
    try:
        thread.run(script([{"status": 400, "message": "the service does not like it"}]))
        raise AssertionError("the turn does not fail")
    except RuntimeError as error:
        assert "the service does not like it" in str(error), error
    assert thread.read().thread.status.root.type == "systemError", thread.read().thread.status
    assert thread.run(script([{"say": "well again"}])).final_response == "well again"


def stored(setting, codex, thread, step):
    """Names, reads, forks, lists, archives, resumes."""
    step("name, read")
    thread.set_name("  a good name ")
    plain = thread.read()
    assert plain.thread.name == "a good name" and plain.thread.turns == [], plain.thread
    full = thread.read(include_turns=True).thread
    assert [status(turn.status) for turn in full.turns].count("interrupted") == 1, [turn.status for turn in full.turns]
    assert [status(turn.status) for turn in full.turns].count("failed") == 1, [turn.status for turn in full.turns]
    assert kinds(full.turns[0].items) == ["userMessage", "reasoning", "agentMessage", "commandExecution", "agentMessage"], kinds(full.turns[0].items)
    assert full.preview and full.cwd.root == setting.work, (full.preview, full.cwd)

    step("fork")
    fork = codex.thread_fork(thread.id, include_turns=True)
    assert fork.id != thread.id
    copy = fork.read(include_turns=True).thread
    assert copy.forked_from_id == thread.id and len(copy.turns) == len(full.turns), (copy.forked_from_id, len(copy.turns))
    assert fork.run(script([{"say": "on a branch"}])).final_response == "on a branch"
    assert "then words" in setting.model_requests("on a branch")[-1], "the fork knows the history"
    assert len(thread.read(include_turns=True).thread.turns) == len(full.turns), "the origin does not change"
    short = codex.thread_fork(thread.id, ephemeral=True, include_turns=False, model="fork-model", sandbox=Sandbox.read_only)
    assert short.run(script([{"say": "gone soon"}])).final_response == "gone soon"

    step("list")
    listed = everything_of(lambda cursor: codex.thread_list(limit=1, cursor=cursor))
    assert set(listed) == {thread.id, fork.id} and len(listed) == 2, listed
    newest = codex.thread_list(sort_key=ThreadSortKey.created_at, sort_direction=SortDirection("asc"), cwd=setting.work, limit=50).data
    assert [row.id for row in newest] == [thread.id, fork.id], newest
    assert [row.name for row in newest] == ["a good name", "a good name"], [row.name for row in newest]
    assert codex.thread_list(search_term="no such title").data == []
    assert codex.thread_list(cwd="/nowhere").data == []

    step("archive, unarchive")
    codex.thread_archive(fork.id)
    assert everything_of(lambda cursor: codex.thread_list(cursor=cursor)) == [thread.id]
    assert everything_of(lambda cursor: codex.thread_list(cursor=cursor, archived=True)) == [fork.id]
    try:
        codex.thread_resume(fork.id)
        raise AssertionError("an archived thread is resumed")
    except InvalidRequestError as error:
        assert "archive" in error.message, error.message
    back = codex.thread_unarchive(fork.id)
    assert back.id == fork.id
    assert set(everything_of(lambda cursor: codex.thread_list(cursor=cursor))) == {thread.id, fork.id}

    step("resume")
    again = codex.thread_resume(fork.id, include_turns=False, sandbox=Sandbox.read_only, developer_instructions="Be briefer.")
    assert again.run(script([{"say": "back again"}])).final_response == "back again"
    assert "on a branch" in setting.model_requests("back again")[-1], "the resumed thread knows its history"
    try:
        codex.thread_resume("01980000-0000-7000-8000-000000000000")
        raise AssertionError("an unknown thread is resumed")
    except InvalidRequestError:
        pass

    step("compact")
    thread.compact()
    # No handle of the SDK belongs to the turn of a compaction, so no handle gets its events.
    until(lambda: "contextCompaction" in kinds(last_turn(thread).items) and status(last_turn(thread).status) == "completed", "it is compacted")
    assert thread.run(script([{"say": "after the compaction"}])).final_response == "after the compaction"


def team(setting, codex, step):
    """A turn whose agent spawns others, one of which fails and gets its task again."""
    step("agents: two are started, one fails, one is asked again")
    thread = codex.thread_start(sandbox=Sandbox.full_access, cwd=setting.work)
    turn = thread.turn(script(
        [spawn("good", [shell("echo the-good-$((4+4))")], [{"say": "it is done"}]), wait()],
        [spawn("bad", [{"status": 400, "message": "no good"}]), wait()],
        [agents("followup_task", target="bad", message=script([{"say": "better"}])), wait()],
        [agents("send_message", target="good", message="thanks"), agents("list_agents")],
        [{"say": "the team is done"}]))
    events = list(turn.stream())
    unknown = [event.method for event in events if type(event.payload).__name__ == "UnknownNotification"]
    assert not unknown, "events that the SDK does not understand: %s" % unknown
    ended = [event.payload.turn for event in events if event.method == "turn/completed"]
    assert [status(turn.status) for turn in ended] == ["completed"], ended
    items = [event.payload.item.root for event in events if event.method == "item/completed"]
    assert items[-1].text == "the team is done", items[-1]
    shown = [(item.agent_path, status(item.kind)) for item in items if item.type == "subAgentActivity"]
    for expected in [("/root/good", "started"), ("/root/good", "completed"), ("/root/good", "interacted"),
                     ("/root/bad", "started"), ("/root/bad", "interacted"), ("/root/bad", "completed")]:
        assert shown.count(expected) == 1, (expected, shown)
    asked = setting.model_requests("the-good-")[-1]
    assert "no good" in asked and "better" in asked, "the first agent is told what the others say"

    step("agents: their threads are read, and take no input")
    ids = {item.agent_path: item.agent_thread_id for item in items if item.type == "subAgentActivity"}
    if setting.options.profile == "trace":
        # The Codex CLI answers with an empty list here.
        children = codex.thread_list(source_kinds=[ThreadSourceKind.sub_agent_thread_spawn], limit=50).data
        assert {row.id for row in children} >= set(ids.values()), (children, ids)
    for path, said, outcomes in (("/root/good", "it is done", ["completed"]), ("/root/bad", "better", ["failed", "completed"])):
        child = codex.thread_resume(ids[path])
        told = child.read(include_turns=True).thread
        assert told.parent_thread_id == thread.id, told
        assert [status(turn.status) for turn in told.turns] == outcomes, (path, told.turns)
        assert told.turns[-1].items[-1].root.text == said, told.turns[-1]
    try:
        child.run("on")
        raise AssertionError("an agent of another takes input")
    except InvalidRequestError:
        pass


def catalogues(codex, step):
    step("models, account")
    models = codex.models(include_hidden=True)
    assert [model for model in models.data if model.is_default], "one model is the default"
    account = codex.account()
    assert account.account is None and account.requires_openai_auth is False, account


def lower(setting, config, log, step):
    """Features of the SDK's low-level client: approvals, retries, streamed texts, goals."""
    asked = []

    def decide(method, params):
        asked.append((method, params))
        return {"decision": "accept" if "allowed" in json.dumps(params) else "decline"}

    with CodexClient(config, approval_handler=decide) as client:
        client.initialize()
        step("approvals")
        thread = client.thread_start({"approvalPolicy": "on-request", "approvalsReviewer": "user", "sandbox": "read-only", "cwd": setting.work}).thread
        assert thread.path and thread.id == thread.session_id
        for word, wanted in (("allowed", "completed"), ("refused", "declined")):
            turn = client.turn_start(thread.id, script([asking("echo " + word)], [{"say": "so be it"}])).turn
            done = client.wait_for_turn_completed(turn.id)
            assert status(done.turn.status) == "completed", done
            items = load(log).messages("server", "item/completed", turnId=turn.id, item__type="commandExecution")
            assert [item["params"]["item"]["status"] for item in items] == [wanted], items
        assert [method for method, _ in asked] == ["item/commandExecution/requestApproval"] * 2, asked

        step("a text as a stream; a request that is repeated when the server is busy")
        words = "".join(delta.delta for delta in client.stream_text(thread.id, script([{"say": "drop by drop", "chunk": 2}])))
        assert words == "drop by drop", words
        listed = client.request_with_retry_on_overload("thread/list", {}, response_model=ThreadListResponse)
        assert thread.id in [row.id for row in listed.data]
        assert retry_on_overload(lambda: client.model_list()).data

        step("goals")
        goal = client.thread_goal_set(thread.id, objective="be done", status=ThreadGoalStatus.paused).goal
        assert goal.objective == "be done" and goal.status == ThreadGoalStatus.paused, goal
        assert client.thread_goal_clear(thread.id).cleared is True
        assert client.thread_goal_clear(thread.id).cleared is False
        state, turn = client.start_goal_operation(thread.id, "reach it " + script([{"say": "on the way"}]))
        client.pause_goal(thread.id)
        client.cancel_goal_operation(state)
        state.finish()
        client.unregister_goal_operation(state)
        assert turn


async def asynchronously(setting, config, step):
    """The same through the asynchronous objects, two threads at once."""
    async with AsyncCodex(config) as codex:
        step("asynchronous: two threads at once")
        assert codex.metadata.userAgent
        one, two = await asyncio.gather(codex.thread_start(sandbox=Sandbox.full_access, cwd=setting.work),
                                        codex.thread_start(sandbox=Sandbox.full_access, cwd=setting.work))
        results = await asyncio.gather(one.run(script([shell("echo one")], [{"say": "first"}])),
                                       two.run(script([shell("echo two")], [{"say": "second"}])))
        assert [result.final_response for result in results] == ["first", "second"], results
        step("asynchronous: stream, steer, interrupt")
        turn = await one.turn(script([shell("sleep 60", yield_time_ms=30000)], [{"say": "never"}]))
        ended = None
        async for event in turn.stream():
            if event.method == "item/started" and event.payload.item.root.type == "commandExecution":
                await turn.steer("in vain")
                await turn.interrupt()
            if event.method == "turn/completed":
                ended = event.payload.turn
        assert status(ended.status) == "interrupted", ended
        step("asynchronous: name, read, fork, list, archive, unarchive, resume, compact, models, account")
        await one.set_name("asynchronous")
        assert (await one.read(include_turns=True)).thread.name == "asynchronous"
        fork = await codex.thread_fork(one.id)
        assert (await codex.thread_list(search_term="asynchronous")).data
        await codex.thread_archive(fork.id)
        back = await codex.thread_unarchive(fork.id)
        resumed = await codex.thread_resume(back.id)
        assert (await resumed.run(script([{"say": "resumed"}]))).final_response == "resumed"
        await two.compact()
        assert (await codex.models()).data and (await codex.account()).account is None


def reviewed(setting, codex, step):
    """By default, the SDK leaves approvals to an automatic review. The turn continues after either decision."""
    step("approvals are left to a review")
    thread = codex.thread_start(sandbox=Sandbox.read_only, cwd=setting.work)
    result = thread.run(script([asking("echo reviewed")], [{"say": "after the review"}]))
    assert result.final_response == "after the review", result


def main():
    options = arguments(__doc__).parse_args()
    watchdog(600)
    with Setting(options) as setting:
        step = Steps()

        def config(name):
            command, log = setting.stdio_command(name)
            return CodexConfig(launch_args_override=tuple(command), cwd=setting.work, env=setting.environment()), log

        first, log = config("blocking")
        with Codex(first) as codex:
            step("starts the server: " + codex.metadata.userAgent)
            assert codex.metadata.serverInfo.name == "codex_python_sdk"
            thread = turns(setting, codex, step)
            control(thread, step)
            stored(setting, codex, thread, step)
            catalogues(codex, step)
        step("another process resumes what the first one stored")
        second, _ = config("resumed")
        with Codex(second) as codex:
            again = codex.thread_resume(thread.id)
            assert again.run(script([{"say": "in another process"}])).final_response == "in another process"
            assert "after the compaction" in setting.model_requests("in another process")[-1], "it knows what was said"
            reviewed(setting, codex, step)
            team(setting, codex, step)
        lower(setting, *config("approvals"), step)
        asyncio.run(asynchronously(setting, config("asynchronous")[0], step))
        methods = load(log).requested()
        print("the first connection used: " + " ".join(sorted(methods)))
        setting.judge()
        setting.judge_bundles(at_least=5)


if __name__ == "__main__":
    main()
