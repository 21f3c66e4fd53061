/** The keys that the page knows. */
import { useEffect, useRef } from "preact/hooks";

const KEYS: [string, string][] = [
  ["⏎ at the end, Ctrl ⏎ or ⌘ ⏎", "ask"],
  ["Ctrl Space", "complete a name"],
  ["Alt ⏎, or Tab at the mistake", "apply the suggestion"],
  ["Esc", "stop a search; leave the editor; close an explanation"],
  ["↑ ↓", "walk through the answers"],
  ["→ or ⏎", "why this answer?"],
  ["←", "close the explanation"],
  ["/", "to the editor"],
  ["?", "these keys"],
];

export function Keys({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={onClose} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}
      </dl>
      <button type="button" class="main small" onClick={() => dialog.current?.close()}>Close</button>
    </dialog>
  );
}
