/** The question as a graph that can be changed: the text follows. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { askState, setQuestion } from "../state/ask";
import { useStore } from "../state/store";
import { atoms, type Path, type PlacedAtom, type Question } from "../question/formula";
import { CannotEdit, negate, remove, seek } from "../question/edit";
import { part, write } from "../question/write";
import { go } from "../router";
import { say } from "../parts/notice";
import { Icon } from "../parts/Icon";
import { Drawing } from "./Drawing";
import type { Pick, Picture } from "./cytoscape";
import { betweenScene, free, questionScene, unquoted } from "./question-scene";
import { RelationForm, type Draft } from "./RelationForm";
import { DragHandle } from "./DragHandle";
import type { SceneNode } from "./scene";

const NOTHING: Question = { target: null, formula: null };

export function QuestionDrawing() {
  const check = useStore(askState, (it) => it.check);
  const text = useStore(askState, (it) => it.question);
  const checked = useStore(askState, (it) => it.checked);
  // While there is a mistake, the last picture stays, faded.
  const last = useRef<Question>(NOTHING);
  if (check?.formula) last.current = { target: check.target ?? [...free(check.formula)][0] ?? null, formula: check.formula };
  if (!text.trim()) last.current = NOTHING;
  const question = last.current;
  const between = check?.asked === "relations" && text.trim() ? check.question ?? null : null;
  const current = text === checked && Boolean(check?.formula ?? between);
  const scene = useMemo(() => (between ? betweenScene(between) : questionScene(question)), [question.formula, question.target, between]);
  const [picture, setPicture] = useState<Picture | null>(null);
  const [pick, setPick] = useState<Pick | null>(null);
  const [draft, setDraft] = useState<Draft | null>(null);
  const [marked, setMarked] = useState<string | null>(null);
  const [hovered, setHovered] = useState<string | null>(null);
  const [moves, setMoves] = useState(0);
  const parts = useMemo(() => (between ? [] : atoms(question.formula)), [question.formula, between]);

  useEffect(() => setPick(null), [scene]);

  const change = (edit: (question: Question) => Question) => {
    try {
      setQuestion(write(edit(question)), true);
      setPick(null);
      setDraft(null);
    } catch (error) {
      if (!(error instanceof CannotEdit)) throw error;
      say(error.message);
    }
  };
  const node = (id: string | null) => scene.nodes.find((it) => it.id === id);
  const pickedEdge = pick?.kind === "edge" ? scene.edges.find((it) => it.id === pick.id) : undefined;
  const pickedNode = pick?.kind === "node" ? node(pick.id) : undefined;
  const handleAt = node(hovered ?? (pickedNode?.id ?? null));
  const empty = scene.nodes.length === 0;
  return (
    <div class="question-drawing">
      <Drawing
        scene={scene} keep tools most={210} least={empty ? 64 : 110} marked={pick?.id ?? marked} faded={!current && !empty} onPicture={setPicture}
        label={between ? `The question as a graph: ${between.replace(/^\S+ : /, "")}` : question.formula ? `The question as a graph: ${parts.map(({ atom, negated }) => `${negated ? "not " : ""}${part(atom, "nothing")}`).join(", ")}` : "No question to draw yet"}
        listener={{
          picked: (next) => {
            setDraft(null);
            setPick(next);
          },
          hovered: (id) => id && node(id)?.term && setHovered(id),
          changed: () => setMoves((n) => n + 1),
        }}
      >
        {handleAt?.term && picture && !draft && (
          <DragHandle key={moves} picture={picture} node={handleAt} onGone={() => setHovered(null)} onDrop={(to) => setDraft({ kind: "add", from: handleAt, to: to ? node(to) ?? null : null })} />
        )}
        {pick && (pickedEdge || pickedNode) && (
          <div class="menu" style={{ left: `${pick.x}px`, top: `${pick.y}px` }} role="group" aria-label="Change this part">
            {pickedEdge?.path && <EdgeMenu path={pickedEdge.path} negated={pickedEdge.negated ?? false} onChange={change} onDraft={setDraft} parts={parts} />}
            {pickedNode?.term && <NodeMenu node={pickedNode} onChange={change} onDraft={setDraft} />}
          </div>
        )}
        <div class="drawing-tools">
          <button type="button" class="quiet small" disabled={between !== null} onClick={() => setDraft({ kind: "add", from: scene.nodes.find((it) => it.kind === "target") ?? null, to: null })}>
            <Icon name="plus" /> <span>relation</span>
          </button>
          {!empty && <button type="button" class="quiet small" onClick={() => picture?.tidy()} aria-label="Tidy the drawing" title="Tidy the drawing"><Icon name="tidy" /></button>}
        </div>
        {empty && <p class="drawing-empty">The question is drawn here. Begin with a relation, or write one above.</p>}
      </Drawing>
      {parts.length > 0 && (
        <ul class="parts" aria-label="Parts of the question">
          {parts.map((it) => (
            <li key={it.path.join(".")} onFocusCapture={() => setMarked(`atom:${it.path.join(".")}`)} onBlurCapture={() => setMarked(null)}>
              <span class="mono">{it.negated && "not "}{part(it.atom, "nothing")}</span>
              <EdgeMenu path={it.path} negated={it.negated} onChange={change} onDraft={setDraft} parts={parts} />
            </li>
          ))}
        </ul>
      )}
      {draft && <RelationForm draft={draft} question={question} nodes={scene.nodes.filter((it) => it.term)} onChange={change} onClose={() => setDraft(null)} />}
    </div>
  );
}

interface EdgeMenuProps { path: Path; negated: boolean; parts: PlacedAtom[]; onChange(edit: (question: Question) => Question): void; onDraft(draft: Draft): void }

function EdgeMenu({ path, negated, parts, onChange, onDraft }: EdgeMenuProps) {
  const found = parts.find((it) => it.path.join(".") === path.join("."));
  if (!found) return null;
  return (
    <span class="menu-items">
      <button type="button" onClick={() => onChange((question) => negate(question, path))}>{negated ? "no longer not" : "not"}</button>
      <button type="button" onClick={() => onDraft({ kind: "either", path, atom: found.atom })}>or…</button>
      <button type="button" onClick={() => onDraft({ kind: "change", path, atom: found.atom })}>change…</button>
      <button type="button" onClick={() => onChange((question) => remove(question, path))}>remove</button>
    </span>
  );
}

interface NodeMenuProps { node: SceneNode; onChange(edit: (question: Question) => Question): void; onDraft(draft: Draft): void }

function NodeMenu({ node, onChange, onDraft }: NodeMenuProps) {
  return (
    <span class="menu-items">
      <button type="button" onClick={() => onDraft({ kind: "add", from: node, to: null })}>add a relation…</button>
      {node.kind === "variable" && <button type="button" onClick={() => onChange((question) => seek(question, node.text))}>ask for it</button>}
      {node.entity && <button type="button" onClick={() => go("explore", { name: unquoted(node.entity ?? "") })}>explore</button>}
    </span>
  );
}
