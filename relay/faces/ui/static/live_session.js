// One session as it is now: its timeline is followed, and what an entry may have changed is asked anew.

import { ApiError, follow, get, getWhole, patch, post, remove } from "./api.js";
import { OutputText } from "./output_text.js";
import { Store } from "./store.js";

const RETRY = 1000;
const MOST_ENTRIES = 20000;
const SETTLED = 150; // milliseconds from a request's entry on, in which it is carried out, mostly
const LATER = [1000, 4000, 15000]; // and when to look again, for one that takes longer: nothing says its end
const NEWS = new Set(["stopped", "continued", "terminated", "thread", "input_requested", "breakpoint"]);
const ATTEMPTS = 5; // at seeing one stop whole, where the program moves on meanwhile

export class LiveSession extends Store {
  view = null;
  stack = null; // of the thread that is shown
  threads = [];
  exception = null;
  watches = [];
  breakpoints = [];
  dataBreakpoints = [];
  exceptionBreakpoints = null; // of a debugger that has none
  timeline = [];
  output = new OutputText();
  error = null; // of the last thing that was asked for by hand
  gone = null; // why there is nothing to follow any more
  stop = 0; // rises whenever values may be others
  moves = 0; // rises whenever the program has moved since it is looked at
  #asOf = ""; // when the relay made what is shown, by its own clock
  #news = ""; // when something happened last that changes what is shown
  #byHand = false; // a value was set since
  #thread = null;
  #cursor = null;
  #outputCursor = null;
  #ending = new AbortController();
  #asking = null;
  #again = false;
  #later = []; // timers

  constructor(id) {
    super();
    this.id = id;
    this.path = `/sessions/${encodeURIComponent(id)}`;
    this.#follow();
    this.refresh();
    this.#readOutput();
  }

  close() {
    this.#ending.abort();
    this.#later.forEach(clearTimeout);
  }

  get paused() {
    return this.view?.status === "paused";
  }

  get live() {
    return this.paused || this.view?.status === "running";
  }

  ask(path, query) {
    return get(this.path + path, query, this.#ending.signal);
  }

  /** Do something by hand: what is refused is shown. Gives null then. */
  async run(verb, body) {
    return this.attempt(() => post(`${this.path}/${verb}`, body));
  }

  async attempt(action) {
    this.error = null;
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.error = error;
      return null;
    } finally {
      this.changed();
    }
  }

  showThread(id) {
    if (this.#thread === id) return;
    this.#thread = id;
    this.refresh();
  }

  // Breakpoints ---------------------------------------------------------------------------

  async toggleBreakpoint(path, line) {
    const there = this.breakpoints.find((one) => one.source?.path === path && one.line === line);
    await (there ? this.removeBreakpoint(there.id) : this.run("breakpoints", { file: path, line }));
    await this.refresh();
  }

  changeBreakpoint(id, changes) {
    return this.attempt(() => patch(`${this.path}/breakpoints/${id}`, changes)).then(() => this.refresh());
  }

  removeBreakpoint(id, kind = "breakpoints") {
    return this.attempt(() => remove(`${this.path}/${kind}/${id}`)).then(() => this.refresh());
  }

  async stopAtExceptions(filters) {
    const { types, condition } = this.exceptionBreakpoints;
    await this.run("exception-breakpoints", { filters, types, ...(condition ? { condition } : {}) });
    await this.refresh();
  }

  async release() {
    await this.attempt(() => remove(`${this.path}/hold`));
    await this.refresh();
  }

  // What it is now ------------------------------------------------------------------------

  /** Ask for everything anew; while that is under way, once more after it. */
  async refresh() {
    this.#again = true;
    this.#asking ??= this.#askAll();
    await this.#asking;
  }

  async #askAll() {
    try {
      while (this.#again) {
        this.#again = false;
        try {
          await this.#askOnce();
        } catch (error) {
          if (error.name === "AbortError") return;
          if (error.status === 404 || error.status === 410) this.gone = error.message;
          else if (!(error instanceof ApiError)) throw error;
        }
        this.changed();
      }
    } finally {
      this.#asking = null; // at once: whoever wants more from here on would not be heard
    }
  }

