/** How often predictions of a truth value are right: on the diagonal, a truth value is a probability. */
import type { Reliability as Measured } from "../api/types";
import { grouped, number } from "../parts/text";

const SIDE = 240;
const EDGE = { left: 56, right: 14, top: 14, bottom: 34 };

export function Reliability({ measured }: { measured: Measured }) {
  if (!measured.bins.length) return <p class="hint">No prediction for the validation edges reaches a truth of 0.05, so there is nothing to count.</p>;
  const most = Math.max(...measured.bins.map((it) => it.predictions));
  const x = (share: number) => EDGE.left + share * SIDE;
  const y = (share: number) => EDGE.top + (1 - share) * SIDE;
  const places = measured.bins.map((it) => ({ ...it, x: x(it.truth), y: y(it.confirmed) }));
  const line = places.map((it, index) => `${index ? "L" : "M"}${it.x.toFixed(1)} ${it.y.toFixed(1)}`).join("");
  const said = measured.bins.map((it) => `of ${grouped(it.predictions)} predictions near ${number(it.truth)}, ${number(it.confirmed)} are confirmed`).join("; ");
  return (
    <figure class="curve reliability">
      <svg viewBox={`0 0 ${EDGE.left + SIDE + EDGE.right} ${EDGE.top + SIDE + EDGE.bottom}`} role="img" aria-label={`Truth values against the share of predictions that stored edges confirm: ${said}`}>
        {[0, 0.5, 1].map((share) => <line key={share} class="grid" x1={x(0)} x2={x(1)} y1={y(share)} y2={y(share)} />)}
        <line class="ideal" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
        <path class="mrr" d={line} />
        {places.map((it) => <circle key={it.truth} class="mrr-dot" cx={it.x} cy={it.y} r={2.5 + 4 * Math.sqrt(it.predictions / most)}><title>{`truth ${number(it.truth)}: ${number(it.confirmed)} of ${grouped(it.predictions)} confirmed`}</title></circle>)}
        {[0, 0.5, 1].map((share) => <text key={share} x={x(0) - 6} y={y(share) + 4} text-anchor="end">{share}</text>)}
        {[0, 0.5, 1].map((share) => <text key={share} x={x(share)} y={y(0) + 16} text-anchor={share === 1 ? "end" : share ? "middle" : "start"}>{share}</text>)}
        <text x={x(0.5)} y={y(0) + 31} text-anchor="middle">truth value</text>
        <text x={12} y={y(0.5)} text-anchor="middle" transform={`rotate(-90 12 ${y(0.5)})`}>share confirmed</text>
      </svg>
      <figcaption class="fine">
        Share of predictions that an edge outside training confirms, by truth value; the larger a dot, the more predictions. On the dashed line a truth value is a probability.
        Mean distance {number(measured.error)}, {grouped(measured.predictions)} predictions. The graph is incomplete, so the shares are lower bounds.
      </figcaption>
    </figure>
  );
}
