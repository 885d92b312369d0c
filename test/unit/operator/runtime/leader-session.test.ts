// A leader's session over an API server in this process and a publisher that keeps what it gets:
// what it does first, what it does last, and that nothing is written once the Lease is lost. What
// Redis does in between, tests of the operator prove on a real one.

import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newRingKey } from "../../../../core/config/keyring.ts";
import type { JsonObject } from "../../../../core/config/types.ts";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import type { EventObservation } from "../../../../operator/events/event-recorder.ts";
import { newRingSecret, ringAnnotations } from "../../../../operator/keyring/ring-secret.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import { type Leadership, NotTheLeader } from "../../../../operator/lead/elector.ts";
import type { RolloutState } from "../../../../operator/publish/acknowledgements.ts";
import { RedisContested } from "../../../../operator/publish/refusals.ts";
import { LeaderSession } from "../../../../operator/runtime/leader-session.ts";
import type { LeaderRedis, OpenRedisDeps } from "../../../../operator/runtime/open-redis.ts";
import { newSecret } from "../../../../operator/secrets/installation-secret.ts";
import type { CacheListener, Caches } from "../../../../operator/watch/caches.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { type ManualTime, manualTime, settled } from "../../../support/time/manual-time.ts";
import { type Opened, oldRing, openedRedis } from "./opened-redis.ts";
import { cachesOver, sessionContext } from "./session-context.ts";

const writeVerbs = new Set(["create", "replace", "apply", "delete"]);

let server: FakeApiServer;
let api: KubeApi;
let caches: Caches;
let listener: CacheListener | undefined;
/** What happened, in order. */
let events: string[];
let ending: AbortController;
let held: boolean;
/** Of the session; the caches have the system's. */
let time: ManualTime;

beforeEach(async () => {
  time = manualTime();
  [events, ending, held, listener] = [[], new AbortController(), true, undefined];
  server = await startFakeApiServer();
  api = fakeApiClient(server);
  server.objects.create("/namespaces", { metadata: { name: "default" } });
});

afterEach(async () => {
  ending.abort();
  await caches.stop();
  await api.close();
  await server.close();
});

const leadership: Leadership = {
  held: () => held,
  get ended() {
    return ending.signal;
  },
  confirm: async () => held,
  async release() {
    await new Promise((resolve) => setImmediate(resolve));
    events.push("release");
    held = false;
    ending.abort();
  },
};

function declare(
  kind: "Project" | "ApiResource" | "RootKey",
  name: string,
  spec: Parameters<typeof stored>[2] = {},
): void {
  const plural = { Project: "projects", ApiResource: "apiresources", RootKey: "rootkeys" }[kind];
  server.objects.create(`jsonplane.io/${plural}`, { ...stored(kind, name, spec) });
}

interface WrittenStatus {
  readonly conditions?: readonly { type: string; status: string; reason: string; message: string }[];
}

const statusOf = (plural: string, name: string): WrittenStatus =>
  (server.objects.get(`jsonplane.io/${plural}`, "default", name)?.["status"] ?? {}) as WrittenStatus;
const conditionOf = (plural: string, name: string, wanted: string) =>
  statusOf(plural, name).conditions?.find(({ type }) => type === wanted);
const readyOf = (plural: string, name: string) => conditionOf(plural, name, "Ready");

const writes = () =>
  server.requests.filter(({ verb }) => writeVerbs.has(verb)).map(({ verb, collection }) => `${verb} ${collection}`);

/** Caches that know all of it, and a session that wasn't started. */
async function sessionOf(open: (deps: OpenRedisDeps) => Promise<LeaderRedis>): Promise<LeaderSession> {
  caches = cachesOver({ api, listener: () => listener });
  caches.start();
  await eventually(() => expect(caches.synced()).toBe(true), { withinMs: 30_000 });
  const observeEvent = (observation: EventObservation): void => {
    if (observation.kind === "dropped") events.push(`Event dropped: ${observation.why}`);
  };
  const context = sessionContext({ api, caches, timers: time.timers, observeEvent });
  const session = new LeaderSession(leadership, context, open);
  listener = session.listener;
  return session;
}

const away = async (): Promise<never> => {
  throw new StoreUnavailable("Redis is away");
};

const opened = (options: Opened = {}) => openedRedis(events, options);

/** Waits for what takes requests to the API server. */
async function soon(expected: () => void): Promise<void> {
  await eventually(expected, { withinMs: 30_000 });
}

/** Nothing waits and nothing is worked on. */
async function idle(session: LeaderSession): Promise<void> {
  await soon(() => expect(session.figures()).toMatchObject({ live: 0, bulk: 0, workingSeconds: [] }));
}

