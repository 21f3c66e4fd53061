/** What is to be drawn, without places and colours. */
import type { Path, Term } from "../question/formula";

export interface SceneNode {
  id: string;
  /** `anchor` is named in the question, `variable` is a ring, `target` a double ring, `or` a place where alternatives, or the edges of one, meet, `group` a box around a negated part, `hub` a relation with many ends. */
  kind: "anchor" | "variable" | "target" | "or" | "group" | "hub";
  /** The whole text; it is cut in the middle where it is long. */
  text: string;
  /** The box that it stands in. */
  parent?: string;
  /** How the question writes it, and where it is bound. */
  term?: Term;
  scope?: Path;
  /** The entity that it stands for, by the text that finds it. */
  entity?: string;
  /** How many letters of the text are shown, where it is not as usual for its kind. */
  longest?: number;
  /** Which column it belongs to, where the scene says so, from left to right. */
  column?: number;
}

export interface SceneEdge {
  id: string;
  from: string;
  to: string;
  text: string;
  /** A truth value, shown after the text. */
  detail?: string;
  /** `stored` is solid, `predicted` dashed, `asked` plain, `join` leads from an `or` split to its variable. */
  kind: "asked" | "stored" | "predicted" | "join";
  negated?: boolean;
  /** Its arrow is at `from`. */
  backward?: boolean;
  /** From 0 to 1: how thick the line is. */
  truth?: number;
  /** The atom of the question. */
  path?: Path;
}

export interface Scene { nodes: SceneNode[]; edges: SceneEdge[] }

/** A long text with its middle left out. */
export function cutMiddle(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${letters.slice(0, head).join("").trimEnd()}…${letters.slice(letters.length - (most - 1 - head)).join("").trimStart()}`;
}
