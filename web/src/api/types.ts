/** The engine's reports as the page reads them. */

export interface Entity { id: number; name: string; label?: string | null; text: string }
export interface Relation { id: number; name: string; label?: string | null; text: string }
export interface Ways { count: number; more: boolean }
export interface Binding { variable: string; value: Entity }
export interface Atom {
  relation: Relation;
  subject: Entity;
  subject_variable?: string | null;
  object: Entity;
  object_variable?: string | null;
  negated: boolean;
  truth: number;
  value: number;
  scored_from: string;
  known?: string | null;
  stored?: string | null;
}
export interface Witness { score: number; assignment: Binding[]; atoms: Atom[]; sub_queries?: SubQuery[] }
export interface SubQuery { text: string; shares: string[]; own: string[]; truth: number; value: number; witness?: Witness | null }
export interface Alternative { assignment: Binding[]; score: number }
export interface Explanation {
  branch: number;
  branch_scores: number[];
  branches_open: boolean[];
  score: number;
  assignment: Binding[];
  atoms: Atom[];
  sub_queries?: SubQuery[];
  alternatives?: Alternative[];
  alternatives_certain: boolean;
}
export interface Answer extends Entity { score: number; known?: boolean | null; ways?: Ways | null; explanation?: Explanation | null }
export interface RelationAnswer extends Relation { score: number; known?: string | null; stored?: string | null }
export interface Existence { question: string; best?: Answer | null }
export interface Clause { value: number; known?: boolean | null; atom?: Atom | null; exists?: Existence | null; none_exists?: Clause[] }
export interface Judged { truth: number; known?: boolean | null; alternatives: Clause[][] }
export interface Settings {
  model: string; t_norm: string; calibration: string; sharpness: number; negation_scale: number; unseen: number;
  known: string; k?: number | null; paper?: boolean; either_side?: boolean; union: string; tuned_for?: string | null;
}
export type Certainty =
  | { kind: "exact"; within: number }
  | { kind: "beam"; k: number; settled: boolean }
  | { kind: "continuous"; steps: number; at_rest: boolean }
  | { kind: "stopped"; by: "time" | "rows" | "asked" };
export interface Reply {
  version: number; query: string; question: string; asked: "entities" | "relations" | "truth"; target?: string | null;
  shape: string; method: string; settings: Settings; certainty: Certainty; rows: number; unfinished_model?: string | null;
  remarks?: string[]; offset: number; answers: Answer[]; relations?: RelationAnswer[]; judged?: Judged | null;
}
export interface Position { byte: number; line: number; column: number }
export interface Span { start: Position; end: Position }
export interface Label { text: string; span: Span }
export interface Suggestion { span: Span; replacement: string }
export interface Diagnostic { severity: "error" | "note"; message: string; labels: Label[]; help: string[]; suggestions?: Suggestion[] }
export interface Term { kind: "variable" | "entity"; text: string; label?: string | null; span?: Span | null }
export type Formula =
  | { kind: "and" | "or"; parts: Formula[] }
  | { kind: "not"; part: Formula }
  | { kind: "exists"; variables: string[]; part: Formula }
  | { kind: "atom"; relation: string; relation_text: string; subject: Term; object: Term; span?: Span | null };
export interface Check {
  version: number; query: string; answerable: boolean; diagnostics: Diagnostic[]; asked?: Reply["asked"] | null;
  question?: string | null; target?: string | null; shape?: string | null; normal_form?: string | null; sparql?: string | null;
  tuple?: string | null; valid?: boolean | null; limit?: number | null; offset: number; plan?: Plan | null; formula?: Formula | null;
}
export type PlanTerm = { entity: string } | { variable: string };
export interface PlanAtom { relation: string; subject: PlanTerm; object: PlanTerm; negated: boolean }
export type PlanFactor =
  | { kind: "row"; relation: string; backwards: boolean; from: PlanTerm; negated: boolean }
  | { kind: "loop"; relation: string; negated: boolean }
  | { kind: "negated"; index: number };
