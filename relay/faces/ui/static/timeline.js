// Everything that any client asked of the session, and what the program did. Each entry has an address.

import { withoutControl } from "./output_text.js";
import { addressOf, go } from "./place.js";
import { Rows } from "./rows.js";
import { html } from "./vendor/htm-preact.js";

export function Timeline({ session, here }) {
  const entries = session.timeline;
  const at = here.entry ? entries.findIndex((one) => one.id === here.entry) : -1;
  const keys = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !entries.length) return;
    const next = at < 0 ? entries.length - 1 : Math.min(entries.length - 1, Math.max(0, at + by));
    go({ entry: entries[next].id });
    event.preventDefault();
  };
  const row = (index) => html`<${Entry} key=${entries[index].id} entry=${entries[index]} here=${here} chosen=${index === at} />`;
  return html`<section class="timeline" aria-label="Timeline">
    <h2>Timeline <span class="count">${entries.length} entries</span></h2>
    <${Rows} count=${entries.length} row=${row} at=${at} mark=${here.entry} follow=${at < 0}
      label="Entries: arrows move" onKeyDown=${keys} />
    ${at >= 0 && html`<${Detail} entry=${entries[at]} />`}
  </section>`;
}

function Entry({ entry, here, chosen }) {
  return html`<div class="line entry ${entry.kind} ${chosen ? "chosen" : ""}">
    <a href=${addressOf({ ...here, entry: entry.id })} tabindex="-1">
      <time datetime=${entry.timestamp}>${entry.timestamp.slice(11, 23)}</time>
      <span class="author">${authorOf(entry)}</span>
      <span class="what">${entry.what}${entry.times ? ` ×${entry.times}` : ""}</span>
      <span class="quiet">${oneLine(inShort(entry))}</span>
    </a>
  </div>`;
}

/** A row has the height of one line. */
function oneLine(text) {
  return withoutControl(String(text)).trimEnd().replaceAll(/\r?\n|\r/g, " ⏎ ");
}

function authorOf({ author }) {
  return author ? `${author.face} · ${author.client || "?"}` : "program";
}

function inShort({ kind, what, body }) {
  if (kind === "request") return body.arguments;
  if (kind === "refusal") return `${body.code}: ${body.message}`;
  const at = body.location;
  if (what === "stopped") return `${body.reason}${at ? ` at ${at.path?.split("/").at(-1)}:${at.line} in ${at.function}` : ""}${body.text ? `: ${body.text}` : ""}`;
  if (what === "output") return body.output;
  if (what === "terminated") return body.error ?? `exit code ${body.exit_code}`;
  return body.message ?? body.prompt ?? body.reason ?? "";
}

function Detail({ entry }) {
  const at = entry.body.location;
  return html`<div class="detail">
    <p><strong>${entry.what}</strong> by ${authorOf(entry)} at <time>${entry.timestamp}</time>
      ${at?.path && html` <button class="link" onClick=${() => go({ file: at.path, line: at.line })}>show its source</button>`}
      <button class="link" onClick=${() => go({ entry: null })}>close</button></p>
    <pre tabindex="0" aria-label="Entry ${entry.id}">${JSON.stringify(entry.body, null, 2)}</pre>
  </div>`;
}
