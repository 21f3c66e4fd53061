/** How a question is written, for as long as there is no answer to look at. */

const LINES: [string, string][] = [
  ['?X : relation("a name", X)', "Which things does the relation lead to?"],
  ['?X : exists Y. r("a name", Y) and s(Y, X)', "Through something in between, whatever it is."],
  ['?X : r("a", X) and (s("b", X) or not t("c", X))', "and, or, not, with parentheses."],
  ['r("a name", "another name")', "Without a target: how true is it?"],
  ['?R : R("a name", "another name")', "Which relations hold between the two?"],
];

export function Guide({ answered }: { answered: boolean }) {
  if (answered) return <p class="hint guide">Choose an answer to see its explanation.</p>;
  return (
    <section class="panel guide" aria-labelledby="guide-title">
      <h2 id="guide-title">How to ask</h2>
      <p class="hint">Write, draw, or take an example. Answers come from stored edges and from predicted ones, each with its reason.</p>
      <dl>
        {LINES.map(([text, meaning]) => <div key={text}><dt>{text}</dt><dd>{meaning}</dd></div>)}
      </dl>
      <p class="fine">SPARQL works, too. Names complete while they are typed.</p>
    </section>
  );
}
