/** Three views, each with an address that restores it. */
import { createStore, useStore } from "./state/store";
import { root } from "./api/client";

export type View = "ask" | "explore" | "model";
export interface Route { view: View; query: URLSearchParams }

const PATHS: Record<View, string> = { ask: "./", explore: "./explore", model: "./model" };

const state = createStore<{ route: Route }>({ route: read() });
addEventListener("popstate", () => state.set({ route: read() }));

function read(): Route {
  const last = location.pathname.slice(location.pathname.lastIndexOf("/") + 1);
  const view = last === "explore" || last === "model" ? last : "ask";
  return { view, query: new URLSearchParams(location.search) };
}

/** The address of a view. */
export function address(view: View, query: Record<string, string | undefined> | URLSearchParams = {}): string {
  const url = new URL(PATHS[view], root);
  const given = query instanceof URLSearchParams ? query : new URLSearchParams(
    Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  url.search = given.toString();
  return url.href;
}

/** Goes to a view; `replace` leaves no step in the browser's history. */
export function go(view: View, query: Record<string, string | undefined> | URLSearchParams = {}, replace = false) {
  const href = address(view, query);
  if (href === location.href) return;
  history[replace ? "replaceState" : "pushState"](null, "", href);
  state.set({ route: read() });
}

export function useRoute(): Route {
  return useStore(state, (it) => it.route);
}

export const currentRoute = () => state.get().route;
export const onRoute = (listener: () => void) => state.subscribe(listener);

/** Follows a plain click on a link within the page; other clicks are left to the browser. */
export function follow(event: MouseEvent, view: View, query: Record<string, string | undefined> = {}) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(view, query);
}
