// Variables as a tree, a page at a time; a click on a value asks for more about it.

import { Questions } from "./questions.js";
import { html, useEffect, useState } from "./vendor/htm-preact.js";

const PAGE = 100;

export function Variables({ session, here, frame }) {
  const thread = here.thread ? Number(here.thread) : undefined;
  const locals = (offset) =>
    session
      .ask(`/frames/${frame.id}/variables`, { thread_id: thread, offset, limit: PAGE })
      .then((page) => ({ ...page, items: page.variables }));
  const globals = async (offset) => {
    const { scopes } = await session.ask("/scopes", { frame_id: frame.id });
    const scope = scopes.find((one) => one.presentation_hint === "globals");
    return scope ? childrenOf(session, scope.variables_reference)(offset) : { items: [], has_more: false };
  };
  const keyed = frame && `${session.stop} ${frame.id} ${thread}`;
  return html`<section class="variables" aria-label="Variables">
    <h2>Variables</h2>
    ${frame
      ? html`<ul role="tree" tabindex="0" aria-label="Variables of ${frame.name}" onKeyDown=${moveInTree}>
          <${Children} key=${keyed} session=${session} frame=${frame} page=${locals} level=${1} />
          ${!thread && html`<${Scope} key=${`g ${keyed}`} session=${session} frame=${frame} name="Globals" page=${globals} />`}
        </ul>`
      : html`<p class="quiet">Not paused.</p>`}
  </section>`;
}

const childrenOf = (session, reference) => (offset) =>
  session.ask(`/variables/${reference}`, { offset, limit: PAGE });

/** The children of something, as far as they were asked for. */
function Children({ session, frame, page, level }) {
  const [items, show] = useState([]);
  const [more, expect] = useState(false);
  const [error, setError] = useState(null);
  const load = async (offset) => {
    try {
      const found = await page(offset);
      show((old) => (offset ? [...old, ...found.items] : found.items));
      expect(found.has_more && { shown: offset + found.items.length, total: found.total });
    } catch (refused) {
      if (refused.name !== "AbortError") setError(refused.message);
    }
  };
  useEffect(() => void load(0), []);
  return html`
    ${items.map((one, number) => html`<${Variable} key=${number} session=${session} frame=${frame} one=${one} level=${level} />`)}
    ${more && html`<li role="treeitem" tabindex="-1" aria-level=${level} class="more" onClick=${() => load(more.shown)}
      onKeyDown=${(event) => event.key === "Enter" && load(more.shown)}>More: ${more.shown} of ${more.total} are shown</li>`}
    ${error && html`<li role="treeitem" aria-level=${level} class="bad">${error}</li>`}
  `;
}

function Variable({ session, frame, one, level }) {
  const [open, toggle] = useState(false);
  const [asking, ask] = useState(false);
  const expandable = Boolean(one.variables_reference);
  const keys = (event) => {
    if (event.target !== event.currentTarget) return;
    const opens = (event.key === "ArrowRight" && !open) || (event.key === "ArrowLeft" && open);
    if (opens && expandable) toggle(!open);
    else if (event.key === "Enter") ask(!asking);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<li role="treeitem" aria-level=${level} aria-expanded=${expandable ? String(open) : null}
      tabindex="-1" onKeyDown=${keys}>
    <div class="variable">
      <span class="twist" onClick=${() => expandable && toggle(!open)}>${expandable ? (open ? "▾" : "▸") : ""}</span>
      <span class="name" onClick=${() => expandable && toggle(!open)}>${one.name}</span>
      <span class="value" title=${one.type} onClick=${() => ask(!asking)}>${one.value}</span>
      <span class="type">${one.type}${one.length === undefined ? "" : ` [${one.length}]`}</span>
    </div>
    ${asking && html`<${Questions} session=${session} frame=${frame} one=${one} />`}
    ${open && html`<ul role="group"><${Children} session=${session} frame=${frame} level=${level + 1}
      page=${childrenOf(session, one.variables_reference)} /></ul>`}
  </li>`;
}

function Scope({ session, frame, name, page }) {
  const [open, toggle] = useState(false);
  const keys = (event) => {
    if (event.target !== event.currentTarget || !["ArrowRight", "ArrowLeft", "Enter"].includes(event.key)) return;
    toggle(!open);
    event.stopPropagation();
  };
  return html`<li role="treeitem" aria-level="1" aria-expanded=${String(open)} tabindex="-1" onKeyDown=${keys}>
    <div class="variable" onClick=${() => toggle(!open)}><span class="twist">${open ? "▾" : "▸"}</span>
      <span class="name">${name}</span></div>
    ${open && html`<ul role="group"><${Children} session=${session} frame=${frame} level=${2} page=${page} /></ul>`}
  </li>`;
}

/** Up and down go from item to item; a tree is one stop of the Tab key. */
function moveInTree(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  const items = [...event.currentTarget.querySelectorAll('[role="treeitem"]')];
  const at = items.indexOf(document.activeElement.closest('[role="treeitem"]'));
  const next = items[at + by];
  if (next) next.focus();
  event.preventDefault();
}