describe("a session that begins", () => {
  it("looks at every Project that is there, and at children without one, though Redis can't be reached: the statuses say so", async () => {
    declare("Project", "shop");
    declare("RootKey", "settings", { spec: { projectRef: { name: "nowhere" } } });
    const session = await sessionOf(away);
    session.start();
    for (const [plural, name] of [
      ["projects", "shop"],
      ["rootkeys", "settings"],
    ] as const) {
      await soon(() => expect(readyOf(plural, name)?.message).toMatch(/can't be written to Redis/));
    }
    expect(session.replicas()).toBeUndefined();
    await session.stop();
  });

  it("verifies, publishes everything and says that it is complete, without waiting for a timer", async () => {
    declare("Project", "shop");
    declare("ApiResource", "books");
    const { open, configs } = opened({
      async verify() {
        events.push("verify");
        return "writer";
      },
    });
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect(events).toEqual(expect.arrayContaining(["verify", "complete"])));
    expect([...(configs.get("shop")?.resources.keys() ?? [])]).toEqual(["books"]);
    await soon(() => expect(readyOf("apiresources", "books")?.reason).toBe("Ready"));
    expect(session.replicas()).toEqual({ live: 2, refusals: 1 });
    await session.stop();
  });

  it("leaves a host to the Project that is published with it, whoever claimed it first", async () => {
    const claims = { spec: { hosts: ["a.example.org"] } };
    for (const name of ["elder", "holder"]) declare("Project", name, claims);
    const holder = { namespace: "default", name: "holder", hosts: ["a.example.org"], revision: 1 };
    const { open, configs } = opened({ published: [holder] });
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect([...configs.keys()].sort()).toEqual(["elder", "holder"]));
    expect(configs.get("holder")?.project.hosts).toEqual(["a.example.org"]);
    expect(configs.get("elder")?.project.hosts).toEqual([]);
    await session.stop();
  });

  it("looks first at the Projects that Redis has lost", async () => {
    for (let at = 0; at < 10; at += 1) declare("Project", `shop-${at}`);
    const { open, loads } = opened({ lost: ["default/shop-8", "default/shop-9"] });
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect(new Set(loads).size).toBe(10));
    // Two workers have begun to wait for Redis by then.
    expect(loads.slice(0, 4)).toEqual(expect.arrayContaining(["shop-8", "shop-9"]));
    await session.stop();
  });
});

describe("a session that runs", () => {
  it("looks at what changes", async () => {
    const { open, configs } = opened();
    const session = await sessionOf(open);
    session.start();
    declare("Project", "late");
    await soon(() => expect(configs.has("late")).toBe(true));
    await session.stop();
  });

  it("says of everything that it may be served no more, once its Redis is another installation's, and that it is when it is back", async () => {
    declare("Project", "shop");
    declare("ApiResource", "books");
    const objects = [
      ["projects", "shop"],
      ["apiresources", "books"],
    ] as const;
    const refusal = new RedisContested("there/uid/hash");
    let taken = false;
    const { open } = opened({
      verify: async () => (taken ? "lost" : "writer"),
      mayBegin() {
        if (taken) throw refusal;
      },
    });
    const session = await sessionOf(open);
    session.start();
    for (const [plural, name] of objects) await soon(() => expect(readyOf(plural, name)?.reason).toBe("Ready"));
    await idle(session);
    const before = statusOf("projects", "shop");
    taken = true;
    await time.advance(2_200);
    for (const [plural, name] of objects) {
      await soon(() => expect(readyOf(plural, name)).toMatchObject({ reason: "RedisContested" }));
      expect(readyOf(plural, name)?.message).toBe(refusal.message);
      expect(conditionOf(plural, name, "Programmed")?.status).toBe("False");
    }
    // The day the Redis is back everything is as it was.
    expect({ ...statusOf("projects", "shop"), conditions: [] }).toEqual({ ...before, conditions: [] });
    taken = false;
    await time.advance(2_200);
    for (const [plural, name] of objects) await soon(() => expect(readyOf(plural, name)?.reason).toBe("Ready"));
    await session.stop();
  });

  it("keeps an object whose Project is missing with its finalizer, and lets it go once it is deleted", async () => {
    const books = () => server.objects.get("jsonplane.io/apiresources", "default", "books");
    declare("ApiResource", "books", { spec: { projectRef: { name: "nowhere" }, deletionPolicy: "Delete" } });
    const session = await sessionOf(opened().open);
    session.start();
    await soon(() => expect(books()?.metadata["finalizers"]).toEqual(["jsonplane.io/purge"]));
    server.objects.remove("jsonplane.io/apiresources", "default", "books");
    await soon(() => expect(books()).toBeUndefined());
    await session.stop();
  });

  it("looks again at a Project once replicas have acknowledged what they had not while its status was written", async () => {
    declare("Project", "shop");
    let now: RolloutState = "waiting";
    const { open, loads, acknowledged } = opened({ awaitRollout: async () => now, rolloutOf: () => now });
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect(readyOf("projects", "shop")?.reason).toBe("WaitingForReplicas"));
    // With the first look everything has to say whether it is available.
    acknowledged();
    await idle(session);
    const before = loads.length;
    acknowledged();
    await idle(session);
    expect(loads).toHaveLength(before);
    now = "programmed";
    acknowledged();
    await soon(() => expect(readyOf("projects", "shop")?.reason).toBe("Ready"));
    await session.stop();
  });

  it("looks again at a Project that was acknowledged while its status was written: nobody tells of that any more", async () => {
    declare("Project", "shop");
    let looks = 0;
    const awaitRollout = async (): Promise<RolloutState> => {
      looks += 1;
      // The last of those that start and begin make; then the acknowledgement comes.
      return looks <= 2 ? "waiting" : "programmed";
    };
    const { open } = opened({ awaitRollout });
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect(readyOf("projects", "shop")?.reason).toBe("Ready"));
    await session.stop();
  });

  it("seals anew, by the worker of each Project, what another key than the ring's first has sealed", async () => {
    declare("Project", "shop");
    const newKey = newRingKey(randomBytes);
    const ringPlace = { namespace: "jsonplane-system", name: "jsonplane-keyring" };
    const secret = newSecret(
      ringPlace,
      newRingSecret({ ...oldRing, keys: [newKey, ...oldRing.keys] }, randomBytes(32)),
    );
    const annotations = { [ringAnnotations.rotating]: newKey.kid };
    const metadata = { ...(secret.metadata as JsonObject), annotations };
    server.objects.create("/secrets", { ...secret, metadata });
    const { open } = opened({ published: [{ namespace: "default", name: "shop", hosts: [], revision: 1 }] });
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect(events).toContain("complete"));
    expect(events.filter((each) => each.startsWith("reseal"))).toEqual([]);
    await time.advance(5_000);
    await soon(() => expect(events).toContain("reseal shop with the new key"));
    await session.stop();
  });
});

