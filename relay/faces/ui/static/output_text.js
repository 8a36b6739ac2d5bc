// What a program printed, as lines. Knows no session.

const MOST_LINES = 200000;
const CONTROL = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** The text without what would colour it or move a cursor. */
export function withoutControl(text) {
  return text.replace(CONTROL, "");
}

/** What a terminal shows of a line in which each carriage return began it anew. */
function asLeft(line) {
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  return end ? line.slice(line.lastIndexOf("\r", end - 1) + 1) : "";
}

export class OutputText {
  lines = []; // {text, category, open}: an open one has no newline yet
  dropped = 0;

  /** Add a page of the API. */
  take({ entries, dropped }) {
    this.dropped += dropped;
    for (const { category, output } of entries) this.#add(category, withoutControl(output));
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
      last.text = asLeft(last.text + pieces.shift());
      last.open = pieces.length === 0;
    }
    pieces.forEach((piece, number) => {
      const open = number === pieces.length - 1;
      if (!open || piece) this.lines.push({ text: asLeft(piece), category, open });
    });
  }
}
