// Reads everything back through one replica once nobody writes any more: every object that was ever
// made, every register, every list.

import type { Target } from "../ask.ts";
import { only } from "../history.ts";
import { base, listed, writers } from "../project.ts";
import type { ClientDeps } from "./client.ts";

interface Item {
  readonly id: string;
  readonly key: string;
  readonly n: number;
  readonly _metadata: { readonly created: number };
}

interface Page {
  readonly items: readonly Item[];
  readonly links: { readonly next?: string };
}

/**
 * By cursors, which show each object once: a create without an answer may still take effect between
 * two pages, and shift all offsets.
 */
const firstPage = "/api/items?_limit=100&_cursor=";

export async function readEverything({ asker, history, credentials }: ClientDeps, replica: Target): Promise<void> {
  const get = async <T>(path: string): Promise<T> => {
    const { status, text } = await asker.ask(replica, { path: `${base}${path}`, as: credentials.worker });
    if (status !== 200) throw new Error(`GET ${path} at ${replica.name}: ${status} ${text}`);
    return JSON.parse(text) as T;
  };
  const from = history.now();
  const items: Item[] = [];
  for (let path: string | undefined = firstPage; path !== undefined; ) {
    const page: Page = await get<Page>(path);
    items.push(...page.items);
    path = page.links.next?.split(base)[1];
  }
  const lists = await get<Readonly<Record<string, readonly number[]>>>("/json/log");
  const registers = await get<Readonly<Record<string, number | null>>>("/json/registers");
  const span = { from, to: history.now() };

  const found = new Map(items.map((item) => [`object:${item.key}`, item.n]));
  for (const [key, same] of Map.groupBy(items, (item) => item.key)) {
    if (same.length > 1) history.unexpected(`The object ${key} was made twice: ${same.map(described).join(", ")}`);
  }
  const cells = new Set(only(history.entries, "write").map(({ cell }) => cell));
  for (const cell of [...cells, ...found.keys()].filter((name) => name.startsWith("object:"))) {
    history.add({ kind: "read", cell, value: found.get(cell) ?? null, ...span });
  }
  for (const name of listed) history.add({ kind: "list", list: name, values: lists[name] ?? [], ...span });
  for (const name of writers) {
    history.add({ kind: "read", cell: `register:${name}`, value: registers[name] ?? null, ...span });
  }
}

function described({ id, n, _metadata }: Item): string {
  return `${id} (n ${n}, created ${_metadata.created})`;
}
