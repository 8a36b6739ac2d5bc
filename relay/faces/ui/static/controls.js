// What runs the program, by the names that editors have for it, and who may.

import { clientName } from "./api.js";
import { html, useEffect } from "./vendor/htm-preact.js";

const VERBS = [
  { name: "Continue", verb: "continue", key: "F8", when: "paused" },
  { name: "Pause", verb: "pause", key: "F6", when: "running" },
  { name: "Step over", verb: "step-over", key: "F10", when: "paused" },
  { name: "Step into", verb: "step-into", key: "F11", when: "paused" },
  { name: "Step out", verb: "step-out", key: "Shift+F11", when: "paused" },
  { name: "Restart", verb: "restart", when: "any" },
  { name: "Terminate", verb: "terminate", when: "live" },
];

function can(session, when) {
  const status = session.view?.status;
  return { any: Boolean(status), live: session.live, paused: session.paused, running: status === "running" }[when];
}

function carryOut(session, { verb }) {
  // A step answers at once: its stop comes by the timeline.
  session.run(verb, verb.startsWith("step") ? { wait: 0 } : {});
}

/** The keys of the controls, wherever the reader is. */
export function useKeys(session) {
  useEffect(() => {
    const listener = (event) => {
      const pressed = (event.shiftKey ? "Shift+" : "") + event.key;
      const found = VERBS.find((one) => one.key === pressed);
      if (!found || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (can(session, found.when)) carryOut(session, found);
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, [session]);
}

export function Controls({ session }) {
  const { view } = session;
  const hold = view?.hold;
  const mine = hold?.by === clientName();
  return html`<div class="controls">
    <div role="toolbar" aria-label="Controls">
      ${VERBS.map(
        (one) => html`<button key=${one.name} disabled=${!can(session, one.when)} aria-keyshortcuts=${one.key}
          title=${one.key ? `${one.name} (${one.key})` : one.name} onClick=${() => carryOut(session, one)}>${one.name}</button>`,
      )}
      <button disabled=${Boolean(hold) || !view} title="Only you run the program"
        onClick=${() => session.run("hold", { by: clientName() }).then(() => session.refresh())}>Hold</button>
      <button disabled=${!hold} onClick=${() => session.release()}>Release</button>
    </div>
    <p role="status" class="where">
      <span class="status ${view?.status}">${view?.status ?? "…"}</span>
      ${" "}${whereOf(view)}${hold && html` <strong class="held">held by ${mine ? "you" : hold.by}</strong>`}
    </p>
    ${session.error && html`<p class="bad" role="alert">${session.error.message}</p>`}
  </div>`;
}

function whereOf(view) {
  if (!view) return "";
  const { current_location: at, stop_reason: reason, exit_code: code, waiting_for_input: prompt } = view;
  if (at) return `${reason} at ${at.path?.split("/").at(-1)}:${at.line} in ${at.function}`;
  if (prompt !== null && prompt !== undefined) return `waits for input: ${prompt}`;
  return code === null || code === undefined ? (view.reason ?? "") : `exit code ${code}`;
}
