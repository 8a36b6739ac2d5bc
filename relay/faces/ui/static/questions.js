// What can be asked about a value, in place: who wrote it, stop when it changes, watch it, set it.

import { go } from "./place.js";
import { Table } from "./table.js";
import { html, useState } from "./vendor/htm-preact.js";

export function Questions({ session, frame, one }) {
  const [answer, setAnswer] = useState(null);
  const expression = one.evaluate_name ?? one.name;
  const ask = async (verb, body, show) => {
    setAnswer("…");
    const found = await session.run(verb, { expression, frame_id: frame.id, ...body });
    setAnswer(found ? show(found) : null);
  };
  const set = (event) => {
    event.preventDefault();
    const value = new FormData(event.target).get("value");
    ask("evaluate", { expression: `${expression} = ${value}` }, (found) => {
      session.valuesChanged();
      return found.error ?? "set";
    });
  };
  return html`<div class="questions">
    <button onClick=${() => ask("history", {}, History)} title="Who wrote this value">Why</button>
    <button onClick=${() => ask("data-breakpoints", {}, (found) => found.message ?? "The program stops when it changes.")}>
      Stop when it changes</button>
    <button onClick=${() => session.run("watch", { expression }).then(() => session.refresh())}>Watch</button>
    ${one.variables_reference > 0 &&
    html`<button onClick=${() => setAnswer(html`<${Table} session=${session} one=${one} />`)}>Table</button>`}
    <form onSubmit=${set}><input name="value" aria-label="New value of ${one.name}" placeholder="new value" required
      spellcheck="false" /><button>Set</button></form>
    <p class="whole">${one.value}${one.truncated ? " …" : ""}</p>
    ${answer && html`<div class="answer" role="status">${answer}</div>`}
  </div>`;
}

function History({ writes, complete, reason, runs }) {
  return html`
    <ol>
      ${writes.map(
        ({ old, new: written, location, function: writer, source }) => html`<li>
          <code>${old ?? "(nothing)"} → ${written ?? "(deleted)"}</code>
          <button class="link" onClick=${() => go({ file: location.path, line: location.line })}>
            ${location.path?.split("/").at(-1)}:${location.line}</button> in ${writer}
          ${source && html`<pre tabindex="0" aria-label="Line">${source.trim()}</pre>`}
        </li>`,
      )}
    </ol>
    <p class="quiet">${complete ? "These are all writes." : `Not all: ${reason ?? "there are more"}.`} Runs: ${runs}.</p>
  `;
}
