/** A button that opens a panel below it. Escape and a click elsewhere close it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./Icon";

interface Props {
  label: string;
  icon?: IconName;
  /** Which side of the button the panel is flush with. */
  side?: "left" | "right";
  class?: string;
  disabled?: boolean;
  children: (close: () => void) => ComponentChildren;
}

export function Popup({ label, icon, side = "left", class: extra, disabled, children }: Props) {
  const [open, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!element.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
    };
  }, [open]);
  const keys = (event: KeyboardEvent) => {
    if (!open) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const items = [...(element.current?.querySelectorAll<HTMLElement>(".popup-panel button, .popup-panel a") ?? [])];
      const now = items.indexOf(document.activeElement as HTMLElement);
      const next = items[now + (event.key === "ArrowDown" ? 1 : -1)] ?? items[event.key === "ArrowDown" ? 0 : items.length - 1];
      next?.focus();
      event.preventDefault();
      event.stopPropagation();
    }
  };
  return (
    <div class={`popup ${extra ?? ""}`} ref={element} onKeyDown={keys}>
      <button type="button" class="quiet" ref={button} aria-expanded={open} disabled={disabled} onClick={() => setOpen(!open)}>
        {icon && <Icon name={icon} />}
        <span>{label}</span>
        <Icon name="chevron" />
      </button>
      {open && <div class={`popup-panel ${side}`}>{children(close)}</div>}
    </div>
  );
}
