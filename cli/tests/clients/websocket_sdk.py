#!/usr/bin/env python3
"""An independent SDK (PyPI codex-app-server-sdk 0.4.1) over WebSocket, with a bearer token.

    websocket_sdk.py --server "trace serve" [--trace TRACE]
    websocket_sdk.py --server "CODEX app-server" --profile codex

The package asks for Python 3.12 or newer. `thread/rollback`, a name of older versions that the Codex CLI no longer has, is
expected of `trace serve` only.
"""

import asyncio
import os

from codex_app_server_sdk import (
    CodexClient, CodexProtocolError, CodexTransportError, CodexTurnInactiveError, CollaborationMode, CollaborationSettings,
    CommandApprovalWithExecpolicyAmendment, ThreadConfig, TurnOverrides, UserInputAnswer, UserInputResponse,
)

from setting import Setting, Steps, arguments, asking, script, shell, watchdog

TOKEN = "a-token-that-nobody-guesses"
FULL = {"sandbox": "danger-full-access", "approval_policy": "never"}
ASKS = {"sandbox": "read-only", "approval_policy": "on-request"}


async def refused(call, *words):
    """Expects that a call is refused with a message that holds one of the words."""
    try:
        result = await call
    except CodexProtocolError as error:
        assert not words or any(word in str(error) for word in words), error
        return error
    raise AssertionError("not refused: %s" % (result,))


