// The breakpoints of the session: when each stops, what it logs or records, and where it is.

import { go } from "./place.js";
import { html } from "./vendor/htm-preact.js";

const FIELDS = [
  ["condition", "Stop if"],
  ["hit_condition", "Hit count"],
  ["log_message", "Log instead"],
  ["capture", "Record"],
];

export function Breakpoints({ session }) {
  return html`<section class="breakpoints" aria-label="Breakpoints">
    <h2>Breakpoints</h2>
    <ul>${session.breakpoints.map((one) => html`<${Breakpoint} key=${one.id} session=${session} one=${one} />`)}</ul>
    ${!session.breakpoints.length && html`<p class="quiet">A click on a line's number sets one.</p>`}
  </section>`;
}

function Breakpoint({ session, one }) {
  const file = one.source?.path;
  const place = one.function ?? `${file?.split("/").at(-1)}:${one.line}`;
  const change = (name, text) => {
    const value = name === "capture" ? text.split(";").map((part) => part.trim()).filter(Boolean) : text.trim();
    session.changeBreakpoint(one.id, { [name]: value.length ? value : null });
  };
  return html`<li>
    <details>
      <summary><span class=${one.verified ? "" : "quiet"}>${place}</span>
        <span class="quiet">${one.hit_count ? ` hit ${one.hit_count === 1 ? "once" : `${one.hit_count} times`}` : ""}${one.enabled ? "" : " off"}</span></summary>
      ${one.message && html`<p class="quiet">${one.message}</p>`}
      <label class="check"><input type="checkbox" checked=${one.enabled}
        onChange=${(event) => session.changeBreakpoint(one.id, { enabled: event.target.checked })} /> Enabled</label>
      ${FIELDS.map(
        ([name, title]) => html`<label key=${name}>${title}
          <input key=${one[name]} defaultValue=${[one[name] ?? []].flat().join("; ")} spellcheck="false"
            onChange=${(event) => change(name, event.target.value)} /></label>`,
      )}
      ${file && html`<button onClick=${() => go({ file, line: one.line })}>Show</button>`}
      <button onClick=${() => session.removeBreakpoint(one.id)}>Remove</button>
    </details>
  </li>`;
}
