// The public API: requests that carry token and name, and streams. Knows no route and no page.

const API = new URL("../api/v1", location.href.split("#")[0]).pathname;

const TOKEN = "relay.token";
const NAME = "relay.name";

/** What the relay refused, or why it did not answer: then `code` is RELAY_UNREACHABLE. */
export class ApiError extends Error {
  constructor(status, { code, message, details }) {
    super(message);
    Object.assign(this, { status, code, details: details ?? {} });
  }
}

/** Under this name the page asks, and can hold a session. */
export function clientName() {
  let name = localStorage.getItem(NAME) ?? sessionStorage.getItem(NAME);
  if (!name) {
    name = `page-${crypto.getRandomValues(new Uint16Array(1))[0].toString(16)}`;
    sessionStorage.setItem(NAME, name);
  }
  return name;
}

export function rename(name) {
  if (name) localStorage.setItem(NAME, name);
  else localStorage.removeItem(NAME);
}

export function useToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/** Whether requests carry a token. */
export function hasToken() {
  return Boolean(sessionStorage.getItem(TOKEN));
}

function headers(more) {
  const token = sessionStorage.getItem(TOKEN);
  return {
    "Relay-Client": `${encodeURIComponent(clientName())}; face=page`,
    ...(token ? { Authorization: `Bearer ${token}` } : {}),
    ...more,
  };
}

async function send(path, options) {
  try {
    return await fetch(API + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { code: "RELAY_UNREACHABLE", message: "The relay does not answer" });
  }
}

async function refusal(response) {
  const answer = await response.json().catch(() => null);
  const unknown = { code: "INTERNAL_ERROR", message: `The relay answered ${response.status}` };
  return new ApiError(response.status, answer?.error ?? unknown);
}

async function ask(method, path, body, signal) {
  const sent = body === undefined ? {} : { "Content-Type": "application/json" };
  const response = await send(path, {
    method,
    signal,
    headers: headers(sent),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw await refusal(response);
  return response.json();
}

const dataOf = (asked) => asked.then((answer) => answer.data);

/** The whole answer: its `meta` says when it was made. */
export const getWhole = (path, query = {}, signal) => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return ask("GET", given.length ? `${path}?${new URLSearchParams(given)}` : path, undefined, signal);
};
export const get = (path, query, signal) => dataOf(getWhole(path, query, signal));
export const post = (path, body = {}) => dataOf(ask("POST", path, body));
export const patch = (path, body) => dataOf(ask("PATCH", path, body));
export const remove = (path) => dataOf(ask("DELETE", path));

/** Batches of server-sent events {kind, cursor, data}, until the server ends the stream. */
export async function* follow(path, last, signal) {
  // EventSource can send no token.
  const accept = { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) };
  const response = await send(path, { headers: headers(accept), signal });
  if (!response.ok) throw await refusal(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    yield blocks.map(parse).filter((event) => event.data !== undefined);
  }
}

function parse(block) {
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  const data = fields.data === undefined ? undefined : JSON.parse(fields.data);
  return { kind: fields.event, cursor: fields.id, data };
}
