/** A link to this question, commands that ask it, and the reply as files. */
import { askState, shareLink } from "../state/ask";
import { serverState } from "../state/server";
import { useStore } from "../state/store";
import { copyText, download } from "../parts/hooks";
import { say } from "../parts/notice";
import { Popup } from "../parts/Popup";
import { Icon } from "../parts/Icon";
import { asCli, asCsv, asCurl, asPython } from "./copy";

export function Share() {
  const reply = useStore(askState, (it) => it.reply);
  const asked = useStore(askState, (it) => it.asked);
  const check = useStore(askState, (it) => it.check);
  // The name of the project may come after the answers.
  const project = useStore(serverState, (it) => it.info?.name);
  if (!reply || !asked) return null;
  const copy = async (what: string, text: string) => say((await copyText(text)) ? `${what} copied` : `The browser does not let ${what} be copied`);
  const sparql = check?.query === asked.question ? check.sparql : null;
  const entries: [string, string | null | undefined][] = [
    ["CLI command", asCli(asked, project)], ["curl", asCurl(asked)], ["Python", asPython(asked)], ["SPARQL", sparql],
  ];
  return (
    <>
      <button type="button" class="quiet" onClick={() => void copy("Link", shareLink())}><Icon name="link" /> <span>Share</span></button>
      <Popup label="Copy" icon="copy" side="right">
        {(close) => (
          <ul class="choices short">
            {entries.map(([what, text]) => text && (
              <li key={what}><button type="button" onClick={() => (void copy(what, text), close())}>as {what}</button></li>
            ))}
          </ul>
        )}
      </Popup>
      <Popup label="Download" icon="download" side="right">
        {(close) => (
          <ul class="choices short">
            <li><button type="button" onClick={() => (download("answers.json", "application/json", `${JSON.stringify(reply, null, 2)}\n`), close())}>JSON</button></li>
            <li><button type="button" onClick={() => (download("answers.csv", "text/csv", asCsv(reply)), close())}>CSV</button></li>
          </ul>
        )}
      </Popup>
    </>
  );
}
