/** How true a statement is, and what makes it so. */
import { useMemo } from "preact/hooks";
import type { Atom, Clause, Judged, SubQuery } from "../api/types";
import { Drawing } from "../drawing/Drawing";
import { explanationScene } from "../drawing/explanation-scene";
import { Standing, type StandingKind } from "../parts/Standing";
import { nameOf, number } from "../parts/text";
import { AtomTable, atomText, SubQueries } from "./AtomTable";

export function JudgedView({ judged }: { judged: Judged }) {
  const atoms = useMemo(() => judged.alternatives.flat().flatMap(atomsOf), [judged]);
  const scene = useMemo(() => explanationScene({ atoms, sub_queries: [], assignment: [] }, null), [atoms]);
  const standing = standingOf(judged);
  return (
    <div class="judged">
      <p class="truth">
        <span class="truth-value">{number(judged.truth)}</span>
        <span class="meter" role="img" aria-label={`Truth ${number(judged.truth)} of 1`}><span class={`bar-line ${standing.kind}`} style={{ width: `${judged.truth * 100}%` }} /></span>
        <Standing {...standing} />
      </p>
      {atoms.length > 0 && <Drawing scene={scene} most={320} least={110} label={`The statement as a graph: ${atoms.map(atomText).join(", ")}`} />}
      {judged.alternatives.map((clauses, index) => (
        <div key={index} class="alternative">
          {judged.alternatives.length > 1 && <h3>alternative {index + 1}</h3>}
          <Clauses clauses={clauses} />
        </div>
      ))}
    </div>
  );
}

function Clauses({ clauses }: { clauses: Clause[] }) {
  const plain = clauses.flatMap((it) => (it.atom ? [it.atom] : []));
  return (
    <>
      <AtomTable atoms={plain} />
      {clauses.map((it, index) => (
        <div key={index}>
          {it.exists && (
            <div class="nested plain">
              <p><code>{it.exists.question}</code> <span class="score">{number(it.value)}</span></p>
              {it.exists.best
                ? (
                  <>
                    <p class="fine">best by {nameOf(it.exists.best)}</p>
                    <AtomTable atoms={it.exists.best.explanation?.atoms ?? []} />
                    <SubQueries nested={it.exists.best.explanation?.sub_queries ?? []} />
                  </>
                )
                : <p class="fine">Nothing makes it true.</p>}
            </div>
          )}
          {it.none_exists && it.none_exists.length > 0 && (
            <div class="nested"><p><b class="not">not</b> <span class="score">{number(it.value)}</span></p><Clauses clauses={it.none_exists} /></div>
          )}
        </div>
      ))}
    </>
  );
}

function standingOf({ known, truth }: Judged): { kind: StandingKind; text: string } {
  if (known === true) return { kind: "known", text: "known" };
  if (known === false) return truth <= 0 ? { kind: "known", text: "refuted by stored edges" } : { kind: "predicted", text: "predicted" };
  return { kind: "open", text: "undetermined" };
}

function atomsOf(clause: Clause): Atom[] {
  const nested = (it: SubQuery): Atom[] => [...(it.witness?.atoms ?? []).map((atom) => ({ ...atom, negated: true })), ...(it.witness?.sub_queries ?? []).flatMap(nested)];
  const best = clause.exists?.best?.explanation;
  return [
    ...(clause.atom ? [clause.atom] : []),
    ...(best?.atoms ?? []),
    ...(best?.sub_queries ?? []).flatMap(nested),
    ...(clause.none_exists ?? []).flatMap(atomsOf).map((atom) => ({ ...atom, negated: !atom.negated })),
  ];
}
