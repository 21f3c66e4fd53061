/** The settings that a person has chosen, and how they are written into an address. */
import type { AskSettings } from "../api/types";

type Kind = "text" | "number" | "switch";

const FIELDS: { [field in keyof Required<AskSettings>]: Kind } = {
  syntax: "text", model: "text", method: "text", k: "number", paper: "switch", either_side: "switch", t_norm: "text", calibration: "text",
  sharpness: "number", negation_scale: "number", unseen: "number", known: "text", evidence: "text", rules: "text", union: "text", top: "number", new_only: "switch",
  max_branches: "number", max_rows: "number", max_seconds: "number",
};

export function settingsFrom(query: URLSearchParams): AskSettings {
  const settings: Record<string, unknown> = {};
  for (const [field, kind] of Object.entries(FIELDS)) {
    const value = query.get(field);
    if (value === null || value === "") continue;
    if (kind === "text") settings[field] = value;
    if (kind === "switch") settings[field] = value === "true";
    if (kind === "number" && Number.isFinite(Number(value))) settings[field] = Number(value);
  }
  return settings as AskSettings;
}

export function writeSettings(settings: AskSettings, query: URLSearchParams) {
  for (const [field, value] of chosen(settings)) query.set(field, String(value));
}

/** The fields that are set, in a fixed order. */
export function chosen(settings: AskSettings): [keyof AskSettings, string | number | boolean][] {
  const found: [keyof AskSettings, string | number | boolean][] = [];
  for (const field of Object.keys(FIELDS) as (keyof AskSettings)[]) {
    const value = settings[field];
    if (value !== undefined && value !== false && value !== "") found.push([field, value]);
  }
  return found;
}

/** How many choices differ from what the engine would choose. */
export const choices = (settings: AskSettings): number => chosen(settings).filter(([field]) => field !== "new_only").length;
