/** A text field with a list of suggestions. */
import { useEffect, useId, useRef, useState } from "preact/hooks";

export interface Option { key: string; text: string; detail?: string }

interface Props {
  label: string;
  hideLabel?: boolean;
  value: string;
  placeholder?: string;
  autoFocus?: boolean;
  /** Finds suggestions for a text; called after a short pause. */
  find(text: string, signal: AbortSignal): Promise<Option[]>;
  onInput(text: string): void;
  onPick(option: Option): void;
  /** Called for Enter if nothing is chosen from the list. */
  onEnter?(text: string): void;
}

const PAUSE_MS = 120;

export function Combobox({ label, hideLabel, value, placeholder, autoFocus, find, onInput, onPick, onEnter }: Props) {
  const id = useId();
  const [options, setOptions] = useState<Option[]>([]);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const typed = useRef(false);
  const input = useRef<HTMLInputElement>(null);

  useEffect(() => {
    if (autoFocus) input.current?.focus();
  }, []);
  useEffect(() => {
    if (!typed.current) return;
    const aborted = new AbortController();
    const timer = setTimeout(() => {
      find(value, aborted.signal).then(
        (found) => {
          if (aborted.signal.aborted) return;
          setOptions(found);
          setActive(-1);
          setOpen(found.length > 0);
        },
        () => {},
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [value]);

  const pick = (option: Option) => {
    typed.current = false;
    setOpen(false);
    onPick(option);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      event.stopPropagation();
      if (!open) {
        typed.current = true;
        void find(value, new AbortController().signal).then((found) => {
          setOptions(found);
          setOpen(found.length > 0);
        }, () => {});
        return;
      }
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((active + step + options.length) % options.length);
    } else if (event.key === "Enter") {
      const option = options[active];
      if (open && option) {
        event.preventDefault();
        pick(option);
      } else if (onEnter) {
        event.preventDefault();
        setOpen(false);
        onEnter(value);
      }
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      setOpen(false);
    }
  };
  return (
    <div class="combobox">
      <label for={id} class={hideLabel ? "unseen" : undefined}>{label}</label>
      <input
        id={id} ref={input} type="text" value={value} placeholder={placeholder} autocomplete="off" spellcheck={false}
        role="combobox" aria-expanded={open} aria-controls={`${id}-list`} aria-autocomplete="list"
        aria-activedescendant={open && active >= 0 ? `${id}-${active}` : undefined}
        onInput={(event) => {
          typed.current = true;
          onInput(event.currentTarget.value);
        }}
        onKeyDown={keys}
        onBlur={() => setTimeout(() => setOpen(false), 120)}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={label} hidden={!open}>
        {options.map((option, index) => (
          <li
            key={option.key} id={`${id}-${index}`} role="option" aria-selected={index === active}
            onPointerDown={(event) => event.preventDefault()} onClick={() => pick(option)}
          >
            <span>{option.text}</span>
            {option.detail && <small>{option.detail}</small>}
          </li>
        ))}
      </ul>
    </div>
  );
}
