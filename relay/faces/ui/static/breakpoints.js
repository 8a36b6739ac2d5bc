// The breakpoints of the session: when each stops, what it logs or has recorded, and where it is;
// those on functions, on values, and on exceptions.

import { go } from "./place.js";
import { html, useRef, useState } from "./vendor/htm-preact.js";

const FIELDS = [
  ["condition", "Stop if"],
  ["hit_condition", "Hit count"],
  ["log_message", "Log instead"],
  ["capture", "Record"],
];

const FILTERS = [
  ["raised", "Raised exceptions"],
  ["uncaught", "Uncaught exceptions"],
];

export function Breakpoints({ session }) {
  const add = async (event) => {
    event.preventDefault();
    const form = event.target;
    const added = await session.run("breakpoints", { function: new FormData(form).get("function").trim() });
    if (added) form.reset();
    await session.refresh();
  };
  return html`<section class="breakpoints" aria-label="Breakpoints">
    <h2>Breakpoints</h2>
    <ul>
      ${session.breakpoints.map((one) => html`<${Breakpoint} key=${one.id} session=${session} one=${one} />`)}
      ${session.dataBreakpoints.map((one) => html`<${DataBreakpoint} key=${one.id} session=${session} one=${one} />`)}
    </ul>
    ${!session.breakpoints.length && html`<p class="quiet">A click on a line's number sets one.</p>`}
    <form onSubmit=${add}><input name="function" aria-label="Function to stop in" placeholder="function" required
      spellcheck="false" /><button>Add</button></form>
    ${session.exceptionBreakpoints && html`<${Exceptions} session=${session} />`}
  </section>`;
}

function Exceptions({ session }) {
  const { types, condition } = session.exceptionBreakpoints;
  const [filters, choose] = useChosen(session.exceptionBreakpoints.filters, (all) => session.stopAtExceptions(all));
  const change = (name, on) => choose(on ? [...filters, name] : filters.filter((one) => one !== name));
  return html`<div class="exceptions" role="group" aria-label="Exceptions to stop at">
    ${FILTERS.map(
      ([name, title]) => html`<label key=${name} class="check"><input type="checkbox" checked=${filters.includes(name)}
        onChange=${(event) => change(name, event.target.checked)} /> ${title}</label>`,
    )}
    ${types.length > 0 && html`<p class="quiet">only ${types.join(", ")}</p>`}
    ${condition && html`<p class="quiet">only if ${condition}</p>`}
  </div>`;
}

/** What the relay has, and how to choose another: that is shown until the relay has answered, whatever is drawn
    meanwhile, unless somebody else has chosen a third. One choice is sent after the other. */
function useChosen(value, change) {
  const [chosen, show] = useState(null);
  const sent = useRef(Promise.resolve());
  const now = JSON.stringify(value);
  const isShown = chosen?.expected.includes(now);
  const choose = async (next) => {
    const latest = { value: next, expected: [...(isShown ? chosen.expected : [now]), JSON.stringify(next)] };
    show(latest);
    const send = () => change(next);
    sent.current = sent.current.then(send, send);
    await sent.current;
    show((shown) => (shown === latest ? null : shown));
  };
  return [isShown ? chosen.value : value, choose];
}

function DataBreakpoint({ session, one }) {
  return html`<li class="variable">
    <span class=${one.verified ? "" : "quiet"}>changes of <code>${one.expression}</code></span>
    <button class="link" aria-label="Let ${one.expression} change" onClick=${() => session.removeBreakpoint(one.id, "data-breakpoints")}>×</button>
    ${one.message && html`<p class="quiet">${one.message}</p>`}
  </li>`;
}

function Breakpoint({ session, one }) {
  const file = one.source?.path;
  const place = one.function ?? `${file?.split("/").at(-1)}:${one.line}`;
  const [enabled, enable] = useChosen(one.enabled, (on) => session.changeBreakpoint(one.id, { enabled: on }));
  const change = (name, text) => {
    const value = name === "capture" ? text.split(";").map((part) => part.trim()).filter(Boolean) : text.trim();
    session.changeBreakpoint(one.id, { [name]: value.length ? value : null });
  };
  return html`<li>
    <details>
      <summary><span class=${one.verified ? "" : "quiet"}>${place}</span>
        <span class="quiet">${one.hit_count ? ` hit ${one.hit_count === 1 ? "once" : `${one.hit_count} times`}` : ""}${one.enabled ? "" : " off"}</span></summary>
      ${one.message && html`<p class="quiet">${one.message}</p>`}
      <label class="check"><input type="checkbox" checked=${enabled}
        onChange=${(event) => enable(event.target.checked)} /> Enabled</label>
      ${FIELDS.map(
        ([name, title]) => html`<label key=${name}>${title}
          <input key=${one[name]} defaultValue=${[one[name] ?? []].flat().join("; ")} spellcheck="false"
            onChange=${(event) => change(name, event.target.value)} /></label>`,
      )}
      ${one.capture && html`<${Recorded} session=${session} one=${one} />`}
      ${file && html`<button onClick=${() => go({ file, line: one.line })}>Show</button>`}
      <button onClick=${() => session.removeBreakpoint(one.id)}>Remove</button>
    </details>
  </li>`;
}

/** What a breakpoint has recorded: the first rows, the last, and what is remarkable between. */
function Recorded({ session, one }) {
  const [found, show] = useState(null);
  const look = () =>
    session.ask(`/breakpoints/${one.id}/captures`).then(show, (refused) => show({ refused: refused.message }));
  const left = found?.rows ? found.total - found.rows.length : 0;
  return html`<button onClick=${look}>Show what it has recorded</button>
    ${found?.refused && html`<p class="bad">${found.refused}</p>`}
    ${found?.rows &&
    html`<div class="table" tabindex="0" role="group" aria-label="Recorded by ${one.id}">
      <table>
        <thead><tr><th scope="col">hit</th>${found.columns.map((column) => html`<th scope="col">${column.expression}</th>`)}</tr></thead>
        <tbody>${found.rows.map(
          (row) => html`<tr key=${row.row}><th scope="row">${row.row}</th>
            ${row.values.map((value) => html`<td>${value.error ?? value.value ?? value.number}</td>`)}</tr>`,
        )}</tbody>
      </table>
      ${left > 0 && html`<p class="quiet">${left} more hits are not shown.</p>`}
    </div>`}`;
}
