/** Whether the server answers. While it does not, the page tries again every two seconds. */
import { createStore } from "./store";

export const connectionState = createStore({ lost: false });

const root = new URL(".", location.href);
const PAUSE_MS = 2000;
let timer: ReturnType<typeof setTimeout> | undefined;
const waiting = new Set<() => void>();

export const connection = {
  lose() {
    if (connectionState.get().lost) return;
    connectionState.set({ lost: true });
    timer = setTimeout(again, PAUSE_MS);
  },
  found() {
    if (!connectionState.get().lost) return;
    clearTimeout(timer);
    connectionState.set({ lost: false });
    for (const retry of [...waiting]) retry();
    waiting.clear();
  },
  /** Calls back once the server answers again. */
  onceFound(retry: () => void) {
    waiting.add(retry);
  },
  again,
};

async function again() {
  clearTimeout(timer);
  try {
    await fetch(new URL("healthz", root), { cache: "no-store" });
    connection.found();
  } catch {
    timer = setTimeout(again, PAUSE_MS);
  }
}
