/** Where the texts of edges stand: beside their line, and over no node, no other text and no other line. */
import { labelOffset, type Point, type Size } from "./layout";

/** An edge that is drawn: its ends, the middle of its line, which may be bent, and the size of its text. */
export interface Line { from: Point; to: Point; middle: Point; text: Size }
export interface Box { x1: number; y1: number; x2: number; y2: number }

/** Places along a line that are tried for its text, from the middle outwards. */
const ALONG = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];
/** How near a text may come to what it must not cover. */
const NEAR = 2;

/** For each line the offset of its text from the middle of the line. */
export function placeTexts(lines: Line[], nodes: Box[], centre: Point): Point[] {
  const taken: Box[] = [];
  const paths = lines.map((line) => Array.from({ length: 17 }, (_, step) => at(line, (step + 1) / 18)));
  return lines.map((line, index) => {
    if (!line.text.width) return { x: 0, y: 0 };
    let best = { offset: { x: 0, y: 0 }, cost: Infinity };
    const outside = labelOffset(line.from, line.to, line.text, centre);
    for (const [order, t] of ALONG.entries()) {
      for (const side of [1, -1]) {
        const point = at(line, t);
        const place = { x: point.x + side * outside.x, y: point.y + side * outside.y };
        const box = boxAt(place, line.text);
        const covered = nodes.reduce((sum, node) => sum + overlap(box, node), 0) + taken.reduce((sum, text) => sum + overlap(box, text), 0);
        const crossed = paths.reduce((count, path, other) => count + (other === index ? 0 : path.filter((it) => inside(it, box)).length), 0);
        // Away from the middle, and on the inner side, only if that helps.
        const cost = covered * 4 + crossed * 40 + order * 6 + (side < 0 ? 5 : 0);
        if (cost < best.cost) best = { offset: { x: place.x - line.middle.x, y: place.y - line.middle.y }, cost };
      }
    }
    taken.push(boxAt({ x: line.middle.x + best.offset.x, y: line.middle.y + best.offset.y }, line.text));
    return best.offset;
  });
}

/** A point of a line, bent so that it goes through its middle. */
function at({ from, to, middle }: Line, t: number): Point {
  const bend = 4 * t * (1 - t);
  const along = (a: number, b: number, m: number) => a + (b - a) * t + bend * (m - (a + b) / 2);
  return { x: along(from.x, to.x, middle.x), y: along(from.y, to.y, middle.y) };
}

const boxAt = ({ x, y }: Point, { width, height }: Size): Box => ({ x1: x - width / 2, y1: y - height / 2, x2: x + width / 2, y2: y + height / 2 });
const inside = ({ x, y }: Point, box: Box) => x > box.x1 && x < box.x2 && y > box.y1 && y < box.y2;

function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1) + NEAR;
  const height = Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1) + NEAR;
  return width > 0 && height > 0 ? width * height : 0;
}
