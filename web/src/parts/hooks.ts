/** Small things that several components need. */
import { useEffect, useState } from "preact/hooks";
import { failureOf, type Failure } from "../api/client";
import { connection } from "../state/connection";

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const listen = () => setMatches(media.matches);
    listen();
    media.addEventListener("change", listen);
    return () => media.removeEventListener("change", listen);
  }, [query]);
  return matches;
}

export type Loaded<T> = { state: "loading"; value?: T } | { state: "there"; value: T } | { state: "failed"; failure: Failure; value?: T };

/** The result of a call, which is made again when `keys` change and when a lost server is back. */
export function useLoaded<T>(load: () => Promise<T>, keys: unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
  useEffect(() => {
    let gone = false;
    const run = () => {
      load().then(
        (value) => !gone && setLoaded({ state: "there", value }),
        (error: unknown) => {
          if (gone) return;
          const failure = failureOf(error);
          setLoaded({ state: "failed", failure });
          if (failure.kind === "lost") connection.onceFound(() => !gone && run());
        },
      );
    };
    setLoaded((before) => ({ state: "loading", value: before.value }));
    run();
    return () => {
      gone = true;
    };
  }, keys);
  return loaded;
}

/** True once `active` has been true for so long. */
export function useAfter(active: boolean, ms: number): boolean {
  const [after, setAfter] = useState(false);
  useEffect(() => {
    setAfter(false);
    if (!active) return;
    const timer = setTimeout(() => setAfter(true), ms);
    return () => clearTimeout(timer);
  }, [active, ms]);
  return active && after;
}

/** Copies a text; resolves to whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text);
  }
}

/** Without a secure context there is no clipboard; a selection can still be copied. */
function copyByHand(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

export function download(name: string, type: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
