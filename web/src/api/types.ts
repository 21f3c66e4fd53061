/** The engine's reports by the names that the page uses; `schema.d.ts` is made from the server's OpenAPI document. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Entity = Schemas["Entity"];
export type Relation = Schemas["Relation"];
export type Atom = Schemas["Atom"];
export type Why = Schemas["Why"];
export type SubQuery = Schemas["SubQuery"];
export type Explanation = Schemas["Explanation"];
export type Answer = Schemas["Answer"];
export type RelationAnswer = Schemas["RelationAnswer"];
export type Clause = Schemas["Clause"];
export type Judged = Schemas["Judged"];
export type Settings = Schemas["Settings"];
export type Certainty = Schemas["Certainty"];
export type Reply = Schemas["Reply"];

export type Suggestion = Schemas["Suggestion"];
export type Diagnostic = Schemas["Diagnostic"];
export type Check = Schemas["Check"];
export type Plan = Schemas["PlanReport"];
export type PlanBranch = Schemas["BranchReport"];
export type PlanTerm = Schemas["TermReport"];
export type PlanFactor = Schemas["FactorReport"];

export type Completion = Schemas["Completion"];
export type Found = Schemas["Found"];
export type FoundName = Schemas["FoundName"];
export type Edge = Schemas["Edge"];
export type EdgesOf = Schemas["EdgesOf"];
export type MissingEdge = Schemas["MissingEdge"];
export type Description = Schemas["Description"];

export type Spread = Schemas["Spread"];
export type RelationStats = Schemas["RelationStats"];
export type GraphStats = Schemas["GraphStats"];
export type ModelSummary = Schemas["ModelSummary"];
export type Models = Schemas["Models"];
export type ModelDetails = Schemas["ModelDetails"];
export type CurvePoint = Schemas["CurvePoint"];
export type Quality = Schemas["Quality"];
export type Reliability = Schemas["Reliability"];
export type RelationEvaluation = Schemas["RelationEvaluation"];
export type Example = Schemas["Example"];
export type Info = Schemas["Info"];
export type Progress = Schemas["Watched"];
export type Problem = Schemas["Problem"];

/** The options that a person may choose beside the question; the engine chooses omitted ones. */
export type AskSettings = { [field in Exclude<keyof Schemas["AskBody"], "question" | "explain">]?: NonNullable<Schemas["AskBody"][field]> };

/** The body of a request. */
export type AskBody = AskSettings & { question: string; explain?: boolean };

/**
 * A question as a tree, without the places of its parts: a drawing makes parts that are not in the text yet.
 * The server's `FormulaTree` is one of these.
 */
export type Formula =
  | { kind: "and" | "or"; parts: Formula[] }
  | { kind: "not"; part: Formula }
  | { kind: "exists"; variables: string[]; part: Formula }
  | { kind: "atom"; relation: string; relation_text: string; subject: Term; object: Term };

/** One side of an atom. */
export type Term = Pick<Schemas["FormulaTerm"], "kind" | "text" | "label">;
