/**
 * Generates a session in the form that the page reads, for tests of the modules and for viewing the page without a
 * bundle. Equal choices generate equal sessions.
 */

const WORKS = ["model", "tool", "wait", "retry", "compaction", "overhead", "idle"];
const OUTCOMES = ["none", "completed", "failed", "cancelled", "unfinished"];
const RELATIONS = ["contains", "requested", "produced_by", "observed", "spawned", "delivered", "result_of", "waited_on", "replaced_by"];
const TYPES = [
  "thread", "codex_turn", "conversation_item", "inference_call", "code_cell", "tool_call", "terminal_session",
  "terminal_operation", "compaction", "compaction_request", "interaction_edge", "raw_payload",
];

const COMMANDS = [
  "cargo test --workspace", "rg -n 'fn parse' src", "sed -n 1,120p src/parser.rs", "cargo clippy -- -D warnings",
  "git diff --stat", "python3 tools/check.py --all", "cat Cargo.toml", "ls -la crates",
];
const SENTENCES = [
  "I will look at how the parser reads its tokens before I change anything.",
  "The test fails because the second line is read twice; the reader does not move on after a comment.",
  "Two agents can do this side by side: one for the reader, one for the writer.",
  "All 214 tests pass now. The change is in `src/parser.rs`, and there is a test for it.",
  "That did not work: the file has other line ends than I thought. I try it with a smaller patch.",
];

/**
 * Generates a session. `text` transforms every text, to plant something in all of them.
 *
 * @param {{agents?: number, steps?: number, seed?: number, failures?: boolean, text?: (text: string) => string}}
 * [choices]
 * @returns {{structure: object, bodies: object}}
 */
