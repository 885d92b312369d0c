// Changes as JSON: for jobs, and for proxies that keep a stream back.

import type { Collection } from "../collection.ts";
import { differ, same } from "../differs.ts";
import type { Rule } from "./rule.ts";

interface JsonChanges {
  readonly changes: readonly { readonly event: string; readonly data: Readonly<Record<string, unknown>> }[];
  readonly position: string;
}

export const jsonRules: readonly Rule[] = [
  {
    says: "as JSON an empty _position stands for now, and each answer has the next position",
    async check(collection) {
      const before = await collection.create();
      const { position } = await changesBehind(collection, "");
      const created = await collection.create();
      const found = await changesUntil(collection, position, created.id, "put");
      same("what was told of an object from before", found.of(before.id), []);
      const [change] = found.of(created.id);
      same("the etag", change?.data["etag"], created.etag);
      await collection.remove(created);
      await changesUntil(collection, found.position, created.id, "delete");
    },
  },
  {
    says: "as JSON, Prefer: wait waits for a change, and Preference-Applied says so",
    async check(collection) {
      const { position } = await changesBehind(collection, "");
      const waiting = changesUntil(collection, position, undefined, "put");
      await collection.create();
      const { applied } = await waiting;
      same("Preference-Applied", applied, "wait=20");
    },
  },
  {
    says: "a stream and JSON take each other's positions",
    async check(collection) {
      const { position } = await changesBehind(collection, "");
      const created = await collection.create();
      const { id } = await (await collection.follow("", position)).put(created);
      await collection.remove(created);
      await changesUntil(collection, id ?? differ("a put has no id"), created.id, "delete");
    },
  },
  {
    says: "as JSON a position that no log has is answered with 410 position_expired",
    async check(collection) {
      const response = await ask(collection, await collection.unknownPosition());
      const { code } = (await response.json()) as { readonly code?: unknown };
      same("the answer", [response.status, code], [410, "position_expired"]);
    },
  },
];

async function ask(collection: Collection, position: string, headers = {}): Promise<Response> {
  return await collection.ask(`?_position=${encodeURIComponent(position)}`, headers);
}

async function changesBehind(collection: Collection, position: string, headers = {}) {
  const response = await ask(collection, position, headers);
  if (response.status !== 200) differ(`it is answered with ${response.status}: ${await response.text()}`);
  const applied = response.headers.get("preference-applied");
  return { ...((await response.json()) as JsonChanges), applied };
}

/** Asks until a change of this object came, or of any. */
async function changesUntil(collection: Collection, from: string, id: string | undefined, event: string) {
  const all: JsonChanges["changes"][number][] = [];
  const deadline = performance.now() + collection.patienceMs;
  for (let position = from; performance.now() < deadline; ) {
    const answer = await changesBehind(collection, position, { Prefer: "wait=20" });
    all.push(...answer.changes);
    position = answer.position;
    if (all.some((change) => change.event === event && [undefined, change.data["id"]].includes(id))) {
      return { ...answer, of: (wanted: string) => all.filter(({ data }) => data["id"] === wanted) };
    }
  }
  return differ(`a ${event} did not come within ${collection.patienceMs / 1_000} seconds`);
}
