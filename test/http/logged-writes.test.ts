// The store keeps a log of changes for references that ask for one: each write's has to, since one
// that doesn't deletes the log.

import { expect, it } from "vitest";
import type { ChangeLogConfig } from "../../core/config/types.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { wrapMethods } from "../../dataplane/store/observed-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { LoggedRef } from "../../dataplane/store/ports/changes.ts";
import { createPipelineWorld, noPlans } from "../support/http/pipeline-world.ts";
import {
  type Modifier,
  project,
  withAuthenticationDisabled,
  withLimits,
  withResource,
  withRootKey,
} from "../support/http/projects.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const ofBooks = { retentionSeconds: 60, maxEntries: 100 };
const ofFlags = { retentionSeconds: 86_400, maxEntries: 1_000_000 };
const writes = ["create", "replace", "remove", "removeUnchanged", "initialise", "insertAt", "putAt", "removeAt"];

type Write = readonly [path: string, method: string, body?: string, headers?: Readonly<Record<string, string>>];

const json = { "content-type": "application/json" };
const patch = { "content-type": "application/merge-patch+json" };
const every: readonly Write[] = [
  ["api/books", "POST", '{"title":"A"}'],
  ["api/books", "POST", '{"title":"B"}', { "idempotency-key": '"b"' }],
  ["api/books/<id>", "PUT", '{"title":"C"}'],
  ["api/books/<id>", "PATCH", '{"title":"D"}', patch],
  ["api/books/<id>", "DELETE", "", { "if-match": "*" }],
  ["api/books/<id>", "DELETE"],
  ["json/flags/dark", "POST", "true"],
  ["json/flags/light", "POST", "true", { "idempotency-key": '"light"' }],
  ["json/flags", "PUT", '{"a":1}'],
  ["json/flags/a", "PUT", "2", { "if-match": "*" }],
  ["json/flags", "PATCH", '{"b":1}', patch],
  ["json/flags/b", "DELETE"],
];

/** One write that reached the store. */
interface Seen {
  readonly call: string;
  /** Of the resource or root key. */
  readonly name: string;
  readonly changes: ChangeLogConfig | undefined;
}

async function writesSeen(...modifiers: readonly Modifier[]): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  const record = (store: Store): Store =>
    wrapMethods(store, (call, method) => (...args) => {
      const ref = args[0] as LoggedRef;
      const isWrite = writes.includes(call);
      if (isWrite) seen.push({ call, name: "resource" in ref ? ref.resource : ref.rootKey, changes: ref.changes });
      return method(...args);
    });
  const clock = manualClock();
  const memory = createMemoryDirectory(clock);
  memory.replace([project("shop", withAuthenticationDisabled(), ...modifiers)]);
  const world = await createPipelineWorld({ directory: memory.directory, clock, plans: noPlans, wrapStore: record });
  const ids: string[] = [];
  for (const [path, method, body, headers] of every) {
    const url = `/default/shop/${path.replace("<id>", ids[0] ?? "")}`;
    const reply = await world.ask({ method, url, body, headers: { ...json, ...headers } });
    expect(reply.status, `${method} ${path}: ${reply.body}`).toBeLessThan(300);
    if (path === "api/books") ids.push((JSON.parse(reply.body) as { readonly id: string }).id);
    else if (method === "DELETE") ids.shift();
  }
  await world.close();
  return seen;
}

const logged = [
  withResource("books", { changes: ofBooks }),
  withRootKey("flags", { initialValue: '{"old":1}', changes: ofFlags }),
];
const quota = withLimits({ quota: { objects: 10, bytes: 100_000, documentKeys: 10 } });

it.each([
  ["without a quota", logged],
  ["with a quota", [...logged, quota]],
])("every write of a project %s tells the store of the log that its manifest declares", async (_what, modifiers) => {
  const seen = await writesSeen(...modifiers);
  expect(new Set(seen.map(({ call }) => call))).toEqual(new Set(writes));
  for (const { name, changes } of seen) expect(changes).toEqual(name === "books" ? ofBooks : ofFlags);
});

it("no write tells the store of a log where none is declared", async () => {
  const seen = await writesSeen(withResource("books"), withRootKey("flags"));
  expect(seen.length).toBeGreaterThanOrEqual(every.length);
  for (const { changes } of seen) expect(changes).toBeUndefined();
});
