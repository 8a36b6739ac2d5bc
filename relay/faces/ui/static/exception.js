// The exception at which the program stands, and those that led to it.

import { go } from "./place.js";
import { html } from "./vendor/htm-preact.js";

export function Exception({ session }) {
  const raised = session.exception;
  if (!raised) return null;
  return html`<section class="exception" aria-label="Exception">
    <h2><code>${raised.full_type}</code></h2>
    <p class="message">${raised.message}</p>
    ${raised.test && html`<p>fails ${raised.test}</p>`}
    ${raised.explanation && html`<pre tabindex="0" aria-label="Explanation">${raised.explanation}</pre>`}
    ${raised.chain.map((one, number) => html`<${Cause} key=${number} one=${one} />`)}
    <details><summary>Traceback</summary><pre tabindex="0" aria-label="Traceback">${raised.traceback}</pre></details>
  </section>`;
}

const RELATIONS = { cause: "raised from", context: "while handling", earlier: "after" };

function Cause({ one }) {
  const at = one.location;
  return html`<div class="cause">
    <p>${RELATIONS[one.relation]} <code>${one.full_type}</code>: ${one.message}
      ${at && html` at <button class="link" onClick=${() => go({ file: at.path, line: at.line })}>
        ${at.path?.split("/").at(-1)}:${at.line}</button> in ${at.function}`}</p>
    ${one.locals.length > 0 &&
    html`<ul>${one.locals.map((local) => html`<li class="variable"><span class="name">${local.name}</span>
      <span class="value">${local.value}</span></li>`)}</ul>`}
  </div>`;
}
