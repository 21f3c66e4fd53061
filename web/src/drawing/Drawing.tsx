/** A scene on the screen: a canvas with a description for screen readers. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Listener, Picture } from "./cytoscape";
import type { Scene } from "./scene";
import { onTheme } from "../parts/theme";

interface Props {
  scene: Scene;
  /** What the picture shows, in words. */
  label: string;
  most: number;
  least: number;
  listener?: Listener;
  marked?: string | null;
  faded?: boolean;
  /** Whether nodes that stay keep their places: for pictures that are edited, not replaced. */
  keep?: boolean;
  /** Whether there are buttons in its upper right corner. */
  tools?: boolean;
  /** Called once the picture is ready. */
  onPicture?(picture: Picture | null): void;
  children?: ComponentChildren;
}

export function Drawing({ scene, label, most, least, listener, marked, faded, keep, tools, onPicture, children }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const picture = useRef<Picture | null>(null);
  const latest = useRef({ scene, listener });
  latest.current = { scene, listener };
  const [height, setHeight] = useState(least);
  const [tip, setTip] = useState<{ text: string; x: number; y: number } | null>(null);

  useEffect(() => {
    let gone = false;
    let release = () => {};
    void import("./cytoscape").then(({ makePicture }) => {
      if (gone || !element.current) return;
      const made = makePicture(element.current, { most, least, tools }, {
        picked: (pick) => latest.current.listener?.picked?.(pick),
        hovered: (id, text, at) => {
          setTip(id && text && at ? { text, ...at } : null);
          latest.current.listener?.hovered?.(id, text, at);
        },
        changed: () => latest.current.listener?.changed?.(),
      });
      picture.current = made;
      made.show(latest.current.scene, { fresh: true });
      setHeight(made.wantedHeight());
      const watcher = new ResizeObserver(() => {
        made.settle();
        setHeight(made.wantedHeight());
      });
      watcher.observe(element.current);
      const offTheme = onTheme(() => made.repaint());
      release = () => {
        watcher.disconnect();
        offTheme();
        made.destroy();
      };
      onPicture?.(made);
    });
    return () => {
      gone = true;
      picture.current = null;
      onPicture?.(null);
      release();
    };
  }, []);

  useEffect(() => {
    const made = picture.current;
    if (!made) return;
    setTip(null);
    made.show(scene, { fresh: !keep });
    setHeight(made.wantedHeight());
  }, [scene]);

  // After the new height has taken effect.
  useEffect(() => picture.current?.settle(), [scene, height]);

  useEffect(() => picture.current?.mark(marked ?? null), [marked, scene]);

  return (
    <div class={faded ? "drawing faded" : "drawing"} style={{ height: `${height}px` }}>
      <div class="drawing-canvas __________cytoscape_container" ref={element} role="img" aria-label={label} />
      {tip && <div class="tip" style={{ left: `${tip.x}px`, top: `${tip.y}px` }} aria-hidden="true">{tip.text}</div>}
      {children}
    </div>
  );
}
