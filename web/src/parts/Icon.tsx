/** The few pictures that buttons carry. */
const PATHS = {
  sun: "M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6Z",
  moon: "M13.2 9.8A5.7 5.7 0 0 1 6.2 2.8a5.7 5.7 0 1 0 7 7Z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a3 3 0 0 1 4.3 4.3L11.2 9M9 11.5l-1.2 1.2a3 3 0 0 1-4.3-4.3L4.8 7",
  download: "M8 2.5v7.5M4.8 7l3.2 3.2L11.2 7M2.5 13.5h11",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  chevron: "M4.5 6.5 8 10l3.5-3.5",
  clock: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2ZM8 4.8V8l2.2 1.6",
  tidy: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  compass: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2ZM10.6 5.4 9.2 9.2 5.4 10.6 6.8 6.8Z",
  sliders: "M2.5 4.5h5M11.5 4.5h2M2.5 11.5h2M8.5 11.5h5M9.5 2.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4ZM6.5 9.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4Z",
  bulb: "M6 11.5h4M6.5 13.5h3M8 2.2a4.2 4.2 0 0 1 2.4 7.6c-.4.3-.6.9-.6 1.7H6.2c0-.8-.2-1.4-.6-1.7A4.2 4.2 0 0 1 8 2.2Z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">
      <path d={PATHS[name]} />
    </svg>
  );
}
