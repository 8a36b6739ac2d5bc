// The call stack of the thread that is shown; a frame has an address.

import { go } from "./place.js";
import { html, useState } from "./vendor/htm-preact.js";

export function Stack({ session, here, frame }) {
  const frames = session.stack?.frames ?? [];
  const [traced, setTraced] = useState(null);
  const trace = async () => {
    setTraced("Runs to the next call…");
    const found = await session.run("trace", { function: frame.name.split(".").at(-1), wait: 60 });
    setTraced(found ? found.text || found.reason : null);
  };
  return html`<section class="stack" aria-label="Stack">
    <h2>Stack</h2>
    <ol>
      ${frames.map((one) => {
        const chosen = one.id === frame?.id;
        return html`<li key=${one.id}>
          <button class="row ${chosen ? "chosen" : ""} ${one.presentation_hint}" aria-pressed=${chosen}
            onClick=${() => go({ frame: one.id, file: null, line: null })}>
            <span class="title">${one.name}</span>
            <span class="quiet">${one.source?.name ?? one.source?.path ?? ""}:${one.line}</span>
          </button>
        </li>`;
      })}
    </ol>
    ${!frames.length && html`<p class="quiet">Not paused.</p>`}
    ${frame && !here.thread && frame.name !== "<module>" &&
    html`<button onClick=${trace} title="Run to the next call of ${frame.name}, and show all that it does">Trace this call</button>`}
    ${traced && html`<pre tabindex="0" aria-label="Trace">${traced}</pre>`}
  </section>`;
}
