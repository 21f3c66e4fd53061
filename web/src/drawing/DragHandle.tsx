/** A small handle at a node: dragging it to another node, or to an empty place, begins a relation. */
import { useState } from "preact/hooks";
import type { Picture } from "./cytoscape";
import type { SceneNode } from "./scene";

interface Props { picture: Picture; node: SceneNode; onDrop(to: string | null): void; onGone(): void }

/** A shorter movement than this is a click. */
const CLICK = 6;

export function DragHandle({ picture, node, onDrop, onGone }: Props) {
  const [end, setEnd] = useState<{ x: number; y: number; over: string | null } | null>(null);
  const place = picture.place(node.id);
  if (!place) return null;
  const start = { x: place.x + place.width / 2 - 3, y: place.y - place.height / 2 + 3 };
  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).closest(".drawing")?.getBoundingClientRect();
    return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
  };
  return (
    <>
      {end && (
        <svg class="rubber" aria-hidden="true">
          <line x1={place.x} y1={place.y} x2={end.x} y2={end.y} />
          {end.over && picture.place(end.over) && <circle cx={picture.place(end.over)?.x} cy={picture.place(end.over)?.y} r={26} />}
        </svg>
      )}
      <button
        type="button" class="drag-handle" style={{ left: `${start.x}px`, top: `${start.y}px` }} tabIndex={-1}
        aria-label={`Add a relation from ${node.text}`} title="Drag to another node, or click"
        onPointerLeave={() => !end && onGone()}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setEnd({ ...point(event), over: null });
        }}
        onPointerMove={(event) => {
          if (!end) return;
          const at = point(event);
          const over = picture.nodeAt(at.x, at.y);
          setEnd({ ...at, over: over === node.id ? null : over });
        }}
        onPointerUp={(event) => {
          if (!end) return;
          const at = point(event);
          const moved = Math.hypot(at.x - start.x, at.y - start.y) > CLICK;
          setEnd(null);
          onDrop(moved ? end.over : null);
        }}
        onPointerCancel={() => setEnd(null)}
        onClick={(event) => event.detail === 0 && onDrop(null)}
      >+</button>
    </>
  );
}
