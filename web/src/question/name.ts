/** A name as it must be written in a question. */
const PLAIN = /^[\p{L}_/][\p{L}\p{N}_/]*(?:[.:-][\p{L}\p{N}_/]+)*$/u;
const WORDS = /^(?:and|or|not|exists|forall)$/i;

/** In quotes, unless it is a plain word that cannot be mistaken for a variable. */
export function written(name: string): string {
  const plain = PLAIN.test(name) && !WORDS.test(name) && [...name].length > 2;
  if (plain) return name;
  const escaped = name.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t");
  return `"${escaped}"`;
}
