/** The bearer token of a server that wants one. It stays in this tab and never stands in an address. */
import { createStore } from "../state/store";

const KEY = "relatum.token";

export const tokenState = createStore({ wanted: false });

export const token = {
  get(): string | null {
    try {
      return sessionStorage.getItem(KEY);
    } catch {
      return null;
    }
  },
  set(value: string) {
    try {
      sessionStorage.setItem(KEY, value);
    } catch {
      // Without storage the next call will ask again.
    }
    tokenState.set({ wanted: false });
  },
  wanted() {
    tokenState.set({ wanted: true });
  },
};
