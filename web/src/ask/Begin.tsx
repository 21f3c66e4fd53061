/** Before the first question: what the page does, and example questions about this graph. */
import { askState, openQuestion } from "../state/ask";
import { serverState } from "../state/server";
import { useStore } from "../state/store";
import { plural } from "../parts/text";

export function Begin() {
  const examples = useStore(askState, (it) => it.examples);
  const info = useStore(serverState, (it) => it.info);
  if (examples === null) return <div class="begin" aria-busy="true" />;
  // A server that wants a token has told nothing yet.
  if (!examples.length && !info) return <div class="begin" />;
  if (!examples.length) {
    return (
      <div class="empty">
        <h2>Nothing to offer yet</h2>
        <p>{info && !info.model ? "There is no trained model in this project. Train one with relatum train, then come back." : "This graph is too small to make examples of. Write a question above."}</p>
      </div>
    );
  }
  return (
    <div class="begin">
      <p class="hint">
        {info && <>{plural(info.entities, "thing")}, {plural(info.relations, "relation")}, {plural(info.edges, "stored edge")}. </>}
        Press <kbd>⏎</kbd> to ask the question above, or take one of these.
      </p>
      <ul class="examples">
        {examples.map((it) => (
          <li key={it.question}>
            <button type="button" onClick={() => openQuestion(it.question, true)}>
              <span>{it.title}</span>
              <code>{it.question}</code>
              <small>{it.shape}</small>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
