// The three hottest paths as requests, and the objects that they ask for.

import type { LoadRequest } from "./load.ts";
import type { Plane } from "./stage.ts";
import { bookText } from "./subjects.ts";

const json = { "content-type": "application/json" };

/** `base` of any replica that serves the project. */
export function hottestRequests(
  base: string,
  admin: string,
  ids: readonly string[],
): Readonly<Record<string, LoadRequest>> {
  const headers = { authorization: `apikey ${admin}` };
  return {
    "get, API key": { url: `${base}/api/books/${ids[0]}`, headers },
    "list of 10, sorted": { url: `${base}/api/books?_sort=-price`, headers },
    "create, three indexes": {
      url: `${base}/api/books`,
      method: "POST",
      headers: { ...headers, ...json },
      body: bookText(1),
    },
  };
}

/** Ids of new books. */
export async function fillBooks({ base, admin }: Plane, count: number, resource = "books"): Promise<readonly string[]> {
  const headers = { authorization: `apikey ${admin}`, ...json };
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const reply = await fetch(`${base}/api/${resource}`, { method: "POST", headers, body: bookText(at) });
    if (reply.status !== 201) throw new Error(`A book was answered with ${reply.status}: ${await reply.text()}`);
    ids.push(((await reply.json()) as { id: string }).id);
  }
  return ids;
}
