/** How to search. Settings on auto are chosen by the engine, and the values that ran are shown. */
import type { AskSettings, Settings } from "../api/types";
import { askState, setSettings } from "../state/ask";
import { serverState } from "../state/server";
import { useStore } from "../state/store";
import { grouped } from "../parts/text";
import { useState } from "preact/hooks";

interface Choice { field: keyof AskSettings; label: string; help: string; values: [string, string][]; ran?(settings: Settings, method: string): string }
interface Amount { field: keyof AskSettings; label: string; help: string; min: number; max?: number; step: number; ran?(settings: Settings): string; limit?: "k" | "top" | "seconds" | "rows" }

const CHOICES: Choice[] = [
  { field: "method", label: "Search", help: "Exact proves its answers; a beam keeps the best assignments; continuous optimises vectors; lists prove their answers in little memory", values: [["exact", "exact"], ["beam", "beam"], ["continuous", "continuous"], ["lists", "lists"]], ran: (_, method) => method },
  { field: "known", label: "Stored edges", help: "Which of them count as true", values: [["all", "all are true"], ["train", "training only"], ["none", "none, the model decides"]], ran: (it) => it.known },
  { field: "evidence", label: "Evidence", help: "What speaks for an edge that is not stored", values: [["model", "the model"], ["rules", "the rules"], ["both", "both together"]], ran: (it) => it.evidence ?? "model" },
  { field: "t_norm", label: "And", help: "How truth values combine", values: [["product", "product"], ["godel", "Gödel (minimum)"], ["lukasiewicz", "Łukasiewicz"]], ran: (it) => it.t_norm },
  { field: "calibration", label: "Calibration", help: "How scores become truth values", values: ["softmax-count", "fitted", "softmax", "sigmoid", "minmax", "adaptive", "raw"].map((it) => [it, it]), ran: (it) => it.calibration },
  { field: "union", label: "Or", help: "Where alternatives are joined", values: [["at-the-end", "at the end"], ["in-place", "in place"]], ran: (it) => it.union.replaceAll("-", " ") },
];

const AMOUNTS: Amount[] = [
  { field: "top", label: "Answers", help: "How many", min: 1, step: 1, ran: () => "10", limit: "top" },
  { field: "k", label: "Beam width", help: "Assignments that a beam keeps", min: 1, step: 1, ran: (it) => String(it.k ?? 64), limit: "k" },
  { field: "unseen", label: "Wrong kinds", help: "The weight, from 0 to 1, of predictions that lead to a thing of a wrong kind", min: 0, max: 1, step: 0.05, ran: (it) => round(it.unseen) },
  { field: "negation_scale", label: "Negation scale", help: "c of 1 − min(1, c·x)", min: 0.05, step: 0.05, ran: (it) => round(it.negation_scale) },
  { field: "sharpness", label: "Sharpness", help: "The factor of scores before a softmax", min: 0.05, step: 0.05, ran: (it) => round(it.sharpness) },
  { field: "max_seconds", label: "Stop after", help: "Seconds; the best answers so far are shown", min: 0.1, step: 0.1, limit: "seconds" },
  { field: "max_rows", label: "Rows at most", help: "Stop there, with the best so far", min: 1, step: 1, limit: "rows" },
];

/** What the server allows where a person sets no limit. */
const allowed = (limit: string, most: number) => (limit === "seconds" ? `${grouped(most)} s` : grouped(most));

/** What a setting does, and how far the server lets it go. */
const allowing = (help: string, most: number | undefined) => (most === undefined ? help : `${help}; this server allows ${grouped(most)}`);

const round = (value: number) => String(Math.round(value * 1000) / 1000);

export function SettingsDrawer({ onClose }: { onClose(): void }) {
  const limits = useStore(serverState, (it) => it.info?.limits);
  const settings = useStore(askState, (it) => it.settings);
  const reply = useStore(askState, (it) => it.reply);
  const set = (field: keyof AskSettings, value: unknown) => setSettings({ ...settings, [field]: value === "" ? undefined : value });
  const ran = reply?.settings;
  // Tooltips need a mouse: what a setting does is also said below, for the one that is being changed.
  const [help, setHelp] = useState("");
  const automatic = (value: string | undefined) => (value ? `auto: ${value}` : "auto");
  return (
    <div
      class="drawer" role="group" aria-label="Settings"
      onKeyDown={(event) => event.key === "Escape" && (event.preventDefault(), event.stopPropagation(), onClose())}
    >
      <p class="fine">
        {ran?.tuned_for
          ? <>What is on <em>auto</em> was tuned for questions of the shape <b>{ran.tuned_for}</b>. Choosing one of the settings below replaces all tuned ones together.</>
          : <>What is on <em>auto</em> is chosen by the engine{ran ? "; beside it stands what ran last" : ""}. Nothing was tuned for this shape of question.</>}
      </p>
      <div class="fields">
        {CHOICES.map(({ field, label, help, values, ran: ranWith }) => (
          <label key={field} title={help} onFocusCapture={() => setHelp(`${label}: ${help}`)}>
            <span>{label}</span>
            <select value={String(settings[field] ?? "")} onChange={(event) => set(field, event.currentTarget.value)}>
              <option value="">{automatic(settings[field] === undefined && reply && ran ? ranWith?.(ran, reply.method) : undefined)}</option>
              {values.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
            </select>
          </label>
        ))}
        {AMOUNTS.map(({ field, label, help, min, max, step, ran: ranWith, limit }) => (
          <label key={field} title={allowing(help, limit && limits?.[limit])} onFocusCapture={() => setHelp(`${label}: ${allowing(help, limit && limits?.[limit])}`)}>
            <span>{label}</span>
            <input
              type="number" min={min} max={max ?? (limit && limits?.[limit])} step={step} value={settings[field] === undefined ? "" : String(settings[field])}
              placeholder={ranWith ? automatic(ran ? ranWith(ran) : undefined) : limit && limits ? allowed(limit, limits[limit]) : "auto"}
              onInput={(event) => set(field, event.currentTarget.value === "" ? "" : Number(event.currentTarget.value))}
            />
          </label>
        ))}
      </div>
      <p class="fine field-help" role="status">{help || "Choose a setting to read what it does."}</p>
      <div class="switches">
        <label class="switch"><input type="checkbox" checked={settings.paper ?? false} onChange={(event) => set("paper", event.currentTarget.checked || "")} /> beam as in the paper</label>
        <label class="switch"><input type="checkbox" checked={settings.either_side ?? false} onChange={(event) => set("either_side", event.currentTarget.checked || "")} /> score atoms from the cheaper side</label>
        <span class="space" />
        <button type="button" class="quiet" onClick={() => setSettings({ new_only: settings.new_only })}>All on auto</button>
      </div>
    </div>
  );
}
