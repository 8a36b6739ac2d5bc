// A value as a table: by rows (a list of dicts, objects or lists, an array of two dimensions), or by
// columns, as a data frame has them.

import { html, useEffect, useState } from "./vendor/htm-preact.js";

const ROWS = 25;
const COLUMNS = 40;

/** The items of a value, or all of its children if it has none: a dict's entries, an object's attributes. */
function ownItems(children) {
  const items = children.filter((one) => one.index !== undefined);
  return items.length ? items : children;
}

/** The columns of a data frame: its first children, by names in quotes or by numbers; then come its attributes. */
function ownColumns(children) {
  const end = children.findIndex((one) => one.name === "index" || one.name === "dtypes");
  return end < 0 ? children : children.slice(0, end);
}

async function rowsOfFrame(session, one, offset) {
  const children = await session.ask(`/variables/${one.variables_reference}`, { limit: COLUMNS });
  const columns = ownColumns(children.items);
  const pages = await Promise.all(
    columns.map((column) =>
      column.variables_reference
        ? session.ask(`/variables/${column.variables_reference}`, { offset, limit: ROWS })
        : { items: [], masked: column.value },
    ),
  );
  const cells = pages.map((page) => page.items.filter((item) => item.index !== undefined));
  const named = cells.find((column) => column.length) ?? [];
  const rows = named.map(({ name }, number) => ({
    key: offset + number, // labels of rows may repeat, and so may names of columns
    name,
    cells: new Map(pages.map((page, at) => [at, page.masked ?? cells[at][number]?.value])),
  }));
  const next = offset + named.length;
  return { rows, columns: columns.map((column, at) => [at, column.name]), next: named.length && next < one.length ? next : null };
}

async function rowsOfItems(session, one, offset) {
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
    key: item.name,
    name: item.name,
    cells: new Map(cells[number].map((cell) => [cell.name, cell.value])),
  }));
  const names = new Set(rows.flatMap((row) => [...row.cells.keys()]));
  return { rows, columns: [...names].map((name) => [name, name]), next: page.has_more ? offset + page.items.length : null };
}

export function Table({ session, one }) {
  const [shown, show] = useState({ rows: [], columns: [], next: 0 });
  const [error, setError] = useState(null);
  const more = async () => {
    try {
      const rowsFrom = one.type === "DataFrame" ? rowsOfFrame : rowsOfItems;
      const found = await rowsFrom(session, one, shown.next);
      show((old) => ({
        rows: [...old.rows, ...found.rows],
        columns: [...new Map([...old.columns, ...found.columns])],
        next: found.next,
      }));
    } catch (refused) {
      if (refused.name !== "AbortError") setError(refused.message);
    }
  };
  useEffect(() => void more(), []);
  return html`<div class="table" tabindex="0" role="group" aria-label="Table of ${one.name}">
    <table>
      <thead><tr><th scope="col">${one.name}</th>${shown.columns.map(([key, name]) => html`<th key=${key} scope="col">${name}</th>`)}</tr></thead>
      <tbody>
        ${shown.rows.map(
          (row) => html`<tr key=${row.key}><th scope="row">${row.name}</th>
            ${shown.columns.map(([key]) => html`<td key=${key}>${row.cells.get(key) ?? ""}</td>`)}</tr>`,
        )}
      </tbody>
    </table>
    ${shown.next > 0 && html`<button onClick=${more}>More rows</button>`}
    ${error && html`<p class="bad">${error}</p>`}
  </div>`;
}