describe("a session that ends", () => {
  it("finishes the work under way, then gives the Lease back, and lets go of Redis last", async () => {
    declare("Project", "shop");
    const reading = Promise.withResolvers<never>();
    const { open, loads } = opened({ load: () => reading.promise });
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect(loads).toEqual(["shop"]));
    expect(session.figures().workingSeconds).toHaveLength(1);
    const stopping = session.stop().then(() => events.push("stopped"));
    await settled();
    expect(events).toEqual(["begin"]);
    reading.reject(new NotTheLeader("no"));
    await stopping;
    expect(events).toEqual(["begin", "release", "stop listening", "disconnect", "stopped"]);
  });

  it("drops the Events that wait before it gives the Lease back", async () => {
    for (const name of ["shop", "blog"]) declare("Project", name);
    server.setFaults(({ collection }) => (collection.endsWith("/events") ? { kind: "hang" } : undefined));
    const { open } = opened();
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect(events).toContain("complete"));
    await idle(session);
    await session.stop();
    const dropped = events.indexOf("Event dropped: stopped");
    expect(dropped).toBeGreaterThan(-1);
    expect(events.indexOf("release")).toBeGreaterThan(dropped);
  });

  it("waits for maintenance's last look", async () => {
    const looking = Promise.withResolvers<"writer">();
    const { open } = opened({ verify: () => looking.promise });
    const session = await sessionOf(open);
    session.start();
    await soon(() => expect(events).toContain("begin"));
    const stopping = session.stop().then(() => events.push("stopped"));
    await soon(() => expect(events).toContain("release"));
    for (let count = 0; count < 10; count += 1) await settled();
    expect(events).not.toContain("stopped");
    looking.resolve("writer");
    await stopping;
  });

  it("calls off the work under way when the Lease is lost", async () => {
    declare("Project", "shop");
    const waiting = Promise.withResolvers<void>();
    const { open } = opened({
      awaitRollout(_revision, _within, signal) {
        waiting.resolve();
        return new Promise((resolve) => {
          if (signal?.aborted) resolve("waiting");
          signal?.addEventListener("abort", () => resolve("waiting"));
        });
      },
    });
    const session = await sessionOf(open);
    session.start();
    await waiting.promise;
    ending.abort(new Error("the Lease was lost"));
    await soon(() => expect(session.figures().workingSeconds).toEqual([]));
    await session.stop();
  });

  it("that never reached Redis ends as well", async () => {
    const session = await sessionOf(away);
    session.start();
    await session.stop();
    expect(events).toEqual(["release"]);
  });

  it.each<readonly [string, () => void]>([
    [
      "is not held any more",
      () => {
        held = false;
      },
    ],
    ["was taken", () => ending.abort()],
  ])("writes nothing to the API server once the Lease %s", async (_, lose) => {
    declare("Project", "shop");
    const session = await sessionOf(away);
    lose();
    session.start();
    await session.stop();
    expect(writes()).toEqual([]);
  });
});
