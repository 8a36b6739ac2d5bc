// The sessions of the relay, and a new one.

import { post, remove } from "./api.js";
import { addressOf, go } from "./place.js";
import { html, useState } from "./vendor/htm-preact.js";

export function Sessions({ relay, here }) {
  const sessions = relay.sessions ?? [];
  return html`<section class="sessions" aria-label="Sessions">
    <h2>Sessions <span class="count">${sessions.length}</span></h2>
    <ul tabindex="0" aria-label="List of sessions">
      ${sessions.map((one) => html`<${Item} key=${one.session_id} one=${one} chosen=${one.session_id === here.session} />`)}
    </ul>
    ${relay.sessions && !sessions.length && html`<p class="quiet">No session is live.</p>`}
    <${NewSession} relay=${relay} />
  </section>`;
}

function Item({ one, chosen }) {
  return html`<li class=${chosen ? "chosen" : ""}>
    <a href=${addressOf({ session: one.session_id })} title=${one.session_id}>
      <span class="title">${one.name}</span>${" "}
      <span class="status ${one.status}">${one.status}</span>${" "}
      ${one.hold && html`<span class="held">held by ${one.hold.by}</span>`}
      <span class="quiet">${one.program ?? one.session_id}</span>
    </a>
  </li>`;
}

function NewSession({ relay }) {
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    const args = given.get("arguments").match(/\S+/g) ?? [];
    try {
      const launch = { script: given.get("script"), args, stop_on_entry: true, stop_on_exception: "uncaught" };
      const made = await post("/sessions", { launch });
      setError(null);
      go({ session: made.session_id, frame: null, entry: null, thread: null });
    } catch (refused) {
      setError(refused.message);
      // What did not start is of no use here.
      if (refused.details?.session_id) await remove(`/sessions/${refused.details.session_id}`).catch(() => null);
    }
    relay.look();
  };
  return html`<details>
    <summary>New session</summary>
    <form onSubmit=${submit}>
      <label>Script <input name="script" required spellcheck="false" /></label>
      <label>Arguments <input name="arguments" spellcheck="false" /></label>
      <button>Launch</button>
      ${error && html`<p class="bad" role="alert">${error}</p>`}
    </form>
  </details>`;
}
