// What the program printed.

import { Rows } from "./rows.js";
import { html } from "./vendor/htm-preact.js";

const LONGEST = 2000;

export function Output({ session }) {
  const { lines, dropped } = session.output;
  const row = (index) => {
    const { text, category } = lines[index];
    const more = text.length - LONGEST;
    return html`<div key=${index} class="line ${category}">${more > 0 ? `${text.slice(0, LONGEST)} … ${more} more characters` : text}</div>`;
  };
  const answer = (event) => {
    event.preventDefault();
    session.run("input", { input: `${new FormData(event.target).get("line")}\n` });
    event.target.reset();
  };
  const prompt = session.view?.waiting_for_input;
  return html`<section class="output" aria-label="Output">
    <h2>Output <span class="count">${lines.length === 1 ? "1 line" : `${lines.length} lines`}${dropped ? `, ${dropped} entries lost` : ""}</span></h2>
    <${Rows} count=${lines.length} row=${row} follow label="What the program printed" />
    ${prompt !== null && prompt !== undefined &&
    html`<form onSubmit=${answer}><input name="line" aria-label="Input of the program" placeholder=${prompt || "input"} /><button>Send</button></form>`}
  </section>`;
}
