/** A form for a relation: its name, its direction and its other end. */
import { useState } from "preact/hooks";
import { server } from "../api/client";
import { add, change as changeAtom, either } from "../question/edit";
import { freshVariable, type AtomFormula, type Path, type Question, type Term } from "../question/formula";
import { written } from "../question/name";
import { relations } from "../state/server";
import { Combobox, type Option } from "../parts/Combobox";
import { grouped } from "../parts/text";
import { unquoted } from "./question-scene";
import type { SceneNode } from "./scene";

/** A change of the question that still needs a relation. */
export type Draft =
  | { kind: "add"; from: SceneNode | null; to: SceneNode | null }
  | { kind: "either" | "change"; path: Path; atom: AtomFormula };

interface Props { draft: Draft; question: Question; nodes: SceneNode[]; onChange(edit: (question: Question) => Question): void; onClose(): void }

const NEW = "new";
const NAMED = "named";

export function RelationForm({ draft, question, nodes, onChange, onClose }: Props) {
  const atom = draft.kind === "add" ? null : draft.atom;
  const [relation, setRelation] = useState(draft.kind === "change" && atom ? unquoted(atom.relation_text) : "");
  const [backwards, setBackwards] = useState(false);
  const [from, setFrom] = useState(draft.kind === "add" ? draft.from?.id ?? NAMED : "");
  const [to, setTo] = useState(draft.kind === "add" ? draft.to?.id ?? NEW : NAMED);
  const [fromName, setFromName] = useState("");
  const [toName, setToName] = useState("");
  const [wrong, setWrong] = useState("");
  const titles = { add: "Add a relation", either: "Or instead", change: "Change this part" };

  const submit = () => {
    if (!relation.trim()) return setWrong("Which relation?");
    const relationText = written(relation.trim());
    if (atom && draft.kind !== "add") {
      const keep = (term: Term): Term => (term.kind === "entity" && toName.trim() ? { kind: "entity", text: written(toName.trim()) } : term);
      const next: AtomFormula = { kind: "atom", relation, relation_text: relationText, subject: keep(atom.subject), object: keep(atom.object) };
      return onChange((it) => (draft.kind === "either" ? either(it, draft.path, next) : changeAtom(it, draft.path, next)));
    }
    const scopes: Path[] = [];
    const fresh: string[] = [];
    let target = question.target;
    const end = (id: string, name: string): Term | null => {
      if (id === NAMED) return name.trim() ? { kind: "entity", text: written(name.trim()) } : null;
      if (id === NEW) {
        const text = freshVariable({ target, formula: question.formula });
        if (question.formula || target) fresh.push(text);
        else target = text;
        return { kind: "variable", text };
      }
      const node = nodes.find((it) => it.id === id);
      if (node?.scope) scopes.push(node.scope);
      return node?.term ?? null;
    };
    const [one, other] = [end(from, fromName), end(to, toName)];
    if (!one || !other) return setWrong("A name is missing.");
    const [subject, object] = backwards ? [other, one] : [one, other];
    return onChange((it) => add({ ...it, target }, { kind: "atom", relation, relation_text: relationText, subject, object }, scopes, fresh));
  };

  const ends = (label: string, value: string, set: (id: string) => void, name: string, setName: (text: string) => void, withNew: boolean) => (
    <>
      <label class="field">
        <span>{label}</span>
        <select value={value} onChange={(event) => set(event.currentTarget.value)}>
          {withNew && <option value={NEW}>something new</option>}
          <option value={NAMED}>a named thing…</option>
          {nodes.map((it) => <option key={it.id} value={it.id}>{it.text}</option>)}
        </select>
      </label>
      {value === NAMED && <EntityField label={`${label}: name`} value={name} onValue={setName} />}
    </>
  );
  const hasName = atom && (atom.subject.kind === "entity" || atom.object.kind === "entity");
  return (
    <form
      class="relation-form" aria-label={titles[draft.kind]}
      onSubmit={(event) => (event.preventDefault(), submit())}
      onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), onClose())}
    >
      <h2>{titles[draft.kind]}</h2>
      <div class="fields">
        {draft.kind === "add" && ends("from", from, setFrom, fromName, setFromName, false)}
        <Combobox label="relation" value={relation} autoFocus find={findRelation} onInput={setRelation} onPick={(it) => setRelation(it.text)} onEnter={submit} placeholder="type to search" />
        {draft.kind === "add" && (
          <label class="field">
            <span>direction</span>
            <select value={backwards ? "backwards" : "forwards"} onChange={(event) => setBackwards(event.currentTarget.value === "backwards")}>
              <option value="forwards">from → to</option>
              <option value="backwards">to → from</option>
            </select>
          </label>
        )}
        {draft.kind === "add" && ends("to", to, setTo, toName, setToName, true)}
        {hasName && <EntityField label="name, if another one" value={toName} onValue={setToName} />}
      </div>
      {wrong && <p class="fine wrong" role="alert">{wrong}</p>}
      <div class="form-buttons">
        <button type="submit" class="main small">{draft.kind === "add" ? "Add" : draft.kind === "either" ? "Make an or" : "Change"}</button>
        <button type="button" class="quiet small" onClick={onClose}>Cancel</button>
      </div>
    </form>
  );
}

function EntityField({ label, value, onValue }: { label: string; value: string; onValue(text: string): void }) {
  return <Combobox label={label} value={value} find={findEntity} onInput={onValue} onPick={(it) => onValue(it.text)} placeholder="type to search" />;
}

async function findRelation(text: string): Promise<Option[]> {
  const wanted = text.trim().toLowerCase();
  return (await relations())
    .filter((it) => it.text.toLowerCase().includes(wanted) || it.label?.toLowerCase().includes(wanted))
    .slice(0, 12)
    .map((it) => ({ key: it.name, text: it.text, detail: `${it.cardinality} · ${grouped(it.edges)}` }));
}

export async function findEntity(text: string, signal: AbortSignal): Promise<Option[]> {
  if (!text.trim()) return [];
  const found = await server.find(text.trim(), 10, signal);
  return found.entities.map((it) => ({ key: it.name, text: it.text, detail: `${grouped(it.edges)} ${it.edges === 1 ? "edge" : "edges"}` }));
}
