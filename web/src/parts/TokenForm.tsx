/** Asks for the token of a server that needs one. */
import { useEffect, useRef, useState } from "preact/hooks";
import { token } from "../api/token";

export function TokenForm() {
  const [value, setValue] = useState("");
  const input = useRef<HTMLInputElement>(null);
  // Nothing else on the page is of use before.
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      class="banner token"
      onSubmit={(event) => {
        event.preventDefault();
        token.set(value.trim());
        location.reload();
      }}
    >
      <label for="token">This server wants a token.</label>
      <input ref={input} id="token" type="password" autocomplete="off" value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      <button type="submit" class="main small" disabled={!value.trim()}>Use it</button>
      <span class="fine">It is kept in this tab only.</span>
    </form>
  );
}
