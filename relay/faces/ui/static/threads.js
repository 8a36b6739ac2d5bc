// Threads, the tasks of their event loops, and who waits for whom.

import { go } from "./place.js";
import { html, useEffect, useState } from "./vendor/htm-preact.js";

export function Threads({ session, here }) {
  const [report, setReport] = useState(null);
  useEffect(() => setReport(null), [session.stop]);
  const hang = async () => {
    const found = await session.run("hang-report", {});
    setReport(found?.report ?? null);
  };
  return html`<section class="threads" aria-label="Threads">
    <h2>Threads</h2>
    <ul>
      ${session.threads.map((one) => {
        const chosen = here.thread ? String(one.id) === here.thread : one.is_current;
        return html`<li key=${one.id}>
          <button class="row ${chosen ? "chosen" : ""}" aria-pressed=${chosen} disabled=${one.status !== "paused"}
            onClick=${() => go({ thread: one.is_current ? null : one.id, frame: null, file: null, line: null })}>
            <span class="title">${one.name}</span>
            <span class="quiet">${one.status}${one.process ? ` · ${one.process.name}` : ""}</span>
          </button>
        </li>`;
      })}
    </ul>
    ${session.live && html`<${Tasks} key=${session.stop} session=${session} />
      <button onClick=${hang}>Hang report</button>`}
    ${report && html`<pre tabindex="0" aria-label="Hang report">${report}</pre>`}
  </section>`;
}

function Tasks({ session }) {
  const [tasks, show] = useState(null);
  const look = (event) => {
    if (!event.target.open || tasks) return;
    session.ask("/tasks", { limit: 200, frames: 5 }).then(
      (found) => show(found),
      (error) => show({ tasks: [], refused: error.message }),
    );
  };
  return html`<details onToggle=${look}>
    <summary>Tasks</summary>
    ${tasks?.refused && html`<p class="quiet">${tasks.refused}</p>`}
    ${tasks && !tasks.tasks.length && !tasks.refused && html`<p class="quiet">None.</p>`}
    <ul>
      ${(tasks?.tasks ?? []).map(
        (one) => html`<li key=${one.id}><span class="title">${one.name}</span>
          <span class="quiet"> ${one.state}, ${one.coroutine}${one.suspended_at ? ` at ${one.suspended_at.path.split("/").at(-1)}:${one.suspended_at.line}` : ""}</span></li>`,
      )}
    </ul>
  </details>`;
}
