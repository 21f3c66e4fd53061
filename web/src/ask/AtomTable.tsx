/** Every condition under an assignment, with the value that enters the score. */
import type { Atom, Entity, SubQuery, Why } from "../api/types";
import { address, follow } from "../router";
import { ofEdge, Standing } from "../parts/Standing";
import { grouped, nameOf, number, plural } from "../parts/text";

export const atomText = (it: Atom): string =>
  `${it.negated ? "not " : ""}${nameOf(it.relation)}(${nameOf(it.subject)}, ${nameOf(it.object)}) ${number(it.value)}`;

export function AtomTable({ atoms }: { atoms: Atom[] }) {
  if (!atoms.length) return null;
  return (
    <table class="atoms">
      <thead><tr><th scope="col">condition</th><th scope="col" class="score">truth</th><th scope="col">standing</th></tr></thead>
      <tbody>{atoms.map((it, index) => <AtomRow key={index} atom={it} />)}</tbody>
    </table>
  );
}

function AtomRow({ atom }: { atom: Atom }) {
  const standing = ofEdge(atom);
  return (
    <>
      <tr>
        <td>
          {atom.negated && <b class="not">not </b>}
          <span class="relation">{nameOf(atom.relation)}</span>(<Name entity={atom.subject} />, <Name entity={atom.object} />)
        </td>
        <td class="score" title={String(atom.value)}>{number(atom.value)}</td>
        <td><Standing kind={standing.kind} text={atom.negated ? `${standing.text} with ${number(atom.truth)}` : standing.text} /></td>
      </tr>
      {atom.why && says(atom.why) && <tr class="why-row"><td colSpan={3}><Reasons why={atom.why} /></td></tr>}
    </>
  );
}

const says = (why: Why) => Boolean(why.reasons?.length || why.similar?.length);

/** The rules that speak for a predicted edge; where they add nothing, the entities that the model takes for similar. */
function Reasons({ why }: { why: Why }) {
  const reasons = why.reasons ?? [];
  const similar = why.similar ?? [];
  return (
    <div class="fine why">
      {reasons.map((it) => (
        <p key={it.rule}>
          by <code>{it.rule}</code>, right for {it.error != null && "about "}{grouped(it.correct)} of {grouped(it.predicted)}
          {it.because.length > 0 && <>: {it.because.map((edge, index) => <span key={index}>{index > 0 && " and "}{nameOf(edge.relation)}(<Name entity={edge.subject} />, <Name entity={edge.object} />)</span>)}</>}
        </p>
      ))}
      {reasons.length > 0 && <p>rules {number(why.rules)}{why.rules === 0 && " (they count nothing for this relation)"}, model {number(why.predictor)}{why.more > 0 && `; ${plural(why.more, "more rule")}`}</p>}
      {similar.length > 0 && <p>by similarity to {similar.map((it, index) => <span key={it.name}>{index > 0 && ", "}<Name entity={it} /></span>)}</p>}
    </div>
  );
}

function Name({ entity }: { entity: Entity }) {
  return <a href={address("explore", { name: entity.name })} onClick={(event) => follow(event, "explore", { name: entity.name })}>{nameOf(entity)}</a>;
}

/** Negated parts, each with the values that make it truest. */
export function SubQueries({ nested }: { nested: SubQuery[] }) {
  return (
    <>
      {nested.map((it) => (
        <div class="nested" key={it.text}>
          <p><b class="not">not</b> <code>{it.text}</code> <span class="score">{number(it.value)}</span></p>
          {it.witness
            ? (
              <>
                <p class="fine">
                  The best case against it is true to {number(it.truth)}, by{" "}
                  {it.witness.assignment.filter((each) => it.own.includes(each.variable)).map((each, index) => (
                    <span key={each.variable}>{index > 0 && ", "}<var>{each.variable}</var> = {nameOf(each.value)}</span>
                  ))}:
                </p>
                <AtomTable atoms={it.witness.atoms} />
                <SubQueries nested={it.witness.sub_queries ?? []} />
              </>
            )
            : <p class="fine">At most {number(it.truth)}: nothing was found that makes it true.</p>}
        </div>
      ))}
    </>
  );
}
