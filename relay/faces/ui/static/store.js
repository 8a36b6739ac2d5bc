// What is shown, and who shows it: a store tells its components when it has changed.

import { useEffect, useReducer } from "./vendor/htm-preact.js";

const FRAME = 16;

export class Store {
  #listeners = new Set();
  #timer = null;

  /** Have everything that shows this drawn anew, once for all changes of one moment. */
  changed() {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      for (const listener of this.#listeners) listener();
    }, FRAME);
  }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Draw the component anew whenever the store changes. */
export function useStore(store) {
  const [, draw] = useReducer((count) => count + 1, 0);
  useEffect(() => store.subscribe(draw), [store]);
  return store;
}
