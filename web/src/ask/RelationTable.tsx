/** Which relations hold between two things. */
import type { RelationAnswer } from "../api/types";
import { labelOf, nameOf, number } from "../parts/text";
import { ofEdge, Standing } from "../parts/Standing";
import { Bar } from "./AnswerTable";

export function RelationTable({ relations }: { relations: RelationAnswer[] }) {
  const best = Math.max(...relations.map((it) => it.score), Number.MIN_VALUE);
  return (
    <table class="ranking">
      <thead>
        <tr><th scope="col" class="rank">#</th><th scope="col">relation</th><th scope="col" class="bar-head"><span class="unseen">Score as a bar</span></th><th scope="col" class="score">truth</th><th scope="col">standing</th></tr>
      </thead>
      <tbody>
        {relations.map((it, index) => {
          const standing = ofEdge(it);
          return (
            <tr key={it.name}>
              <td class="rank">{index + 1}</td>
              <td class="name">{nameOf(it)}{labelOf(it) && <small> {labelOf(it)}</small>}</td>
              <td class="bar"><Bar value={it.score / best} kind={standing.kind} /></td>
              <td class="score">{number(it.score)}</td>
              <td class="standing-cell"><Standing {...standing} /></td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