export function madeUp({ agents = 4, steps = 8, seed = 1, failures = true, text = (value) => value } = {}) {
  let state = seed >>> 0 || 1;
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
  const strings = [""];
  const numbers = new Map([["", 0]]);
  const S = (value) => {
    const written = value === "" ? "" : text(String(value));
    if (!numbers.has(written)) {
      numbers.set(written, strings.length);
      strings.push(written);
    }
    return numbers.get(written);
  };
  // Objects are collected by type, and numbered when all are known.
  const made = Object.fromEntries(TYPES.map((type) => [type, []]));
  const make = (type, object) => {
    made[type].push({ type, thread: null, turn: null, seq: seq++, start: 0, end: -1, outcome: "completed", label: "", ...object });
    return made[type].at(-1);
  };
  let seq = 0;
  const bars = [];
  const links = [];
  const uses = [];
  const attached = [];
  const transcripts = [];
  const verdicts = [];
  const link = (from, to, relation, at) => links.push({ from, to, relation, at });
  const payload = (object, kind, value) => {
    const made = make("raw_payload", { label: kind, value });
    uses.push({ object, payload: made });
  };
  const threads = [];
  const transcriptOf = new Map();
  const sum = () => ({ model_calls: 0, failed_model_calls: 0, tool_calls: 0, failed_tool_calls: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0 });

  const runAgent = (parent, depth, name, at, task) => {
    const thread = make("thread", { start: at, parent, depth, path: parent ? `${parent.path}/${name}` : "/root", task, own: sum(), nickname: parent ? ["Ada", "Blaise", "Curie", "Dirac", "Euler"][threads.length % 5] : "", model: depth === 0 ? "gpt-5-codex" : "gpt-5-codex-mini", role: depth === 0 ? "" : "worker" });
    thread.label = thread.path;
    threads.push(thread);
    const items = [];
    transcriptOf.set(thread, items);
    const turn = make("codex_turn", { thread, start: at, label: `turn 1 of ${thread.path}`, verdict: "ok" });
    turn.turn = turn;
    link(thread, turn, "contains", at);
    let now = at;
    const item = (object, marks = 0, blocks = null) => {
      const one = make("conversation_item", { thread, turn, start: now, end: now, outcome: "none", channel: "", call: "", author: "", recipient: "", seen: 1, producer: null, blocks, ...object });
      items.push({ item: one, marks });
      return one;
    };
    if (parent && random(2) === 0) {
      transcriptOf.get(parent).slice(0, 6).forEach((entry) => items.push({ item: entry.item, marks: entry.marks | 1 }));
    }
    item({ role: "developer", kind: "message", label: "You are a careful engineer." }, 0, [{ name: "", form: "text", text: "You are a careful engineer.\n\nWork in small steps. Run the tests before you say that something works.\n".repeat(12) }]);
    const asked = item({ role: "user", kind: "message", label: task, author: parent ? parent.path : "", recipient: parent ? thread.path : "" }, 0, [{ name: "", form: "text", text: task }]);
    const count = Math.max(2, steps - depth * 2);
    let failed = null;
    for (let step = 0; step < count; step += 1) {
      const inference = make("inference_call", { thread, turn, start: now, label: `request ${step + 1}`, model: thread.model, provider: "openai", input: 4000 + step * 900 + random(500), cached: 3000 + step * 800, output: 80 + random(400), reasoning: random(200), error: "" });
      link(turn, inference, "contains", now);
      payload(inference, "inference_request", { model: thread.model, input: [{ role: "user", content: task }], stream: true, step });
      payload(inference, "inference_response", { id: `resp_${seq}`, usage: { input_tokens: inference.input, output_tokens: inference.output } });
      const took = 600 + random(4200);
      if (failures && random(17) === 3) {
        Object.assign(inference, { end: now + 400, outcome: "failed", error: "http 500 Internal Server Error: upstream connect error" });
        bars.push({ object: inference, work: "retry", start: now, end: now + 400 });
        thread.own.model_calls += 1;
        thread.own.failed_model_calls += 1;
        now += 900;
        continue;
      }
      inference.end = now + took;
      bars.push({ object: inference, work: "model", start: now, end: now + took });
      now += took;
      thread.own.model_calls += 1;
      thread.own.input_tokens += inference.input;
      thread.own.cached_tokens += inference.cached;
      thread.own.output_tokens += inference.output;
      const reasoning = item({ role: "assistant", kind: "reasoning", label: "Thinking about the next step", producer: inference }, 0, [{ name: "summary", form: "text", text: "**Looking at the next step**\n\nThe reader should stop at the comment." }, { name: "encrypted", form: "note", text: "1.2 kB of encrypted reasoning" }]);
      link(inference, reasoning, "produced_by", now);
      if (step === count - 1) break;
      if (random(3) === 0) item({ role: "assistant", kind: "message", channel: "commentary", label: SENTENCES[step % 5], producer: inference }, 0, [{ name: "", form: "text", text: SENTENCES[step % 5] }]);
      const parallel = 1 + (random(4) === 0 ? 1 : 0);
      const calls = [];
      for (let one = 0; one < parallel; one += 1) {
        const child = depth < 3 && threads.length < agents && step > 0 && one === 0;
        const subject = child ? `${thread.path}/task_${threads.length}` : COMMANDS[random(COMMANDS.length)];
        const bad = failures && !child && random(6) === 0;
        const length = child ? 300 : 200 + random(3800);
        const tool = make("tool_call", { thread, turn, start: now, end: now + length, outcome: bad ? "failed" : "completed", name: child ? "spawn_agent" : "exec_command", subject, exit: child ? null : bad ? 101 : 0, label: `${child ? "spawn_agent" : "exec_command"} ${subject}` });
        const call = `call_${seq}`;
        tool.blocks = [
          { name: "input", form: child ? "json" : "code", text: child ? JSON.stringify({ task_name: subject, message: "Look at it." }) : subject },
          { name: "stdout", form: "text", text: Array.from({ length: 3 + random(50) }, (_, line) => `test parser::case_${line} ... ok`).join("\n") },
          ...(bad ? [{ name: "stderr", form: "text", text: "error: test failed, to rerun pass `-p parser --lib`\n  thread 'main' panicked at src/parser.rs:12:5" }] : []),
        ];
        thread.own.tool_calls += 1;
        if (bad) {
          thread.own.failed_tool_calls += 1;
          failed = tool;
        }
        link(inference, tool, "requested", now);
        link(turn, tool, "contains", now);
        payload(tool, "tool_invocation", { tool: tool.name, arguments: { cmd: subject } });
        payload(tool, "tool_result", { exit_code: tool.exit, output: "x".repeat(40) });
        bars.push({ object: tool, work: "tool", start: now, end: now + length });
        const asks = item({ role: "assistant", kind: "function_call", label: `${tool.name} ${subject}`, call, producer: inference }, 0, [{ name: "", form: "json", text: JSON.stringify({ name: tool.name, arguments: { cmd: subject, workdir: "/work/project", yield_time_ms: 1000 } }) }]);
        attached.push({ item: asks, tool });
        calls.push({ tool, call, child, length, subject });
      }
      for (const { tool, call, child, length, subject } of calls) {
        const out = item({ role: "tool", kind: "function_call_output", label: `output of ${tool.name}`, call, producer: tool, start: now + length }, 0, [{ name: "", form: "text", text: tool.outcome === "failed" ? "Process exited with code 101\nerror: test failed" : `Process exited with code 0\nOutput:\n${"running 12 tests\n".repeat(1 + random(30))}` }]);
        attached.push({ item: out, tool });
        link(tool, out, "produced_by", now + length);
        if (child) {
          const [below, answer, until] = runAgent(thread, depth + 1, `task_${threads.length}`, now + length, `Read ${subject} and say what has to change.`);
          link(tool, below, "spawned", now + length);
          const edge = make("interaction_edge", { thread, turn, start: now, end: now + length, label: `spawn_agent ${thread.path} to ${below.path}`, kind: "spawn_agent", source: tool, target: below, from: thread, to: below, text: below.task });
          payload(edge, "agent_spawn", { to: below.path });
          const wait = make("tool_call", { thread, turn, start: now + length, end: until, name: "wait_agent", subject: below.path, exit: null, label: `wait_agent ${below.path}`, blocks: [{ name: "input", form: "json", text: "{\"timeout_ms\":60000}" }] });
          bars.push({ object: wait, work: "wait", start: now + length, end: until });
          thread.own.tool_calls += 1;
          link(below, wait, "waited_on", until);
          now = until;
          const told = item({ role: "assistant", kind: "agent_message", label: `answer of ${below.path}`, author: below.path, recipient: thread.path }, 0, [{ name: "", form: "text", text: SENTENCES[3] }]);
          link(answer, told, "result_of", until);
          make("interaction_edge", { thread: below, turn: answer, start: until - 40, end: until, label: `agent_result ${below.path} to ${thread.path}`, kind: "agent_result", source: answer, target: told, from: below, to: thread, text: SENTENCES[3] });
          if (failures && answer.verdict === "failed" && turn.verdict === "ok") turn.verdict = "degraded";
        }
      }
      now += Math.max(...calls.map(({ length }) => length));
      if (step === Math.floor(count / 2) && depth === 0) {
        const compaction = make("compaction", { thread, turn, start: now, end: now + 1800, label: "compaction of 9 items" });
        bars.push({ object: compaction, work: "compaction", start: now, end: now + 1800 });
        now += 1800;
        items.slice(-9).forEach((entry) => link(entry.item, compaction, "replaced_by", now));
        const marker = item({ role: "user", kind: "compaction_marker", label: "context compacted", producer: compaction }, 2, []);
        link(compaction, marker, "produced_by", now);
        item({ role: "user", kind: "message", label: "Summary of what was done so far", producer: compaction }, 4, [{ name: "", form: "text", text: "Summary of what was done so far: the reader was read, and two tests were written." }]);
      }
    }
    const last = item({ role: "assistant", kind: "message", channel: "final", label: SENTENCES[3], seen: 0 }, 8, [{ name: "", form: "text", text: `${SENTENCES[3]}\n\n\`\`\`rust\nfn next(&mut self) -> Option<Token> {\n    self.skip_comment();\n}\n\`\`\`` }]);
    link(turn, last, "produced_by", now);
    turn.end = now;
    if (failed) {
      const bad = turn.verdict === "degraded" || depth > 0 || random(2) === 0;
      turn.verdict = depth > 0 ? "failed" : bad ? "degraded" : "recovered";
      if (turn.verdict === "failed") turn.outcome = "failed";
      verdicts.push({ turn, failed, asked });
    } else verdicts.push({ turn, failed: null });
    thread.end = now;
    thread.outcome = turn.outcome;
    return [thread, turn, now];
  };
  const [, , end] = runAgent(null, 0, "root", 0, "Fix the parser: comments after a line are read twice. Use two agents if that helps.");
  // Add children until there are as many agents as requested.
  while (threads.length < agents) {
    const parent = threads[random(Math.min(threads.length, 40))];
    runAgent(parent, parent.depth + 1, `task_${threads.length}`, random(Math.max(1, end)), "Count the words of one file.");
  }

  const n = new Map();
  let next = 0;
  const types = TYPES.map((name) => {
    const first = next;
    for (const object of made[name]) n.set(object, next++);
    return { name, first, count: made[name].length };
  });
  const N = (object) => (object ? n.get(object) : -1);
  const all = TYPES.flatMap((name) => made[name]);
  const column = (objects, of) => objects.map(of);
  for (const thread of threads) thread.all = { ...thread.own };
  for (const thread of [...threads].reverse()) {
    if (thread.parent) for (const key of Object.keys(thread.all)) thread.parent.all[key] += thread.all[key];
  }
  const order = [];
  const walk = (thread) => {
    order.push(thread);
    threads.filter((other) => other.parent === thread).forEach(walk);
  };
  if (threads.length < 2000) walk(threads[0]);
  else order.push(...threads);
  const laneBars = new Map(order.map((thread) => [thread, []]));
  for (const bar of bars) laneBars.get(bar.object.thread).push(bar);
  const sorted = order.flatMap((thread) => laneBars.get(thread).sort((a, b) => a.start - b.start || a.end - b.end));
  let first = 0;
  const lanes = order.map((thread) => {
    const count = laneBars.get(thread).length;
    first += count;
    return { thread: N(thread), first: first - count, count };
  });
  const keys = Object.keys(sum());
  const edges = made.interaction_edge;
  const told = (object) => ({ type: object.type, id: `${object.type}:${made[object.type].indexOf(object) + 1}` });
  const structure = {
    format: 1,
    session: { name: text("fix-the-parser"), rollout_id: "rollout-7", trace_id: "trace-7", status: "completed", schema_version: 2, recording_complete: true, started_at_unix_ms: 1772460187120, wall_ms: end, clock_set_back_ms: 0 },
    strings,
    types,
    objects: {
      id: column(all, (object) => (object.type === "thread" ? `thread-${threads.indexOf(object) + 1}` : object.type === "raw_payload" ? `raw_payload:${made.raw_payload.indexOf(object) + 1}` : null)),
      thread: column(all, (object) => N(object.type === "thread" ? object : object.thread)),
      turn: column(all, (object) => N(object.turn)),
      seq: column(all, (object) => object.seq),
      start: column(all, (object) => (object.type === "raw_payload" ? -1 : object.start)),
      end: column(all, (object) => object.end),
      outcome: column(all, (object) => (object.type === "raw_payload" ? 0 : OUTCOMES.indexOf(object.outcome))),
      label: column(all, (object) => S(object.label)),
    },
    outcomes: OUTCOMES,
    threads: {
      path: column(threads, (thread) => S(thread.path)),
      nickname: column(threads, (thread) => S(thread.nickname)),
      model: column(threads, (thread) => S(thread.model)),
      task: column(threads, (thread) => S(thread.task)),
      role: column(threads, (thread) => S(thread.role)),
      parent: column(threads, (thread) => N(thread.parent)),
      depth: column(threads, (thread) => thread.depth),
      ...Object.fromEntries(keys.map((key) => [key, column(threads, (thread) => thread.own[key])])),
      ...Object.fromEntries(keys.map((key) => [`all_${key}`, column(threads, (thread) => thread.all[key])])),
    },
    order: order.map(N),
    turns: { verdict: column(made.codex_turn, (turn) => S(turn.verdict)), must_end: column(made.codex_turn, (turn) => turn.end) },
    items: {
      role: column(made.conversation_item, (item) => S(item.role)),
      kind: column(made.conversation_item, (item) => S(item.kind)),
      channel: column(made.conversation_item, (item) => S(item.channel)),
      call_id: column(made.conversation_item, (item) => S(item.call)),
      author: column(made.conversation_item, (item) => S(item.author)),
      recipient: column(made.conversation_item, (item) => S(item.recipient)),
      seen_by: column(made.conversation_item, (item) => item.seen),
      producer: column(made.conversation_item, (item) => N(item.producer)),
    },
    inferences: {
      model: column(made.inference_call, (call) => S(call.model)),
      provider: column(made.inference_call, (call) => S(call.provider)),
      input_tokens: column(made.inference_call, (call) => call.input),
      cached_tokens: column(made.inference_call, (call) => call.cached),
      output_tokens: column(made.inference_call, (call) => (call.outcome === "failed" ? -1 : call.output)),
      reasoning_tokens: column(made.inference_call, (call) => call.reasoning),
      error: column(made.inference_call, (call) => S(call.error)),
    },
    tools: {
      name: column(made.tool_call, (tool) => S(tool.name)),
      subject: column(made.tool_call, (tool) => S(tool.subject)),
      exit_code: column(made.tool_call, (tool) => tool.exit),
      cell: column(made.tool_call, () => -1),
      operation: column(made.tool_call, () => -1),
    },
    edges: {
      kind: column(edges, (edge) => S(edge.kind)),
      source: column(edges, (edge) => N(edge.source)),
      target: column(edges, (edge) => N(edge.target)),
      from: column(edges, (edge) => N(edge.from)),
      to: column(edges, (edge) => N(edge.to)),
      sent: column(edges, (edge) => edge.start),
      received: column(edges, (edge) => edge.end),
      text: column(edges, (edge) => S(edge.text)),
    },
    lost: [],
    works: WORKS,
    bars: {
      object: sorted.map((bar) => N(bar.object)),
      work: sorted.map((bar) => WORKS.indexOf(bar.work)),
      start: sorted.map((bar) => bar.start),
      end: sorted.map((bar) => bar.end),
      inside: sorted.map(() => -1),
    },
    lanes,
    relations: RELATIONS,
    links: {
      from: links.map((one) => N(one.from)),
      to: links.map((one) => N(one.to)),
      relation: links.map((one) => RELATIONS.indexOf(one.relation)),
      at: links.map((one) => one.at),
    },
    uses: { object: uses.map((use) => N(use.object)), payload: uses.map((use) => N(use.payload)) },
    transcripts: order.map((thread) => ({
      thread: N(thread),
      items: transcriptOf.get(thread).map((entry) => N(entry.item)),
      marks: transcriptOf.get(thread).map((entry) => entry.marks),
    })),
    attached: { item: attached.map((one) => N(one.item)), tool: attached.map((one) => N(one.tool)) },
    verdicts: verdicts.map(({ turn, failed }) => ({
      turn: N(turn),
      turn_id: `turn-${made.codex_turn.indexOf(turn) + 1}`,
      thread_id: `thread-${threads.indexOf(turn.thread) + 1}`,
      agent_path: text(turn.thread.path),
      outcome: turn.verdict,
      verdict: text(failed ? `${turn.thread.path} ${turn.verdict === "recovered" ? "recovered from" : `${turn.verdict}:`} the command \`${failed.subject}\` ended with exit code 101` : "completed without a failure"),
      symptom: failed ? { object: told(failed), n: N(failed), seq: failed.seq, text: text("Process exited with code 101") } : null,
      root_cause: failed
        ? { category: "tool_failed", object: told(failed), n: N(failed), turn_id: "turn-1", thread_id: "thread-1", agent_path: text(turn.thread.path), seq: failed.seq, message: text("error: test failed, to rerun pass `-p parser --lib`"), confidence: "high", http_status: null, exit_code: 101, signal: null, attempts: 1 }
        : null,
      other_causes: [],
      chain: failed
        ? [
            { object: told(failed), n: N(failed), relation: "symptom", seq: failed.seq, text: text("the output shows exit code 101") },
            { object: told(turn), n: N(turn), relation: "contains", seq: turn.seq, text: text("the turn in which the command ran") },
            { object: told(failed), n: N(failed), relation: "contains", seq: failed.seq, text: text(failed.subject) },
          ]
        : [],
      time_lost_ms: failed ? failed.end - failed.start : 0,
      rests_on: [],
      missing: failed ? [text("the output of the command beyond its first lines")] : [],
    })),
    diagnostics: failures ? [{ code: "torn_tail", message: text("the last line breaks off after 77 bytes; its event is lost"), seq: seq }] : [],
    totals: { threads: threads.length, turns: made.codex_turn.length, ...threads[0].all, compactions: made.compaction.length },
  };
  const bodies = {};
  const payloads = {};
  for (const object of all) {
    if (object.blocks) bodies[N(object)] = { blocks: object.blocks.map((block) => ({ omitted: 0, ...block, text: text(block.text) })) };
    if (object.type === "raw_payload") payloads[N(object)] = { text: text(JSON.stringify(object.value)), omitted: 0 };
  }
  return { structure, bodies: { bodies, payloads } };
}
