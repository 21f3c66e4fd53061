/** One thing with its edges, or one relation with what it connects. */
import { useMemo, useState } from "preact/hooks";
import { server } from "../api/client";
import type { Description, Edge, EdgesOf, MissingEdge } from "../api/types";
import { openQuestion } from "../state/ask";
import { address, follow, go, useRoute } from "../router";
import { written } from "../question/name";
import { Drawing } from "../drawing/Drawing";
import { useLoaded, useMedia } from "../parts/hooks";
import { Problem } from "../parts/Problem";
import { Standing } from "../parts/Standing";
import { grouped, labelOf, nameOf, number, plural } from "../parts/text";
import { neighbourhood } from "./neighbourhood";

const PAGE = 12;

export function EntityView({ name }: { name: string }) {
  const { query } = useRoute();
  const predicted = query.get("predicted") === "true";
  const wide = useMedia("(min-width: 1080px)");
  const narrow = useMedia("(max-width: 559px)");
  const show = (next: boolean) => go("explore", { name, predicted: next ? "true" : undefined }, true);
  const loaded = useLoaded(() => server.describe({ name, limit: PAGE, predicted }), [name, predicted]);
  const description = loaded.value;
  if (loaded.state === "failed") return <Problem failure={loaded.failure} />;
  if (!description) return <div class="skeleton tall shown"><span class="unseen">Loading…</span></div>;
  const entity = description.kind === "entity";
  const neighbours = entity && <Neighbours key={description.name} description={description} narrow={narrow} />;
  return (
    <div class="entity">
      <section class="panel entity-main" aria-labelledby="entity-name">
        <header>
          <h1 id="entity-name">{nameOf(description)}</h1>
          {labelOf(description) && <p>{labelOf(description)}</p>}
          <p class="fine">{description.kind} · {plural(description.edges, "edge")}{description.name !== description.text && <> · <code>{description.name}</code></>}</p>
          <div class="toolbar">
            {entity && <AskFromHere description={description} />}
            {entity && (
              <button type="button" class="quiet" aria-pressed={predicted} onClick={() => show(!predicted)}>
                {loaded.state === "loading" && predicted ? "Predicting…" : predicted ? "Hide predicted edges" : "Show predicted edges"}
              </button>
            )}
          </div>
        </header>
        {!wide && neighbours}
        {description.predicted && <Predicted edges={description.predicted} self={description.id} evidence={description.evidence} />}
        {description.relations.map((group) => <Group key={group.relation + group.direction} group={group} name={name} self={description} />)}
        {!description.relations.length && <p class="hint">No stored edge.</p>}
      </section>
      {wide && neighbours}
    </div>
  );
}

/** A button that writes a question about this thing. */
function AskFromHere({ description }: { description: Description }) {
  const first = [...description.relations].sort((a, b) => b.count - a.count)[0];
  if (!first) return null;
  return <button type="button" class="main" onClick={() => openQuestion(questionFor(description, first), false)}>Ask from here</button>;
}

function questionFor(description: Description, group: EdgesOf): string {
  const [self, relation] = [written(description.text), written(group.relation_text)];
  return group.direction === "incoming" ? `?X : ${relation}(X, ${self})` : `?X : ${relation}(${self}, X)`;
}

function Group({ group, name, self }: { group: EdgesOf; name: string; self: Description }) {
  const [more, setMore] = useState<Edge[]>([]);
  const [failed, setFailed] = useState("");
  const edges = [...group.edges, ...more];
  const left = group.count - group.offset - edges.length;
  const load = async () => {
    try {
      const page = await server.describe({ name, relation: group.relation, direction: group.direction === "both" ? undefined : group.direction, offset: edges.length, limit: 50 });
      const same = page.relations.find((it) => it.relation === group.relation && it.direction === group.direction);
      setMore([...more, ...(same?.edges ?? [])]);
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
    }
  };
  const heading = group.direction === "incoming" ? `← ${group.relation_text}` : group.direction === "outgoing" ? `${group.relation_text} →` : group.relation_text;
  return (
    <section class="group">
      <h2>
        <a href={address("explore", { name: group.relation })} onClick={(event) => follow(event, "explore", { name: group.relation })}>{heading}</a>
        <span class="count">{grouped(group.count)}</span>
        {self.kind === "entity" && <button type="button" class="quiet small" onClick={() => openQuestion(questionFor(self, group), true)}>ask</button>}
      </h2>
      <ul class="edges">
        {edges.map((edge) => <EdgeItem key={`${edge.head}\n${edge.tail}`} edge={edge} direction={group.direction} />)}
      </ul>
      {left > 0 && <button type="button" class="quiet small" onClick={() => void load()}>{grouped(left)} more</button>}
      {failed && <p class="fine wrong" role="alert">{failed}</p>}
    </section>
  );
}

function EdgeItem({ edge, direction }: { edge: Edge; direction: EdgesOf["direction"] }) {
  const held = edge.split === "train" ? null : <small class="split"> {edge.split}</small>;
  const link = (name: string, text: string) => <a href={address("explore", { name })} onClick={(event) => follow(event, "explore", { name })}>{text}</a>;
  if (direction === "both") return <li class="pair">{link(edge.head, edge.head_text)} → {link(edge.tail, edge.tail_text)}{held}</li>;
  return <li>{direction === "outgoing" ? link(edge.tail, edge.tail_text) : link(edge.head, edge.head_text)}{held}</li>;
}

/** What speaks for predicted edges, where it is not the model alone. */
const SPEAKS: Record<string, string> = { both: " by model and rules", rules: " by rules" };

function Predicted({ edges, self, evidence }: { edges: MissingEdge[]; self: number; evidence?: string | null }) {
  const link = (it: MissingEdge["subject"]) => it.id === self ? <b>{nameOf(it)}</b> : <a href={address("explore", { name: it.name })} onClick={(event) => follow(event, "explore", { name: it.name })}>{nameOf(it)}</a>;
  return (
    <section class="group predicted-group">
      <h2><Standing kind="predicted" text={`predicted${SPEAKS[evidence ?? ""] ?? ""}, not stored`} /><span class="count">{edges.length}</span></h2>
      {!edges.length && <p class="hint">The model finds no likely edge that is missing here.</p>}
      <table class="atoms">
        <thead class="unseen"><tr><th scope="col">edge</th><th scope="col">truth</th></tr></thead>
        <tbody>
          {edges.map((it, index) => (
            <tr key={index}>
              <td><span class="relation">{nameOf(it.relation)}</span>({link(it.subject)}, {link(it.object)})</td>
              <td class="score">{number(it.truth)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Neighbours({ description, narrow }: { description: Description; narrow: boolean }) {
  const scene = useMemo(() => neighbourhood(description, narrow), [description, narrow]);
  const entities = new Map(scene.nodes.map((node) => [node.id, node.entity]));
  return (
    <section class="neighbours" aria-label="Neighbourhood">
      <Drawing
        scene={scene} most={560} least={200} label={`${nameOf(description)} and ${plural(scene.nodes.length - 1, "neighbour")}; the lists say the same.`}
        listener={{
          picked: (pick) => {
            const entity = pick?.kind === "node" ? entities.get(pick.id) : undefined;
            if (entity && entity !== description.name) go("explore", { name: entity });
          },
        }}
      />
      <p class="fine">Click a thing to go there.</p>
    </section>
  );
}
