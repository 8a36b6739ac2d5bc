// The source of the frame: its current line, breakpoints by click, and colours that the relay names.

import { addressOf, go } from "./place.js";
import { Rows } from "./rows.js";
import { html, useEffect, useReducer, useRef, useState } from "./vendor/htm-preact.js";

const CHUNK = 500;

/** Lines of one file, asked for as they come into sight. */
class Text {
  lines = new Map(); // number to {text, spans}
  total = 0;
  error = null;
  #asked = new Set();

  constructor(ask, draw) {
    this.ask = ask;
    this.draw = draw;
  }

  async want(line) {
    const chunk = Math.floor((line - 1) / CHUNK);
    if (this.#asked.has(chunk)) return;
    this.#asked.add(chunk);
    const start = chunk * CHUNK + 1;
    try {
      const found = await this.ask({ start, end: start + CHUNK - 1, highlight: true });
      this.total = found.total_lines;
      this.path = found.path;
      for (const one of found.lines) this.lines.set(one.line, one);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.error = error.message;
    }
    this.draw();
  }
}

/** The file that was asked for, else that of the frame, else the program's own. */
export function Source({ session, here, frame }) {
  const script = session.view?.program?.script;
  const ofFrame = frame ? frameSource(frame) : script ? { path: script, line: null } : null;
  const shown = here.file ? { path: here.file, line: Number(here.line) || null } : ofFrame;
  const [, draw] = useReducer((count) => count + 1, 0);
  const text = useRef(null);
  const known = shown?.path ?? (frame ? `frame ${frame.id} of stop ${session.stop}` : null);
  const key = known === null ? null : `${known} ${here.file ? "" : session.view?.pid}`;
  if (text.current?.key !== key) {
    const ask = shown?.path
      ? (range) => session.ask("/source", { path: shown.path, ...range })
      : (range) => session.ask(`/frames/${frame.id}/source`, range);
    text.current = key === null ? null : Object.assign(new Text(ask, draw), { key });
  }
  const current = here.file ? null : frame?.line;
  const wanted = shown?.line ?? current ?? 1;
  useEffect(() => void text.current?.want(wanted), [key, wanted]);
  return html`<section class="source" aria-label="Source">
    <h2>Source <span class="path">${shown?.path ?? frame?.name ?? ""}</span>
      ${here.file && html` <a href=${addressOf({ ...here, file: null, line: null })}>back to the program</a>`}</h2>
    <${OpenFile} />
    ${text.current?.error && html`<p class="quiet">${text.current.error}</p>`}
    ${text.current?.total > 0 &&
    html`<${Lines} session=${session} text=${text.current} path=${text.current.path} current=${current}
      wanted=${wanted} />`}
  </section>`;
}

function frameSource(frame) {
  const path = frame?.source?.path;
  // Code that is in no file has a name such as <string>: the frame itself is asked then.
  return path?.startsWith("/") ? { path, line: frame.line } : null;
}

function OpenFile() {
  const submit = (event) => {
    event.preventDefault();
    go({ file: new FormData(event.target).get("file").trim(), line: null });
    event.target.reset();
  };
  return html`<form class="open" onSubmit=${submit}>
    <input name="file" aria-label="File to open" placeholder="open another file" required spellcheck="false" />
    <button>Open</button>
  </form>`;
}

function Lines({ session, text, path, current, wanted }) {
  const [cursor, move] = useState(wanted);
  useEffect(() => move(wanted), [wanted, session.stop]);
  const places = new Map(
    session.breakpoints.filter((one) => one.source?.path === path).map((one) => [one.line, one]),
  );
  const keys = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (by) move(Math.min(text.total, Math.max(1, cursor + by)));
    else if (event.key === "F9") session.toggleBreakpoint(path, cursor);
    else return;
    event.preventDefault();
  };
  const row = (index) => {
    const number = index + 1;
    const line = text.lines.get(number);
    if (!line) text.want(number);
    return html`<${Line} key=${number} number=${number} line=${line} current=${number === current}
      cursor=${number === cursor} breakpoint=${places.get(number)}
      toggle=${() => session.toggleBreakpoint(path, number)} />`;
  };
  return html`<${Rows} count=${text.total} row=${row} at=${cursor - 1} mark=${`${session.stop} ${path}`}
    label="Lines: arrows move, F9 sets a breakpoint" className="lines" onKeyDown=${keys} />`;
}

function Line({ number, line, current, cursor, breakpoint, toggle }) {
  const mark = breakpoint ? (breakpoint.verified && breakpoint.enabled ? "set" : "unverified") : "";
  return html`<div class="line ${current ? "current" : ""} ${cursor ? "cursor" : ""}" data-line=${number}
      aria-current=${current ? "true" : null}>
    <button class="gutter ${mark}" tabindex=${cursor ? 0 : -1} onClick=${toggle} title=${breakpoint?.message}
      aria-pressed=${breakpoint ? "true" : "false"} aria-label="Breakpoint at line ${number}">${number}</button>
    <code>${line ? painted(line) : ""}</code>
  </div>`;
}

function painted({ text, spans }) {
  if (!spans) return text;
  const pieces = [];
  let at = 0;
  for (const [start, end, kind] of spans) {
    if (start > at) pieces.push(text.slice(at, start));
    pieces.push(html`<span class="hl-${kind}">${text.slice(start, end)}</span>`);
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces;
}
