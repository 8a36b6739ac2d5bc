// A value of rows as a table: a list of dicts or objects, a list of lists, an array of two dimensions.

import { html, useEffect, useState } from "./vendor/htm-preact.js";

const ROWS = 25;
const COLUMNS = 40;

/** The items of a value, or all of its children if it has none: a dict's entries, an object's attributes. */
function ownItems(children) {
  const items = children.filter((one) => one.index !== undefined);
  return items.length ? items : children;
}

async function rowsFrom(session, one, offset) {
  const page = await session.ask(`/variables/${one.variables_reference}`, { offset, limit: ROWS });
  const items = ownItems(page.items);
  const cells = await Promise.all(
    items.map((item) =>
      item.variables_reference
        ? session.ask(`/variables/${item.variables_reference}`, { limit: COLUMNS }).then((found) => ownItems(found.items))
        : [{ name: "", value: item.value }],
    ),
  );
  const rows = items.map((item, number) => ({
    name: item.name,
    cells: new Map(cells[number].map((cell) => [cell.name, cell.value])),
  }));
  return { rows, next: page.has_more ? offset + page.items.length : null };
}

export function Table({ session, one }) {
  const [shown, show] = useState({ rows: [], next: 0 });
  const [error, setError] = useState(null);
  const more = async () => {
    try {
      const found = await rowsFrom(session, one, shown.next);
      show((old) => ({ rows: [...old.rows, ...found.rows], next: found.next }));
    } catch (refused) {
      if (refused.name !== "AbortError") setError(refused.message);
    }
  };
  useEffect(() => void more(), []);
  const columns = [...new Set(shown.rows.flatMap((row) => [...row.cells.keys()]))];
  return html`<div class="table" tabindex="0" role="group" aria-label="Table of ${one.name}">
    <table>
      <thead><tr><th scope="col">${one.name}</th>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>
        ${shown.rows.map(
          (row) => html`<tr key=${row.name}><th scope="row">${row.name}</th>
            ${columns.map((name) => html`<td>${row.cells.get(name) ?? ""}</td>`)}</tr>`,
        )}
      </tbody>
    </table>
    ${shown.next > 0 && html`<button onClick=${more}>More rows</button>`}
    ${error && html`<p class="bad">${error}</p>`}
  </div>`;
}
