// The page: its parts, the token that it may need, and the relay that may be gone.

import { clientName, get, hasToken, rename, useToken } from "./api.js";
import { Breakpoints } from "./breakpoints.js";
import { Console } from "./console.js";
import { Controls, useKeys } from "./controls.js";
import { Exception } from "./exception.js";
import { LiveSession } from "./live_session.js";
import { Output } from "./output.js";
import { addressOf, moveOn, usePlace } from "./place.js";
import { Sessions } from "./sessions.js";
import { Source } from "./source.js";
import { Stack } from "./stack.js";
import { Store, useStore } from "./store.js";
import { Threads } from "./threads.js";
import { Timeline } from "./timeline.js";
import { Variables } from "./variables.js";
import { html, render, useEffect, useLayoutEffect, useState } from "./vendor/htm-preact.js";
import { Watches } from "./watches.js";

const LOOK = 2000;
const LOOK_FOR_RELAY = 1000;
const PATIENCE = 5000; // with a relay that has a connection and says nothing

/** The sessions of the relay, and whether it answers. */
class Relay extends Store {
  sessions = null;
  gone = false;
  needsToken = false;
  #timer = null;

  async look() {
    clearTimeout(this.#timer);
    try {
      this.sessions = (await get("/sessions", { limit: 1000 }, AbortSignal.timeout(PATIENCE))).items;
      this.gone = this.needsToken = false;
    } catch (error) {
      this.needsToken = error.status === 401;
      this.gone = !this.needsToken;
    }
    this.changed();
    if (!this.needsToken) this.#timer = setTimeout(() => this.look(), this.gone ? LOOK_FOR_RELAY : LOOK);
  }
}

const relay = new Relay();

function Page() {
  useStore(relay);
  const here = usePlace();
  if (relay.needsToken) return html`<${Token} />`;
  return html`
    <header>
      <h1><a href=${addressOf({})}>Debug relay</a></h1>
      <${Name} />
      <p class="relay ${relay.gone ? "bad" : ""}" role="status">
        ${relay.gone ? "The relay is gone. Looking for it…" : relay.sessions ? "" : "Looking for the relay…"}
      </p>
    </header>
    <main class=${here.session ? "with-session" : ""}>
      <${Sessions} relay=${relay} here=${here} />
      ${here.session
        ? html`<${OneSession} key=${here.session} id=${here.session} here=${here} />`
        : relay.sessions && html`<p class="hint">${relay.sessions.length ? "Choose a session." : "Launch a program here, or with relay start in a shell."}</p>`}
    </main>
  `;
}

function Token() {
  const submit = (event) => {
    event.preventDefault();
    useToken(new FormData(event.target).get("token").trim());
    relay.look();
  };
  return html`<main class="token"><form onSubmit=${submit}>
    <h1>Debug relay</h1>
    <label>Token <input name="token" type="password" autocomplete="off" required /></label>
    <button>Use this token</button>
    ${hasToken() && html`<p class="bad" role="alert">The relay refuses the token that it was given.</p>`}
    <p>This relay asks for the token that <code>relay serve</code> has printed or was given. It stays in this tab.</p>
  </form></main>`;
}

function Name() {
  const [name, change] = useState(clientName());
  const keep = (event) => {
    rename(event.target.value.trim());
    change(clientName());
  };
  return html`<label class="name">You are <input key=${name} defaultValue=${name} maxlength="100" onChange=${keep} /></label>`;
}

function OneSession({ id, here }) {
  const [session, open] = useState(null);
  useEffect(() => {
    const opened = new LiveSession(id);
    open(opened);
    return () => {
      opened.close();
      document.title = "Debug relay";
    };
  }, [id]);
  return session && html`<${Workbench} session=${session} here=${here} />`;
}

function Workbench({ session, here }) {
  useStore(session);
  const thread = here.thread ? Number(here.thread) : null;
  useEffect(() => session.showThread(thread), [session, thread]);
  useKeys(session);
  // Where the program is now is of more interest than what was looked at before: before anybody can
  // choose a frame of it.
  useLayoutEffect(() => {
    if (session.moves) moveOn({ frame: null, thread: null, file: null, line: null });
  }, [session.moves]);
  useEffect(() => {
    document.title = session.view ? `${session.view.status}: ${session.view.name}` : "Debug relay";
  });
  const frames = session.stack?.frames ?? [];
  const frame = frames[Number(here.frame ?? 0)] ?? frames[0] ?? null;
  const parts = { session, here, frame };
  if (session.gone) return html`<p class="gone" role="alert">${session.gone}</p>`;
  return html`
    <div class="code">
      <${Controls} session=${session} />
      <${Exception} session=${session} />
      <${Source} ...${parts} />
      <${Output} session=${session} />
      <${Console} ...${parts} />
    </div>
    <div class="state">
      <${Stack} ...${parts} />
      <${Variables} ...${parts} />
      <${Watches} ...${parts} />
      <${Breakpoints} session=${session} />
      <${Threads} session=${session} here=${here} />
    </div>
    <${Timeline} session=${session} here=${here} />
  `;
}

relay.look();
render(html`<${Page} />`, document.body);
