// Watched expressions, with their values at this stop.

import { remove } from "./api.js";
import { html } from "./vendor/htm-preact.js";

export function Watches({ session }) {
  const add = async (event) => {
    event.preventDefault();
    const form = event.target;
    const added = await session.run("watch", { expression: new FormData(form).get("expression") });
    if (added) form.reset();
    await session.refresh();
  };
  const drop = (id) => session.attempt(() => remove(`${session.path}/watch/${id}`)).then(() => session.refresh());
  return html`<section class="watches" aria-label="Watches">
    <h2>Watches</h2>
    <ul>
      ${session.watches.map(
        (one) => html`<li key=${one.id} class="variable">
          <span class="name">${one.expression}</span>
          <span class=${one.error ? "bad" : "value"}>${one.error ?? one.result ?? ""}</span>
          <button class="link" aria-label="Forget ${one.expression}" onClick=${() => drop(one.id)}>×</button>
        </li>`,
      )}
    </ul>
    <form onSubmit=${add}><input name="expression" aria-label="Expression to watch" placeholder="expression" required
      spellcheck="false" /><button>Add</button></form>
  </section>`;
}
