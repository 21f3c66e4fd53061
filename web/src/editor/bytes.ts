/** The server counts bytes of UTF-8, the editor UTF-16 units. */
const encoder = new TextEncoder();

export const bytesBefore = (text: string, index: number): number => encoder.encode(text.slice(0, index)).length;

/** The index in a string of a byte of its UTF-8; for a byte behind the end, the end. */
export function indexOfByte(text: string, byte: number): number {
  let bytes = 0;
  let index = 0;
  for (const letter of text) {
    if (bytes >= byte) break;
    const code = letter.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    index += letter.length;
  }
  return index;
}