  /** Look once a request is carried out, and again later in case that it is not. */
  #lookLater() {
    const look = () => this.gone || this.refresh();
    setTimeout(look, SETTLED);
    this.#later.forEach(clearTimeout); // of an earlier request
    this.#later = LATER.map((wait) => setTimeout(look, wait));
  }

  async #askOnce() {
    let before;
    let parts;
    let after = await this.#askForView();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      before = after;
      parts = await this.#askForParts(before.data);
      after = await this.#askForView();
      if (isAt(before.data, after.data)) break;
    }
    const moved = !this.view || !isAt(this.view, after.data);
    if (moved && this.view) this.moves++;
    if (moved || this.#byHand) this.stop++;
    this.#byHand = false;
    Object.assign(this, parts, { view: after.data });
    if (this.error?.status === 0) this.error = null; // the relay answers again
    this.#asOf = before.meta.timestamp;
    this.#again ||= this.#news >= this.#asOf;
  }

  #askForView() {
    return getWhole(this.path, {}, this.#ending.signal);
  }

  async #askForParts(view) {
    const paused = view.status === "paused";
    const live = paused || view.status === "running";
    const there = (path, query) => this.ask(path, query).catch(passedOver);
    const [breakpoints, data, exceptions, stack, threads, exception, watches] = await Promise.all([
      this.ask("/breakpoints"),
      there("/data-breakpoints"),
      there("/exception-breakpoints"),
      paused ? there("/stacktrace", { levels: 200, thread_id: this.#thread }) : null,
      live ? there("/threads") : null,
      paused && view.stop_reason === "exception" ? there("/exception") : null,
      there("/watch"),
    ]);
    return {
      breakpoints: breakpoints.breakpoints,
      dataBreakpoints: data?.data_breakpoints ?? [],
      exceptionBreakpoints: exceptions,
      stack,
      threads: threads?.threads ?? [],
      exception: exception?.exception ?? null,
      watches: watches?.watches ?? [],
    };
  }

  /** A value was changed by hand: what is shown of others may be old. */
  valuesChanged() {
    this.#byHand = true;
    return this.refresh();
  }

  // What happens --------------------------------------------------------------------------

  async #follow() {
    while (!this.#ending.signal.aborted && !this.gone) {
      try {
        const path = `${this.path}/timeline/stream`;
        for await (const batch of follow(path, this.#cursor, this.#ending.signal)) this.#take(batch);
      } catch (error) {
        if (error.name === "AbortError") return;
        if (error.status === 404 || error.status === 410) this.gone = error.message;
        this.changed();
      }
      await new Promise((resume) => setTimeout(resume, RETRY));
      this.#forget();
      this.refresh();
    }
  }

  /** Begin anew: the relay may be another one by now, with the same session. */
  #forget() {
    this.#cursor = this.#outputCursor = null;
    this.timeline = [];
    this.output = new OutputText();
    this.#readOutput();
  }

  #take(batch) {
    let asked = false;
    let printed = false;
    for (const { kind, cursor, data } of batch) {
      this.#cursor = cursor ?? this.#cursor;
      if (kind === "end" || kind === "dropped") continue;
      printed ||= data.what === "output";
      if (kind === "event" && NEWS.has(data.what)) this.#news = data.timestamp;
      asked ||= kind === "request" && data.timestamp >= this.#asOf && concerns(data.what);
      this.#note(data);
    }
    if (this.timeline.length > MOST_ENTRIES) this.timeline.splice(0, this.timeline.length - MOST_ENTRIES);
    if (printed) this.#readOutput();
    if (this.#asOf && this.#news >= this.#asOf) this.refresh();
    if (asked) this.#lookLater();
    this.changed();
  }

  #note(entry) {
    const last = this.timeline.at(-1);
    if (entry.what === "output" && last?.what === "output") last.times = (last.times ?? 1) + 1;
    else this.timeline.push(entry);
  }

  #reading = false;
  #unread = false;

  async #readOutput() {
    this.#unread = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#unread) {
        this.#unread = false;
        const page = await this.ask("/output", { cursor: this.#outputCursor, limit: 1000 });
        this.#outputCursor = page.next_cursor;
        this.#unread ||= page.has_more;
        this.output.take(page);
        this.changed();
      }
    } catch (error) {
      if (error.name !== "AbortError" && !(error instanceof ApiError)) throw error;
    } finally {
      this.#reading = false;
    }
  }
}

/** Whether the program has not moved between two views of it. */
function isAt(earlier, later) {
  return earlier.stop_id === later.stop_id && earlier.status === later.status;
}

/** What cannot be asked in this state, or of this debugger, is not shown. */
function passedOver(error) {
  if (error instanceof ApiError && error.status !== 0) return null;
  throw error;
}

/** Whether a request of anybody may have changed what is shown. */
function concerns(verb) {
  return !verb.startsWith("GET ") && !/ (evaluate|hover|completions|history)$/.test(verb);
}
