/** The questions that were asked in this browser, the newest first. */
import type { AskSettings } from "../api/types";
import { createStore } from "./store";

export interface Asked { question: string; settings: AskSettings; at: number }

const KEY = "relatum.history";
const MOST = 50;

export const historyState = createStore<{ asked: Asked[] }>({ asked: load() });

export function remember(question: string, settings: AskSettings) {
  const others = historyState.get().asked.filter((it) => it.question !== question);
  save([{ question, settings, at: Date.now() }, ...others].slice(0, MOST));
}

export function forget() {
  save([]);
}

function save(asked: Asked[]) {
  historyState.set({ asked });
  try {
    localStorage.setItem(KEY, JSON.stringify(asked));
  } catch {
    // Storage may be full or forbidden; then the list lasts as long as the page.
  }
}

function load(): Asked[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored.filter((it): it is Asked => typeof it?.question === "string" && typeof it?.settings === "object");
  } catch {
    return [];
  }
}