class Session:
    def __init__(self, setting, url, step):
        self.setting, self.url, self.step = setting, url, step

    def client(self, **options):
        return CodexClient.connect_websocket(url=self.url, token=TOKEN, **options)

    def config(self, **more):
        return ThreadConfig(cwd=self.setting.work, **more)

    async def token(self):
        self.step("a token")
        for token in ("a wrong one", ""):
            try:
                await CodexClient.connect_websocket(url=self.url, token=token or None).start()
                raise AssertionError("served without the token")
            except CodexTransportError as error:
                assert "401" in str(error), error

    async def turns(self, client):
        self.step("initialize, start, turns")
        hello = await client.initialize()
        assert hello.raw["userAgent"].startswith("codex-app-server-sdk/"), hello
        thread = await client.start_thread(self.config(**FULL))
        prompt = script([{"think": "a thought"}, {"say": "words"}, shell("echo shown")], [{"say": "the end"}])
        steps = [step async for step in thread.chat(prompt)]
        assert [step.step_type for step in steps] == ["userMessage", "thinking", "codex", "exec", "codex"], [s.step_type for s in steps]
        assert "echo shown" in steps[3].text and steps[4].text == "the end", steps
        result = await thread.chat_once(script([{"say": "once"}]), user="somebody", metadata={"a": 1})
        assert result.final_text == "once" and result.completion_source == "item_completed", result
        result = await client.chat_once(script([{"say": "on a thread of its own"}]), thread_config=self.config(ephemeral=True, **FULL))
        assert result.final_text == "on a thread of its own" and result.thread_id != thread.thread_id
        await refused(thread.chat_once(script([{"status": 400, "message": "not liked"}])), "not liked")
        await thread.update_defaults(self.config(model="scripted-2", **FULL))
        overrides = TurnOverrides(model="scripted-3", effort="low", summary="concise", approval_policy="never",
                                  sandbox_policy={"type": "readOnly"}, cwd=self.setting.work, output_schema={"type": "object"})
        assert (await thread.chat_once(script([{"say": "{}"}]), turn_overrides=overrides)).final_text == "{}"
        assert self.setting.model_requests('"model": "scripted-3"'), "the model of the turn"
        return thread

    async def control(self, client, thread):
        self.step("steer")
        steps = []
        async for step in thread.chat(script([{"say": "begins"}, shell("sleep 1")], [{"say": "not this"}])):
            steps.append(step)
            if step.step_type == "codex" and step.text == "begins":
                await client.steer_turn(thread_id=thread.thread_id, expected_turn_id=step.turn_id,
                                        input_items=[{"type": "text", "text": script([{"say": "steered"}])}])
        assert steps[-1].text == "steered", steps[-1]
        self.step("interrupt")
        try:
            async for step in thread.chat(script([{"say": "begins"}, shell("sleep 60", yield_time_ms=30000)], [{"say": "never"}])):
                if step.step_type == "codex":
                    await client.interrupt_turn(step.turn_id)
            raise AssertionError("the turn ends as if nothing was")
        except CodexProtocolError as error:
            assert error.data["status"] == "interrupted", error.data
        self.step("a turn that says nothing for a while, then goes on; one that is cancelled")
        waiting = None
        try:
            await thread.chat_once(script([{"say": "goes on"}, {"hold": "silence"}]), inactivity_timeout=1)
            raise AssertionError("the turn ends")
        except CodexTurnInactiveError as error:
            waiting = error.continuation
        self.setting.release("silence")
        assert (await client.chat_once(continuation=waiting, inactivity_timeout=30)).final_text == "goes on"
        try:
            await thread.chat_once(script([shell("sleep 60", yield_time_ms=30000)], [{"say": "never"}]), inactivity_timeout=1)
            raise AssertionError("the turn ends")
        except CodexTurnInactiveError as error:
            cancelled = await client.cancel(error.continuation)
        assert cancelled.was_interrupted and not cancelled.was_completed, cancelled

    async def stored(self, client, thread):
        self.step("read, name, fork, list, archive, unarchive, resume, compact")
        read = await thread.read()
        assert read["thread"]["id"] == thread.thread_id and len(read["thread"]["turns"]) >= 7, len(read["thread"]["turns"])
        await thread.set_name("independent")
        fork = await thread.fork()
        assert fork.thread_id != thread.thread_id
        assert (await fork.chat_once(script([{"say": "forked"}]))).final_text == "forked"
        listed = await client.list_threads(limit=50, cwd=self.setting.work, archived=False, sort_key="updated_at", sort_direction="desc", model_providers=[])
        assert {row["id"] for row in listed["data"]} == {thread.thread_id, fork.thread_id}, listed
        await fork.archive()
        assert [row["id"] for row in (await client.list_threads(archived=True))["data"]] == [fork.thread_id]
        await fork.unarchive()
        again = await client.resume_thread(fork.thread_id, overrides=self.config(**FULL))
        assert (await again.chat_once(script([{"say": "resumed"}]))).final_text == "resumed"
        assert "forked" in self.setting.model_requests("resumed")[-1], "the model is told what was said"
        await again.compact()
        while (await again.read())["thread"]["turns"][-1]["status"] == "inProgress":
            await asyncio.sleep(0.05)
        assert (await again.chat_once(script([{"say": "after it"}]))).final_text == "after it"
        await refused(client.read_thread("01980000-0000-7000-8000-000000000000"))
        return again

    async def rollback(self, client, thread):
        self.step("rollback")
        before = len((await thread.read())["thread"]["turns"])
        assert (await thread.chat_once(script([{"say": "to be forgotten"}]))).final_text == "to be forgotten"
        if self.setting.options.profile == "codex":
            await refused(thread.rollback(1), "thread/rollback")
            return
        result = await thread.rollback(1)
        assert result["thread"]["id"] == thread.thread_id, result
        assert len((await thread.read())["thread"]["turns"]) == before
        assert (await thread.chat_once(script([{"say": "and on"}]))).final_text == "and on"
        assert "to be forgotten" not in self.setting.model_requests("and on")[-1], "the model is told nothing of it"

    async def review(self, client, thread):
        self.step("review")
        report = '{"findings": [], "overall_correctness": "patch is correct", "overall_explanation": "all well", "overall_confidence_score": 0.9}'
        started = await thread.start_review({"type": "custom", "instructions": script([{"say": report}])}, delivery="inline")
        assert started["reviewThreadId"] == thread.thread_id, started
        while True:
            turn = (await thread.read())["thread"]["turns"][-1]
            if turn["id"] == started["turn"]["id"] and turn["status"] != "inProgress":
                break
            await asyncio.sleep(0.05)
        assert turn["status"] == "completed", turn

    async def machine(self, client):
        self.step("models, config, commands")
        models = await client.list_models(include_hidden=True, limit=50)
        assert any(model["isDefault"] for model in models["data"]), models
        await client.write_config_value(key_path="tools.view_image", value=False)
        await client.batch_write_config([{"keyPath": "model_verbosity", "value": "low", "mergeStrategy": "replace"}])
        config = await client.read_config(cwd=self.setting.work, include_layers=True)
        assert config["config"]["model_verbosity"] == "low", config["config"]
        assert (await client.read_config_requirements())["requirements"] is None
        done = await client.exec_command(["sh", "-c", "echo out; echo err >&2; exit 3"], cwd=self.setting.work, timeout_ms=20000,
                                         sandbox_policy={"type": "dangerFullAccess"})
        assert (done["exitCode"], done["stdout"], done["stderr"]) == (3, "out\n", "err\n"), done
        await refused(client.exec_command([]))

    async def approvals(self):
        async def chat(client, thread, command):
            steps = [step async for step in thread.chat(script([asking(command)], [{"say": "so be it"}]))]
            return [step.data["item"]["status"] for step in steps if step.step_type == "exec"], steps[-1].text

        self.step("approvals: declined unless told otherwise")
        async with self.client() as client:
            thread = await client.start_thread(self.config(**ASKS))
            assert await chat(client, thread, "echo one") == (["declined"], "so be it")
        self.step("approvals: by a function, by hand")
        async with self.client() as client:
            thread = await client.start_thread(self.config(**ASKS))
            asked = []

            async def decide(request):
                asked.append(request)
                return "accept_for_session" if len(asked) == 1 else CommandApprovalWithExecpolicyAmendment(["echo", "three"])

            client.set_approval_handler(decide)
            assert await chat(client, thread, "echo two") == (["completed"], "so be it")
            assert await chat(client, thread, "echo two") == (["completed"], "so be it")
            assert len(asked) == 1, "what is accepted for the session is not asked again"
            assert asked[0].thread_id == thread.thread_id and "echo two" in asked[0].command, asked[0]
            assert await chat(client, thread, "echo three") == (["completed"], "so be it")
            assert await chat(client, thread, "echo three") == (["completed"], "so be it")
            assert len(asked) == 2, "nor what an amendment allows"
        async with self.client(approval_mode="manual") as client:
            thread = await client.start_thread(self.config(**ASKS))
            for name, word, wanted in (("accept", "four", "completed"), ("decline", "five", "declined")):
                running = asyncio.ensure_future(chat(client, thread, "echo " + word))
                request = await anext(client.approval_requests())
                await (client.approve_approval(request) if name == "accept" else client.decline_approval(request))
                assert await running == ([wanted], "so be it")
            running = asyncio.ensure_future(chat(client, thread, "echo six"))
            await client.cancel_approval(await anext(client.approval_requests()))
            error = await refused(running)
            assert error.data["status"] == "interrupted", error.data

    async def questions(self):
        self.step("questions of the model")
        async with self.client() as client:
            await client.initialize({"capabilities": {"experimentalApi": True}})
            thread = await client.start_thread(self.config(**FULL))

            async def answer(request):
                return UserInputResponse(answers={request.questions[0].id: UserInputAnswer(answers=[request.questions[0].options[1].label])})

            client.set_user_input_handler(answer)
            question = {"id": "colour", "header": "Colour", "question": "Which one?", "options": [
                {"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]}
            mode = TurnOverrides(collaboration_mode=CollaborationMode("plan", CollaborationSettings(model="scripted-1")))
            result = await thread.chat_once(
                script([{"call": "request_user_input", "args": {"questions": [question]}}], [{"say": "thanks"}]), turn_overrides=mode)
            assert result.final_text == "thanks", result
            assert "blue" in [line for line in self.setting.model_requests("function_call_output") if "colour" in line][-1].split("function_call_output")[-1]

    async def all(self):
        await self.token()
        async with self.client() as client:
            thread = await self.turns(client)
            await self.control(client, thread)
            fork = await self.stored(client, thread)
            await self.rollback(client, fork)
            await self.review(client, fork)
            await self.machine(client)
        await self.approvals()
        await self.questions()
        self.step("the end")


def main():
    options = arguments(__doc__).parse_args()
    watchdog(600)
    with Setting(options) as setting:
        token = os.path.join(setting.place, "token")
        with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(TOKEN + "\n")
        url, _ = setting.listener("--ws-auth", "capability-token", "--ws-token-file", token)
        proxy, conversation = setting.proxy(url)
        asyncio.run(Session(setting, proxy.url, Steps()).all())
        print("used: " + " ".join(sorted(conversation.requested())))
        setting.judge()
        setting.judge_bundles(at_least=5)


if __name__ == "__main__":
    main()
