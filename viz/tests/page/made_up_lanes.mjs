/** Generates structures of sessions for tests of the page's modules. Equal wishes generate equal structures. */

const WORKS = ["model", "tool", "wait", "retry", "compaction", "overhead", "idle"];
const OUTCOMES = ["none", "completed", "failed", "cancelled", "unfinished"];
const TYPES = [
  "thread", "codex_turn", "conversation_item", "inference_call", "code_cell", "tool_call", "terminal_session",
  "terminal_operation", "compaction", "compaction_request", "interaction_edge", "raw_payload",
];
const TOOLS = [
  ["exec_command", "cargo test --workspace"],
  ["exec_command", "rg -n 'fn main'"],
  ["apply_patch", "src/lib.rs"],
  ["read_file", "docs/guide.md"],
  ["web_search", "how to fold a timeline"],
];

/** Returns a deterministic generator of numbers from 0 to 1. */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/**
 * Makes up a structure.
 *
 * @param {{agents?: number, steps?: number, failures?: number, pause?: number, parallel?: number}} [wishes] `agents` beside
 *   the root, `steps` of every agent (a model call and a tool call each), the share of `failures`, a `pause` in
 *   milliseconds in the middle of the root's work, how many tools run in `parallel` at most
 */
export function makeUp({ agents = 3, steps = 10, failures = 0.08, pause = 0, parallel = 2 } = {}) {
  const next = numbers(7);
  const strings = [""];
  const known = new Map([["", 0]]);
  const text = (value) => {
    if (!known.has(value)) known.set(value, strings.push(value) - 1);
    return known.get(value);
  };
  const made = Object.fromEntries(TYPES.map((name) => [name, []]));
  const add = (type, object) => {
    made[type].push(object);
    return object;
  };
  const bars = [];
  const bar = (object, work, lane, inside = null) => bars.push({ object, work, lane, inside });
  let seq = 0;

  const work = (thread, lane, began, task) => {
    let now = began;
    const turn = add("codex_turn", { thread, turn: null, start: now, end: -1, outcome: "completed", label: task, seq: (seq += 1), verdict: "ok" });
    turn.turn = turn;
    for (let step = 0; step < steps; step += 1) {
      if (pause > 0 && lane === 0 && step === Math.floor(steps / 2)) now += pause;
      if (next() < failures) {
        const failed = add("inference_call", call(thread, turn, now, now + 200 + next() * 900, "failed"));
        failed.error = "stream closed before it was complete";
        bar(failed, "retry", lane);
        now = failed.end + 300;
      }
      const model = add("inference_call", call(thread, turn, now, now + 800 + next() * 4000, "completed"));
      bar(model, "model", lane);
      now = model.end + next() * 60;
      const tools = 1 + Math.floor(next() * parallel);
      let latest = now;
      const isCell = next() < 0.12;
      let cell = null;
      if (isCell) {
        cell = add("code_cell", { ...call(thread, turn, now, now, "completed"), label: "code" });
        bar(cell, "tool", lane);
      }
      for (let tool = 0; tool < tools; tool += 1) {
        const [name, subject] = TOOLS[Math.floor(next() * TOOLS.length)];
        const chance = next();
        const isLast = step === steps - 1;
        const outcome = chance < failures ? "failed" : chance < failures * 1.3 ? "cancelled" : isLast && chance > 0.85 ? "unfinished" : "completed";
        const start = now + tool * 40;
        const length = chance > 0.5 && chance < 0.53 ? 0 : 100 + next() * next() * 9000;
        const done = add("tool_call", { ...call(thread, turn, start, start + length, outcome), name, subject, cell, exit: outcome === "failed" ? 101 : 0 });
        if (outcome === "unfinished") done.end = -1;
        done.shownEnd = start + length;
        bar(done, "tool", lane, cell);
        latest = Math.max(latest, done.shownEnd);
      }
      if (cell) cell.end = latest + 20;
      now = latest + 30 + next() * 100;
      if (step > 0 && step % 15 === 0) {
        const request = add("compaction_request", call(thread, turn, now, now + 1500, "completed"));
        bar(request, "compaction", lane);
        add("compaction", { thread, turn, start: now + 1500, end: now + 1500, outcome: "completed", label: "compaction", seq: (seq += 1) });
        now += 1520;
      }
    }
    turn.end = now;
    return turn;
  };
  const call = (thread, turn, start, end, outcome) => ({ thread, turn, start, end, outcome, label: "", seq: (seq += 1) });

  const threads = [];
  const root = add("thread", thread("/root", "", null, 0, 0));
  threads.push(root);
  work(root, 0, 40, "do it");
  const total = Math.max(root.end, made.codex_turn[0].end);
  const lost = [];
  for (let agent = 0; agent < agents; agent += 1) {
    const parent = agent > 2 && agent % 4 === 3 ? threads[agent] : root;
    const path = `${parent.path}/agent_${agent + 1}`;
    const start = Math.max(parent.start, (total * 0.6 * agent) / Math.max(agents, 1)) + 500;
    const child = add("thread", thread(path, agent % 2 ? "Euclid" : "", parent, parent.depth + 1, start));
    threads.push(child);
    const edge = (kind, from, to, sent, received, source, target, words) =>
      add("interaction_edge", { thread: from, turn: null, start: sent, end: received, outcome: "completed", label: kind, seq: (seq += 1), kind, from, to, sent, received, source, target, words });
    const spawn = add("tool_call", { ...call(parent, null, start - 60, start, "completed"), name: "spawn_agent", subject: path, cell: null, exit: null });
    spawn.shownEnd = start;
    bar(spawn, "tool", threads.indexOf(parent));
    const turn = work(child, agent + 1, start + 5, `look at part ${agent + 1}`);
    child.end = turn.end;
    edge("spawn_agent", parent, child, start, start + 5, spawn, child, `look at part ${agent + 1}`);
    if (agent % 3 === 0) edge("send_message", parent, child, start + 3000, start + 3400, root, child, "hurry up");
    if (agent % 5 !== 4) edge("agent_result", child, parent, turn.end, turn.end + 90, turn, parent, "it is done");
    else lost.push({ kind: "agent_result", source: turn, from: child, to: parent, to_id: parent.path, sent: turn.end, seq: (seq += 1), text: "it is done" });
    if (agent % 4 === 1) {
      const wait = add("tool_call", { ...call(parent, null, start + 200, turn.end + 90, "completed"), name: "wait_agent", subject: path, cell: null, exit: null });
      wait.shownEnd = wait.end;
      bar(wait, "wait", threads.indexOf(parent));
    }
  }
  root.end = Math.max(...made.codex_turn.map((turn) => turn.end)) + 100;
  if (made.codex_turn[0].end < root.end) made.codex_turn[0].end = root.end;

  function thread(path, nickname, parent, depth, start) {
    return { path, nickname, parent, depth, thread: null, turn: null, start, end: -1, outcome: "completed", label: path, seq: (seq += 1) };
  }

  // Number the objects, type by type.
  let n = 0;
  const types = TYPES.map((name) => {
    const first = n;
    for (const object of made[name]) object.n = n++;
    return { name, first, count: made[name].length };
  });
  for (const one of threads) one.thread = one;
  const objects = { id: [], thread: [], turn: [], seq: [], start: [], end: [], outcome: [], label: [] };
  const number = (object) => (object ? object.n : -1);
  const ms = (value) => Math.round(value);
  for (const name of TYPES) {
    for (const object of made[name]) {
      objects.id.push(null);
      objects.thread.push(number(object.thread));
      objects.turn.push(number(object.turn));
      objects.seq.push(object.seq);
      objects.start.push(ms(object.start));
      objects.end.push(ms(object.end));
      objects.outcome.push(OUTCOMES.indexOf(object.outcome));
      objects.label.push(text(object.label));
    }
  }
  const columns = (list, makers) => Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, list.map(make)]));
  const order = inSpawnOrder(threads);
  const laneOf = new Map(order.map((one, lane) => [one, lane]));
  bars.sort((a, b) => laneOf.get(a.object.thread) - laneOf.get(b.object.thread) || a.object.start - b.object.start);
  const lanes = order.map((one) => ({ thread: one.n, first: 0, count: 0 }));
  for (const one of bars) lanes[laneOf.get(one.object.thread)].count += 1;
  for (let lane = 1; lane < lanes.length; lane += 1) lanes[lane].first = lanes[lane - 1].first + lanes[lane - 1].count;
  const counts = new Map(threads.map((one) => [one, { model: 0, tool: 0, failedModel: 0, failedTool: 0 }]));
  for (const one of made.inference_call) {
    counts.get(one.thread).model += 1;
    if (one.outcome === "failed") counts.get(one.thread).failedModel += 1;
  }
  for (const one of made.tool_call) {
    counts.get(one.thread).tool += 1;
    if (one.outcome === "failed") counts.get(one.thread).failedTool += 1;
  }
  return {
    format: 1,
    session: { name: "made-up", rollout_id: "made-up", trace_id: "made-up", status: "completed", schema_version: 1, recording_complete: true, started_at_unix_ms: 1772445787120, wall_ms: ms(root.end), clock_set_back_ms: 0 },
    strings,
    types,
    objects,
    outcomes: OUTCOMES,
    threads: columns(threads, {
      path: (one) => text(one.path),
      nickname: (one) => text(one.nickname),
      model: () => text("gpt-5.5"),
      task: (one) => text(one.parent ? "look at a part" : ""),
      role: () => 0,
      parent: (one) => number(one.parent),
      depth: (one) => one.depth,
      model_calls: (one) => counts.get(one).model,
      failed_model_calls: (one) => counts.get(one).failedModel,
      tool_calls: (one) => counts.get(one).tool,
      failed_tool_calls: (one) => counts.get(one).failedTool,
      input_tokens: () => 12345,
      cached_tokens: () => 1000,
      output_tokens: () => 678,
    }),
    order: order.map(number),
    turns: columns(made.codex_turn, { verdict: (turn) => text(turn.n % 7 === 3 ? "failed" : turn.verdict), must_end: (turn) => ms(turn.end) }),
    items: { role: [], kind: [], channel: [], call_id: [], author: [], recipient: [], seen_by: [], producer: [] },
    inferences: columns(made.inference_call, {
      model: () => text("gpt-5.5"),
      provider: () => text("openai"),
      input_tokens: () => 4200,
      cached_tokens: () => 4000,
      output_tokens: () => 120,
      reasoning_tokens: () => -1,
      error: (one) => text(one.error ?? ""),
    }),
    tools: columns(made.tool_call, {
      name: (one) => text(one.name),
      subject: (one) => text(one.subject),
      exit_code: (one) => one.exit,
      cell: (one) => number(one.cell),
      operation: () => -1,
    }),
    edges: columns(made.interaction_edge, {
      kind: (one) => text(one.kind),
      source: (one) => number(one.source),
      target: (one) => number(one.target),
      from: (one) => number(one.from),
      to: (one) => number(one.to),
      sent: (one) => ms(one.sent),
      received: (one) => ms(one.received),
      text: (one) => text(one.words),
    }),
    lost: lost.map((one) => ({ ...one, source: number(one.source), from: number(one.from), to: number(one.to), sent: ms(one.sent) })),
    works: WORKS,
    bars: columns(bars, {
      object: (one) => one.object.n,
      work: (one) => WORKS.indexOf(one.work),
      start: (one) => ms(one.object.start),
      end: (one) => ms(one.object.shownEnd ?? one.object.end),
      inside: (one) => number(one.inside),
    }),
    lanes,
    relations: [],
    links: { from: [], to: [], relation: [], at: [] },
    uses: { object: [], payload: [] },
    transcripts: [],
    attached: { item: [], tool: [] },
    verdicts: [],
    diagnostics: [],
    totals: {},
  };
}

/** Returns threads in an order in which children follow their parents. */
function inSpawnOrder(threads) {
  const children = new Map();
  for (const one of threads) children.set(one.parent, [...(children.get(one.parent) ?? []), one]);
  const order = [];
  const visit = (one) => {
    order.push(one);
    for (const child of children.get(one) ?? []) visit(child);
  };
  for (const one of children.get(null) ?? []) visit(one);
  return order;
}
