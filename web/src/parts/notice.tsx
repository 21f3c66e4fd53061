/** One short line that says what has just been done. */
import { createStore, useStore } from "../state/store";

const state = createStore<{ text: string }>({ text: "" });
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string) {
  state.set({ text });
  clearTimeout(timer);
  timer = setTimeout(() => state.set({ text: "" }), 2400);
}

export function Notice() {
  const text = useStore(state, (it) => it.text);
  return <div class={text ? "notice shown" : "notice"} role="status">{text}</div>;
}
