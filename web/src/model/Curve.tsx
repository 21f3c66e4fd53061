/** Loss and validation MRR over the epochs. */
import type { CurvePoint } from "../api/types";
import { number } from "../parts/text";

const WIDTH = 520;
const HEIGHT = 220;
const EDGE = { left: 56, right: 58, top: 14, bottom: 30 };

export function Curve({ points }: { points: CurvePoint[] }) {
  const last = Math.max(...points.map((it) => it.epoch), 1);
  const first = Math.min(...points.map((it) => it.epoch));
  const losses = points.map((it) => it.loss);
  const measured = points.flatMap((it) => (it.valid ? [{ epoch: it.epoch, mrr: it.valid.mrr }] : []));
  const topLoss = Math.max(...losses);
  const lowLoss = Math.min(...losses);
  const topMrr = Math.max(...measured.map((it) => it.mrr), 0.001);
  const x = (epoch: number) => EDGE.left + ((epoch - first) / Math.max(1, last - first)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (share: number) => HEIGHT - EDGE.bottom - share * (HEIGHT - EDGE.top - EDGE.bottom);
  const lossY = (loss: number) => y((loss - lowLoss) / Math.max(topLoss - lowLoss, 1e-9));
  const mrrY = (mrr: number) => y(mrr / (topMrr * 1.1));
  const line = (places: [number, number][]) => places.map(([a, b], index) => `${index ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
  const best = measured.reduce((found, it) => (it.mrr > found.mrr ? it : found), measured[0] ?? { epoch: last, mrr: 0 });
  return (
    <figure class="curve">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Over ${last} epochs the loss went from ${losses[0]?.toFixed(2)} to ${losses.at(-1)?.toFixed(2)}; the best validation MRR was ${number(best.mrr)}, after epoch ${best.epoch}`}>
        {[0, 0.5, 1].map((share) => <line key={share} class="grid" x1={EDGE.left} x2={WIDTH - EDGE.right} y1={y(share)} y2={y(share)} />)}
        <path class="loss" d={line(points.map((it) => [x(it.epoch), lossY(it.loss)]))} />
        <path class="mrr" d={line(measured.map((it) => [x(it.epoch), mrrY(it.mrr)]))} />
        {measured.map((it) => <circle key={it.epoch} class="mrr-dot" cx={x(it.epoch)} cy={mrrY(it.mrr)} r={it === best ? 4.5 : 2.5} />)}
        <text x={EDGE.left - 6} y={y(1) + 4} text-anchor="end">{number(topMrr * 1.1)}</text>
        <text x={EDGE.left - 6} y={y(0) + 4} text-anchor="end">0</text>
        <text x={WIDTH - EDGE.right + 6} y={y(1) + 4}>{topLoss.toFixed(1)}</text>
        <text x={WIDTH - EDGE.right + 6} y={y(0) + 4}>{lowLoss.toFixed(1)}</text>
        <text x={12} y={y(0.5)} text-anchor="middle" transform={`rotate(-90 12 ${y(0.5)})`}>validation MRR</text>
        <text x={WIDTH - 8} y={y(0.5)} text-anchor="middle" transform={`rotate(-90 ${WIDTH - 8} ${y(0.5)})`}>loss</text>
        <text x={EDGE.left} y={HEIGHT - 8}>epoch {first}</text>
        <text x={WIDTH - EDGE.right} y={HEIGHT - 8} text-anchor="end">{last}</text>
      </svg>
      <figcaption class="fine"><span class="key mrr-key" /> validation MRR (left), best {number(best.mrr)} <span class="key loss-key" /> loss (right)</figcaption>
    </figure>
  );
}
