/** The head of the page: the session, its outcome and totals, the theme, help and findings. */

import { element, fill, showDialog } from "./dom.js";
import { count, duration, number, tokens, wallDay, wallTime } from "./format.js";
import { badge } from "./outcome.js";
import { CHOICES } from "./theme.js";

/** Signs of the themes. */
const THEMES = { auto: "◐", light: "☀", dark: "☾" };

/** Most findings that are listed. */
export const MAX_FINDINGS = 1000;

/**
 * Fills the head.
 *
 * @param {HTMLElement} host
 * @param {{data: import("./data.js").Data}} page
 * @param {{theme: {choice: string, choose: (choice: string) => void}, help: () => void, print: () => void}} actions
 */
export function startHead(host, { data, store }, actions) {
  const draw = () => drawHead(host, data, actions);
  store.on("data", draw);
  draw();
}

function drawHead(host, data, { theme, help, print }) {
  const focused = host.contains(document.activeElement) ? document.activeElement.id : "";
  const { session, raw } = data;
  const { totals, diagnostics } = raw;
  const started = session.started_at_unix_ms;
  const total = (value, text, title, mood = null) =>
    element("div", { class: "total", title }, element("dd", { class: mood, text: value }), element("dt", { text }));
  const failures = totals.failed_model_calls + totals.failed_tool_calls;
  const themes = element("button", { type: "button", class: "icon", id: "theme" });
  const showTheme = () => {
    themes.textContent = THEMES[theme.choice];
    themes.title = `Colours: ${theme.choice}. Click to change.`;
    themes.setAttribute("aria-label", `Colours: ${theme.choice}`);
  };
  themes.addEventListener("click", () => {
    theme.choose(CHOICES[(CHOICES.indexOf(theme.choice) + 1) % CHOICES.length]);
    showTheme();
  });
  showTheme();
  fill(
    host,
    element(
      "div",
      { class: "head-name" },
      element("h1", {}, element("bdi", { text: session.name })),
      badge(session.status),
      session.recording_complete ? null : element("span", { class: "badge warn", title: "The recording has no end." }, element("span", { "aria-hidden": "true", class: "sign", text: "…" }), "recording incomplete"),
    ),
    element(
      "dl",
      { class: "totals" },
      total(duration(session.wall_ms), "duration", "from the first event to the last"),
      total(`${wallDay(started)} ${wallTime(started).slice(0, 8)}`, "started", "in the time zone of this computer"),
      total(number(totals.threads), "agents", count(totals.threads, "agent")),
      total(number(totals.turns), "turns", count(totals.turns, "turn")),
      total(
        number(totals.model_calls + totals.tool_calls),
        "calls",
        `${count(totals.model_calls, "model request")}, ${count(totals.tool_calls, "tool call")}`,
      ),
      total(number(failures), "failed calls", `${count(totals.failed_model_calls, "request")} and ${count(totals.failed_tool_calls, "tool call")} failed`, failures > 0 ? "bad" : null),
      total(
        `${tokens(totals.input_tokens)} / ${tokens(totals.output_tokens)}`,
        "tokens in / out",
        `${number(totals.input_tokens)} tokens in, ${number(totals.cached_tokens)} of them from the cache, ${number(totals.output_tokens)} out`,
      ),
    ),
    element(
      "div",
      { class: "head-actions" },
      diagnostics.length > 0 ? findings(diagnostics) : null,
      element("button", { type: "button", class: "icon", text: "⎙", title: "Print this page, with the transcript of the agent", "aria-label": "Print", onclick: print }),
      themes,
      element("button", { type: "button", class: "icon", id: "help", text: "?", title: "Keys (?)", "aria-label": "Help: keys", onclick: help }),
    ),
  );
  if (focused) document.getElementById(focused)?.focus();
}

/** Returns the badge that opens the list of findings in the bundle. */
function findings(diagnostics) {
  const dialog = element(
    "dialog",
    { class: "findings", "aria-label": "Findings in the bundle", tabindex: "-1" },
    element("h2", { text: `${count(diagnostics.length, "finding")} in the bundle` }),
    element("p", { class: "quiet", text: "The recording is damaged or breaks a rule of its format. The page shows as much as the evidence carries." }),
    element(
      "ul",
      {},
      ...diagnostics.slice(0, MAX_FINDINGS).map(({ code, message, seq }) =>
        element("li", {}, element("code", { text: code }), " ", element("bdi", { text: message }), seq >= 0 && seq !== null ? element("span", { class: "quiet", text: ` (seq ${number(seq)})` }) : null),
      ),
    ),
    diagnostics.length > MAX_FINDINGS ? element("p", { class: "quiet", text: `${number(diagnostics.length - MAX_FINDINGS)} more are not listed.` }) : null,
    element("button", { type: "button", text: "Close", onclick: () => dialog.close() }),
  );
  // A list that is open stays as it is until it is opened again.
  document.querySelector("dialog.findings:not([open])")?.remove();
  document.body.append(dialog);
  return element(
    "button",
    { type: "button", class: "badge warn findings-badge", "aria-haspopup": "dialog", onclick: () => showDialog(dialog) },
    element("span", { class: "sign", "aria-hidden": "true", text: "⚠" }),
    count(diagnostics.length, "finding"),
  );
}
