// Expressions in the frame that is shown, with their answers.

import { html, useRef, useState } from "./vendor/htm-preact.js";

const KEPT = 200;

export function Console({ session, frame }) {
  const [said, say] = useState([]);
  const past = useRef({ lines: [], at: 0 });
  const evaluate = async (event) => {
    event.preventDefault();
    const form = event.target;
    const expression = new FormData(form).get("expression").trim();
    if (!expression) return;
    past.current.lines.push(expression);
    past.current.at = past.current.lines.length;
    form.reset();
    const found = await session.run("evaluate", { expression, frame_id: frame?.id ?? 0 });
    const answer = found ?? { error: session.error?.message };
    say((old) => [...old, { expression, ...answer }].slice(-KEPT));
  };
  const recall = (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    const { lines } = past.current;
    past.current.at = Math.min(lines.length, Math.max(0, past.current.at + by));
    event.target.value = lines[past.current.at] ?? "";
    event.preventDefault();
  };
  return html`<div class="console">
    <ol class="answers" aria-live="polite">
      ${said.map(
        (one, number) => html`<li key=${number}><code class="asked">${one.expression}</code>
          ${one.output && html`<pre tabindex="0" aria-label="Printed">${one.output}</pre>`}
          <code class=${one.error ? "bad" : "value"}>${one.error ?? one.result}</code></li>`,
      )}
    </ol>
    <form onSubmit=${evaluate}>
      <label>Console <input name="expression" spellcheck="false" autocomplete="off" onKeyDown=${recall}
        placeholder="an expression in ${frame?.name ?? "the frame"}" /></label>
    </form>
  </div>`;
}