export interface PlanStep { variable: string; factors: PlanFactor[]; candidates: number; rows: number; beam?: number | null; needed: string[]; eliminated: string[] }
export interface PlanBranch { target: string; tree: boolean; rows: number; atoms: PlanAtom[]; steps: PlanStep[]; negated: PlanBranch[] }
export interface Plan { target: string; shape: string; tree: boolean; rows: number; beam: number; branches: PlanBranch[] }
export interface Candidate { kind: "entity" | "relation" | "keyword"; shown: string; replacement: string; label?: string | null; edges?: number | null }
export interface Completion { start: number; end: number; candidates: Candidate[] }
export interface FoundName { kind: "entity" | "relation"; id: number; text: string; write: string; name: string; label?: string | null; edges: number }
export interface Found { text: string; entities: FoundName[]; entities_total: number; relations: FoundName[]; relations_total: number; nearest?: boolean }
export interface Edge {
  head: string; head_label?: string | null; head_text: string; tail: string; tail_label?: string | null; tail_text: string;
  split: string;
}
export interface EdgesOf { relation: string; relation_text: string; direction: "outgoing" | "incoming" | "both"; count: number; offset: number; edges: Edge[] }
export interface Description {
  kind: "entity" | "relation"; id: number; text: string; name: string; label?: string | null; edges: number; relations: EdgesOf[];
  predicted?: MissingEdge[] | null;
}
export interface MissingEdge { subject: Entity; relation: Relation; object: Entity; truth: number; scored_from: string }
export interface Spread { mean: number; min: number; q25: number; median: number; q75: number; q90: number; q99: number; max: number }
export interface RelationStats {
  name: string; label?: string | null; text: string; edges: number; heads: number; tails: number; tails_per_head: number;
  heads_per_tail: number; cardinality: string; inverse?: string | null; inverse_text?: string | null;
}
export interface GraphStats {
  entities: number; relations: number; edges: { train: number; valid: number; test: number }; entities_without_train_edge: number;
  degree: Spread; out_degree: Spread; in_degree: Spread; fingerprint: string;
  sources: { name: string; format: string; split?: string | null; triples: number }[]; by_relation: RelationStats[];
}
export interface LinkMetrics { count: number; mrr: number; hits: number[] }
export interface ModelSummary {
  name: string; kind?: string | null; rank?: number | null; origin?: string | null; epoch?: number | null; valid?: LinkMetrics | null;
  unfinished?: string | null; calibrated: boolean; tuned_types: number; bytes: number; age_seconds?: number | null; error?: string | null;
}
export interface Models { default: string; models: ModelSummary[] }
export interface CurvePoint { epoch: number; loss: number; valid?: LinkMetrics | null }
export interface Card {
  made_by: string; model: string; rank: number; entities: number; relations: number; origin: string; training?: unknown; epoch: number;
  valid?: LinkMetrics | null; curve: CurvePoint[]; unfinished?: string | null;
}
export interface ModelDetails { summary: ModelSummary; card?: Card | null; tuned: Record<string, string> }
export interface Example { title: string; question: string; shape: string }
export interface Info { name: string; version: string; model?: ModelSummary | null; entities: number; relations: number; edges: number; limits?: Record<string, unknown> }
export interface Progress { rows: number; proven: number; wanted: number; best: { entity: Entity; score: number }[]; elapsed_ms: number }
export interface Problem {
  type: string; title: string; status: number; detail?: string | null; diagnostics?: Diagnostic[] | null; remedy?: string | null; request_id?: string | null;
}
/** What a person may choose; everything left out is chosen by the engine. */
export interface AskSettings {
  syntax?: "text" | "sparql" | "tuple"; model?: string; method?: "auto" | "exact" | "beam" | "continuous"; k?: number; paper?: boolean;
  either_side?: boolean; t_norm?: string; calibration?: string; sharpness?: number; negation_scale?: number; unseen?: number; known?: string;
  union?: string; top?: number; new_only?: boolean; max_branches?: number; max_rows?: number; max_seconds?: number;
}
export interface AskBody extends AskSettings { question: string; explain?: boolean }
