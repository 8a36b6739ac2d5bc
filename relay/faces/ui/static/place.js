// Where the reader is: session, frame, thread and timeline entry are in the address.

import { useEffect, useState } from "./vendor/htm-preact.js";

export function place() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** The address of a place; what is null is left out. */
export function addressOf(parts) {
  const given = Object.entries(parts).filter(([, value]) => value !== null && value !== undefined);
  return `#${new URLSearchParams(given)}`;
}

export function go(parts) {
  const address = addressOf({ ...place(), ...parts });
  if (address !== location.hash) location.hash = address;
}

/** The same in place of the present address: going back does not lead here. */
export function moveOn(parts) {
  const address = addressOf({ ...place(), ...parts });
  if (address === location.hash) return;
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function usePlace() {
  const [here, move] = useState(place);
  useEffect(() => {
    const listener = () => move(place());
    addEventListener("hashchange", listener);
    return () => removeEventListener("hashchange", listener);
  }, []);
  return here;
}
