// What a program printed, as lines. Knows no session.

const MOST_LINES = 200000;
const CONTROL = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

export class OutputText {
  lines = []; // {text, category, open}: an open one has no newline yet
  dropped = 0;

  /** Add a page of the API. */
  take({ entries, dropped }) {
    this.dropped += dropped;
    for (const { category, output } of entries) this.#add(category, output.replace(CONTROL, ""));
    const extra = this.lines.length - MOST_LINES;
    if (extra > 0) {
      this.lines.splice(0, extra);
      this.dropped += extra;
    }
  }

  #add(category, text) {
    const pieces = text.split("\n");
    const last = this.lines.at(-1);
    if (last?.open && last.category === category) {
      last.text += pieces.shift();
      last.open = pieces.length === 0;
    }
    pieces.forEach((piece, number) => {
      const open = number === pieces.length - 1;
      if (!open || piece) this.lines.push({ text: piece, category, open });
    });
  }
}
