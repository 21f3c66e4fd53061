/** The bearer token of a server that needs one. It stays in this tab and is never part of an address. */
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
      // Without storage, the page asks for the token again at the next call.
    }
    tokenState.set({ wanted: false });
  },
  wanted() {
    tokenState.set({ wanted: true });
  },
};
