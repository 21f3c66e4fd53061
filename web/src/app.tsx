/** The frame around the three views. */
import { useEffect, useState } from "preact/hooks";
import { AskPage } from "./ask/AskPage";
import { ExplorePage } from "./explore/ExplorePage";
import { ModelPage } from "./model/ModelPage";
import { address, follow, useRoute, type View } from "./router";
import { connection, connectionState } from "./state/connection";
import { loadExamples } from "./state/ask";
import { loadInfo, serverState } from "./state/server";
import { useStore } from "./state/store";
import { tokenState } from "./api/token";
import { Icon } from "./parts/Icon";
import { Keys } from "./parts/Keys";
import { Notice } from "./parts/notice";
import { onTheme, theme, toggleTheme } from "./parts/theme";
import { TokenForm } from "./parts/TokenForm";
import { number, predictor } from "./parts/text";

const VIEWS: [View, string][] = [["ask", "Ask"], ["explore", "Explore"], ["model", "Model"]];

export function App() {
  const { view } = useRoute();
  const lost = useStore(connectionState, (it) => it.lost);
  const wanted = useStore(tokenState, (it) => it.wanted);
  const [keys, setKeys] = useState(false);
  useEffect(() => {
    void loadInfo();
    void loadExamples();
    const listen = (event: KeyboardEvent) => {
      const target = event.composedPath()[0] as HTMLElement;
      if (event.key === "?" && !target.isContentEditable && !/^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) setKeys(true);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
  useEffect(() => {
    document.title = view === "ask" ? "Relatum" : `${VIEWS.find(([id]) => id === view)?.[1]} · Relatum`;
  }, [view]);
  return (
    <>
      <Header view={view} onKeys={() => setKeys(true)} />
      {lost && (
        <div class="banner" role="alert">
          The server does not answer. Trying again… <button type="button" class="quiet small" onClick={() => void connection.again()}>Try now</button>
        </div>
      )}
      {wanted && <TokenForm />}
      {view === "ask" && <AskPage />}
      {view === "explore" && <ExplorePage />}
      {view === "model" && <ModelPage />}
      <Notice />
      {keys && <Keys onClose={() => setKeys(false)} />}
    </>
  );
}

function Header({ view, onKeys }: { view: View; onKeys(): void }) {
  const info = useStore(serverState, (it) => it.info);
  const [dark, setDark] = useState(theme() === "dark");
  useEffect(() => onTheme(() => setDark(theme() === "dark")), []);
  const model = info?.model;
  return (
    <header class="top">
      <a class="brand" href={address("ask")} onClick={(event) => follow(event, "ask")}>
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true"><path d="M10 22 22 10" stroke="currentColor" stroke-width="2.5" stroke-dasharray="3.2 2.6" /><circle cx="9" cy="23" r="5.5" fill="currentColor" /><circle cx="23" cy="9" r="5" fill="none" stroke="currentColor" stroke-width="2.5" /></svg>
        Relatum
      </a>
      {info && (
        <p class="about">
          <b>{info.name}</b>
          {model
            ? <a href={address("model")} onClick={(event) => follow(event, "model")}>
              {[model.predictor ? predictor(model.predictor) : null, model.rank ? `rank ${model.rank}` : null, model.valid ? `valid MRR ${number(model.valid.mrr)}` : null].filter(Boolean).join(" · ") || model.name}
            </a>
            : <span>no model yet</span>}
        </p>
      )}
      <span class="space" />
      <nav aria-label="Views">
        {VIEWS.map(([id, text]) => (
          <a key={id} href={address(id)} aria-current={id === view ? "page" : undefined} onClick={(event) => follow(event, id)}>{text}</a>
        ))}
      </nav>
      <button type="button" class="quiet round keys-button" aria-label="Keys" title="Keys (?)" onClick={onKeys}>?</button>
      <button type="button" class="quiet round" aria-label={dark ? "Light colours" : "Dark colours"} title={dark ? "Light colours" : "Dark colours"} onClick={toggleTheme}>
        <Icon name={dark ? "sun" : "moon"} />
      </button>
    </header>
  );
}
