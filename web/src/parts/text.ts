/** How names and numbers are read. */

/** The name of a thing for people: its text, or its label if that reads better. */
export function nameOf(thing: { text: string; label?: string | null }): string {
  return thing.text;
}

/** The label, if it is different from the text. */
export function labelOf(thing: { text: string; label?: string | null }): string | null {
  return thing.label && thing.label !== thing.text ? thing.label : null;
}

/** A truth value with three digits: `.133`, `1.00`; very small ones keep their power: `3e-5`. */
export function number(value: number): string {
  if (value >= 0.9995) return value.toFixed(2);
  if (value <= 0) return "0";
  if (value < 0.0005) return value.toExponential(0).replace("e-", "e−");
  return value.toFixed(3).replace(/^0/, "");
}

/** A count with its thousands apart. */
export const grouped = (count: number): string => Math.round(count).toLocaleString("en");

export const plural = (count: number, one: string, many = `${one}s`): string => `${grouped(count)} ${count === 1 ? one : many}`;

export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let power = 0;
  while (count >= 1000 && power < units.length - 1) {
    count /= 1000;
    power++;
  }
  return `${count < 10 && power ? count.toFixed(1) : Math.round(count)} ${units[power]}`;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(1, Math.round(ms))} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function age(seconds: number): string {
  const steps: [number, string][] = [[60, "minute"], [3600, "hour"], [86_400, "day"], [2_592_000, "month"]];
  const step = steps.filter(([length]) => seconds >= length).pop();
  if (!step) return "just now";
  return `${plural(Math.floor(seconds / step[0]), step[1])} ago`;
}

const PREDICTORS: Record<string, string> = { complex: "ComplEx", distmult: "DistMult", cp: "CP", rotate: "RotatE", transe: "TransE" };

/** A link predictor as its authors write it. */
export const predictor = (name: string): string => PREDICTORS[name] ?? name;
