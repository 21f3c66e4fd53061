/** A value that components can watch. */
import { useEffect, useRef, useState } from "preact/hooks";

export interface Store<T extends object> {
  get(): T;
  /** Changes some fields and notifies all listeners. */
  set(change: Partial<T>): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T extends object>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(change) {
      value = { ...value, ...change };
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The part of a store that a component uses; the component is drawn again when it changes. */
export function useStore<T extends object, S>(store: Store<T>, select: (value: T) => S): S {
  const [, redraw] = useState(0);
  const selected = select(store.get());
  // The listener compares with what was drawn last, by the selection of that drawing.
  const drawn = useRef({ select, selected });
  drawn.current = { select, selected };
  useEffect(() => {
    const look = () => {
      if (drawn.current.select(store.get()) !== drawn.current.selected) redraw((n) => n + 1);
    };
    look();
    return store.subscribe(look);
  }, [store]);
  return selected;
}
