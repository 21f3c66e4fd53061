/** Ranked answers: the score as a bar and with three digits, and whether stored edges alone give the answer. */
import { Fragment } from "preact";
import type { Answer, Reply } from "../api/types";
import { askState, select } from "../state/ask";
import { useStore } from "../state/store";
import { labelOf, nameOf, number } from "../parts/text";
import { ofAnswer, Standing } from "../parts/Standing";
import { ReasonPanel } from "./ReasonPanel";

export function AnswerTable({ reply, beneath }: { reply: Reply; beneath: boolean }) {
  const selected = useStore(askState, (it) => it.selected);
  const best = Math.max(...reply.answers.map((it) => it.score), Number.MIN_VALUE);
  const focusable = reply.answers.some((it) => it.name === selected) ? selected : reply.answers[0]?.name;
  return (
    <table class="ranking">
      <thead>
        <tr><th scope="col" class="rank">#</th><th scope="col">{reply.target ?? "Answer"}</th><th scope="col" class="bar-head"><span class="unseen">Score as a bar</span></th><th scope="col" class="score">score</th><th scope="col">standing</th></tr>
      </thead>
      <tbody>
        {reply.answers.map((answer, index) => (
          <Fragment key={answer.name}>
            <Row answer={answer} rank={index + 1 + reply.offset} best={best} selected={answer.name === selected} focusable={answer.name === focusable} />
            {beneath && answer.name === selected && <tr class="reason-row"><td colSpan={5}><ReasonPanel name={answer.name} /></td></tr>}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

interface RowProps { answer: Answer; rank: number; best: number; selected: boolean; focusable: boolean }

function Row({ answer, rank, best, selected, focusable }: RowProps) {
  const standing = ofAnswer(answer);
  const toggle = () => select(selected ? null : answer.name);
  return (
    <tr class={selected ? "selected" : undefined} onClick={toggle}>
      <td class="rank">{rank}</td>
      <td class="name">
        <button
          type="button" class="answer-name" data-name={answer.name} aria-expanded={selected} tabIndex={focusable ? 0 : -1}
          onClick={(event) => (event.stopPropagation(), toggle())}
        >
          {nameOf(answer)}
          {labelOf(answer) && <small> {labelOf(answer)}</small>}
        </button>
      </td>
      <td class="bar"><Bar value={answer.score / best} kind={standing.kind} /></td>
      <td class="score" title={String(answer.score)}>{number(answer.score)}</td>
      <td class="standing-cell"><Standing {...standing} /></td>
    </tr>
  );
}

export function Bar({ value, kind }: { value: number; kind: string }) {
  return <span class={`bar-line ${kind}`} style={{ width: `${Math.max(1, Math.min(100, value * 100))}%` }} />;
}
