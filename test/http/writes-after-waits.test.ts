// A write goes by what its project's configuration says when the store is asked to write, whatever
// it waited for before: turns of the event loop, or what it reads.

import { expect, it } from "vitest";
import type { FairShareLimiter, ProjectLimiter } from "../../dataplane/admission/fair-share.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createPlanCache } from "../../dataplane/operation/plan-cache.ts";
import type { CachedPlan } from "../../dataplane/pipeline.ts";
import { createPipelineWorld, type PipelineWorldOptions, type PlainRequest } from "../support/http/pipeline-world.ts";
import { apikey, changed, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const anyType = withResource("books", { schema: { type: "object", properties: { title: {} } } });
const numbersOnly = withResource("books", { schema: { type: "object", properties: { title: { type: "number" } } } });
const rootKey = withRootKey("doc", { initialValue: '{"title":"before"}' });
const shop = project("shop", withKey("reader", { role: "Administrators" }), rootKey, anyType);
const withWriter = changed(shop, withKey("writer", { role: "Administrators" }));

type Change = (memory: MemoryDirectory) => void;

type Sent = Partial<Pick<PlainRequest, "body" | "headers">>;

async function openAsking(options: Pick<PipelineWorldOptions, "fairShare" | "wrapStore">) {
  const clock = manualClock();
  const memory = createMemoryDirectory(clock);
  memory.replace([withWriter]);
  const plans = createPlanCache<CachedPlan>();
  memory.directory.onChange(plans.drop);
  const world = await createPipelineWorld({ directory: memory.directory, clock, plans, ...options });
  const ask = (method: string, path: string, key: string, { body, headers }: Sent = {}) =>
    world.ask({
      method,
      url: `/default/shop${path}`,
      headers: {
        host: "plane.test",
        authorization: apikey(key),
        ...(body && { "content-type": "application/json" }),
        ...headers,
      },
      body,
    });
  return { memory, ask, close: world.close };
}

/** Every turn counts as waited for. The changes happen in turns from that one on, one in each. */
async function openWorld(changing: number, ...changes: readonly Change[]) {
  let waits = 0;
  let isOn = false;
  const limiter: ProjectLimiter = {
    async runFairly(work) {
      if (isOn) waits += 1;
      if (isOn) changes[waits - changing]?.(memory);
      return work();
    },
    acquire: () => ({ release: () => undefined }),
  };
  const fairShare: FairShareLimiter = { of: () => limiter };
  const { memory, ask, close } = await openAsking({ fairShare });
  return {
    ask,
    close,
    /** Asks, and says how many turns that took. */
    async counted<T>(asking: () => Promise<T>): Promise<{ readonly result: T; readonly waits: number }> {
      isOn = true;
      const result = await asking();
      isOn = false;
      return { result, waits };
    },
  };
}

interface Write {
  readonly method: string;
  readonly path: string;
}

const after: Sent = { body: '{"title":"after"}' };
const create: Write = { method: "POST", path: "/api/books" };
const update: Write = { method: "PUT", path: "/api/books/{id}" };
const patch: Write = { method: "PATCH", path: "/json/doc" };

/** Status of the write, and whether it is stored, for each turn in which the project may change. */
async function outcomes({ method, path: template }: Write, change: Change) {
  const seen: { readonly status: number; readonly isWritten: boolean }[] = [];
  for (let changing = 1; ; changing += 1) {
    const world = await openWorld(changing, change);
    const { body: before } = await world.ask("POST", "/api/books", "reader", { body: '{"title":"before"}' });
    const path = template.replace("{id}", JSON.parse(before).id);
    const { result, waits } = await world.counted(() => world.ask(method, path, "writer", after));
    const { body } = await world.ask("GET", path, "reader");
    await world.close();
    if (waits < changing) return seen;
    seen.push({ status: result.status, isWritten: body.includes("after") });
  }
}

it.each([create, update, patch])(
  "a revoked key writes nothing by $method $path, whatever turn it waited for",
  async (write) => {
    const seen = await outcomes(write, (memory) => void memory.replace([shop]));
    expect(seen.length).toBeGreaterThan(3);
    expect(seen).toEqual(seen.map(() => ({ status: 401, isWritten: false })));
  },
);

it.each([create, { method: "PUT", path: "/json/doc" }])(
  "a key that is revoked while $method $path is decided again writes nothing",
  async ({ method, path }) => {
    const other: Change = (memory) => void memory.replace([changed(withWriter, withKey("more"))]);
    const revoked: Change = (memory) => void memory.replace([shop]);
    // Three turns decide, the fourth reads the body, the fifth validates an object.
    for (const changing of method === "PUT" ? [4] : [4, 5]) {
      for (const between of [[], [() => undefined], [() => undefined, () => undefined]]) {
        const world = await openWorld(changing, other, ...between, revoked);
        const { result } = await world.counted(() => world.ask(method, path, "writer", after));
        await world.close();
        expect(result.status).toBe(401);
      }
    }
  },
);

it("no object is stored by a schema that changed while it waited", async () => {
  const seen = await outcomes(create, (memory) => void memory.replace([changed(withWriter, numbersOnly)]));
  expect(seen.filter(({ isWritten }) => isWritten)).toEqual([]);
  expect(seen.at(-1)).toMatchObject({ status: 503 });
});

it.each<[string, Change]>([
  ["elsewhere", (memory) => void memory.put(project("another"))],
  ["of its project and not of its resource", (memory) => void memory.replace([changed(withWriter, withKey("more"))])],
])("what changes %s refuses no write", async (_, change) => {
  for (const write of [create, patch]) {
    const seen = await outcomes(write, change);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.map(() => ({ status: write === create ? 201 : 200, isWritten: true })));
  }
});

it.each([
  ["/api/books", "POST", { "idempotency-key": '"k-1"' }],
  ["/api/books/{id}", "PUT", {}],
  ["/api/books/{id}", "PATCH", {}],
  ["/api/books/{id}", "DELETE", { "if-match": "*" }],
  ["/json/doc/more", "POST", { "idempotency-key": '"k-1"' }],
  ["/json/doc", "PATCH", {}],
  ["/json/doc", "PUT", { "if-match": "*" }],
  ["/json/doc", "PUT", {}],
])(
  "a key that is revoked while its write reads from the store writes nothing to %s by %s",
  async (template, method, headers) => {
    let afterRead: (() => void) | undefined;
    const read = async <T>(reading: Promise<T>): Promise<T> => {
      const result = await reading;
      afterRead?.();
      return result;
    };
    const { memory, ask, close } = await openAsking({
      wrapStore: (store) => ({
        ...store,
        read: (...at) => read(store.read(...at)),
        readAt: (...at) => read(store.readAt(...at)),
        putAt: (...at) => read(store.putAt(...at)),
        idempotencyRecord: (...of) => read(store.idempotencyRecord(...of)),
      }),
    });
    const created = await ask("POST", "/api/books", "reader", { body: '{"title":"before"}' });
    const path = template.replace("{id}", JSON.parse(created.body).id);
    const seen = async () => [await ask("GET", "/api/books", "reader"), await ask("GET", "/json/doc", "reader")];
    const bodies = async () => (await seen()).map(({ body }) => body);
    const before = await bodies();
    afterRead = () => void memory.replace([shop]);
    const { status } = await ask(method, path, "writer", { ...after, headers });
    afterRead = undefined;
    expect([status, await bodies()]).toEqual([401, before]);
    await close();
  },
);
