/** What the server serves, and the relations of its graph. */
import { server } from "../api/client";
import type { Info, RelationStats } from "../api/types";
import { connection } from "./connection";
import { createStore } from "./store";

export const serverState = createStore<{ info: Info | null; relations: RelationStats[] | null }>({ info: null, relations: null });

export async function loadInfo() {
  try {
    serverState.set({ info: await server.info() });
  } catch {
    connection.onceFound(() => void loadInfo());
  }
}

/** The relations of the graph; loaded when somebody first needs them. */
export async function relations(): Promise<RelationStats[]> {
  const loaded = serverState.get().relations ?? (await server.relations());
  if (!serverState.get().relations) serverState.set({ relations: loaded });
  return loaded;
}
