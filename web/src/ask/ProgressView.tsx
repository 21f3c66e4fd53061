/** A search that takes long: the best answers so far, and how many of them are proven. */
import { useEffect, useState } from "preact/hooks";
import type { Progress, Reply } from "../api/types";
import { ask } from "../state/ask";
import { useAfter } from "../parts/hooks";
import { duration, grouped, nameOf, number } from "../parts/text";
import { Bar } from "./AnswerTable";

/** A search shorter than this shows a skeleton only. */
const SKELETON_MS = 300;

export function ProgressView({ running, before }: { running: { began: number; progress: Progress | null }; before: Reply | null }) {
  const long = useAfter(true, SKELETON_MS);
  const now = useNow();
  if (!long) return <Skeleton rows={before?.answers.length || 5} />;
  const { progress, began } = running;
  return (
    <div class="panel progress">
      <div class="progress-head">
        <span class="spinner" aria-hidden="true" />
        <p role="status">
          {progress && progress.wanted > 0 ? `proven: ${Math.min(progress.proven, progress.wanted)} of ${progress.wanted}` : "searching"}
        </p>
        <p class="fine">{progress ? `${grouped(progress.rows)} rows · ` : ""}{duration(now - began)}</p>
      </div>
      {progress && progress.wanted > 0 && <progress max={progress.wanted} value={Math.min(progress.proven, progress.wanted)} aria-label="Answers that are proven" />}
      {progress && <BestSoFar progress={progress} />}
    </div>
  );
}

export function StoppedView({ progress }: { progress: Progress }) {
  return (
    <div class="panel progress">
      <div class="progress-head">
        <p role="status">Stopped. {progress.best.length ? "The best so far, not proven:" : "Nothing had been found yet."}</p>
        <span class="space" />
        <button type="button" class="quiet" onClick={() => void ask()}>Ask again</button>
      </div>
      <BestSoFar progress={progress} />
    </div>
  );
}

function BestSoFar({ progress }: { progress: Progress }) {
  const best = Math.max(...progress.best.map((it) => it.score), Number.MIN_VALUE);
  if (!progress.best.length) return null;
  return (
    <table class="ranking so-far">
      <thead><tr><th scope="col" class="rank">#</th><th scope="col">best so far</th><th scope="col" class="bar-head"><span class="unseen">Score as a bar</span></th><th scope="col" class="score last">score</th></tr></thead>
      <tbody>
        {progress.best.map((it, index) => (
          <tr key={it.entity.name} class={index < progress.proven ? "proven" : undefined}>
            <td class="rank">{index + 1}</td>
            <td class="name">{nameOf(it.entity)}</td>
            <td class="bar"><Bar value={it.score / best} kind="open" /></td>
            <td class="score">{number(it.score)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Skeleton({ rows }: { rows: number }) {
  return (
    <div class="panel skeleton-list" aria-busy="true">
      <span class="unseen">Searching…</span>
      {Array.from({ length: Math.min(rows, 10) }, (_, index) => <div class="skeleton shown" key={index} style={{ width: `${90 - index * 6}%` }} />)}
    </div>
  );
}

function useNow(): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return now;
}
