// Random calls of sessions and Counters, and a time of day that moves on. Lives and windows last
// minutes at least: Redis lets keys expire, and windows end, by its own clock, which a sequence
// must not run into.

import fc from "fast-check";
import type { ProjectRef } from "../../../core/config/types.ts";
import type { Budget } from "../../../dataplane/store/ports/limits.ts";
import type { SessionRecord } from "../../../dataplane/store/ports/sessions.ts";
import { type Call, call, type Subject } from "./store-call.ts";

const username = fc.constantFrom("a", "a:b", "ab", "", "a\u0001");
const projectUid = fc.constantFrom("p", "q", "");
const someName = fc.option(username, { nil: undefined });
const index = fc.nat({ max: 3 });

const few = { maxPerUser: 3, maxPerProject: 6 };
/**
 * Redis counts the sessions that live by its own time: which those are, both stores say alike only
 * until the clock moves on.
 */
const plenty = { maxPerUser: 1_000, maxPerProject: 1_000 };

/** A session of its own time each: how ties are listed, the port leaves open. */
const puts = call(
  "putSession",
  fc.tuple(username, projectUid, fc.constantFrom(-1, 0, 100, 200, 1_000)),
  async (subject, [name, of, life]) => {
    const now = Math.floor(subject.clock.now() / 1_000);
    subject.made += 1;
    const id = `${subject.project.namespace}.${subject.made}`;
    const times = { created: now + subject.made, lastRefresh: now, expires: now + life };
    const session = { id, projectUid: of, username: name, credentialRevision: "1", ...times };
    return subject.store.putSession(subject.project, session, subject.clockMoved ? plenty : few);
  },
);

const lists = call(
  "sessions",
  fc.tuple(someName, fc.integer({ min: 1, max: 5 })),
  ({ store, project }, [name, limit]) =>
    store.sessions(project, { limit, ...(name !== undefined && { username: name }) }),
);

async function existing({ store, project }: Subject, at: number): Promise<SessionRecord> {
  const gone = {
    id: "gone",
    projectUid: "p",
    username: "a",
    credentialRevision: "1",
    created: 1,
    lastRefresh: 1,
    expires: 2,
  };
  return (await store.sessions(project, { limit: 10 }))[at] ?? gone;
}

const touches = call("touchSession", index, async (subject, at) => {
  const { id, created } = await existing(subject, at);
  return [
    await subject.store.touchSession(subject.project, id, created + at),
    await subject.store.session(subject.project, id),
  ];
});

const ends = call("endSession", index, async (subject, at) => {
  const { id } = await existing(subject, at);
  return [await subject.store.endSession(subject.project, id, 300), await subject.store.session(subject.project, id)];
});

/** As long as it takes: how many go in one step is each store's own. */
const purges = call("purgeSessions", projectUid, async ({ store, project }, uid) => {
  let cursor: string | undefined = "";
  do cursor = await store.purgeSessions(project, uid || "another", cursor);
  while (cursor !== undefined);
});

const kinds = fc.uniqueArray(fc.constantFrom("x", "y", "z"), { maxLength: 2 });

function budgets({ namespace, name }: ProjectRef, names: readonly string[]): readonly Budget[] {
  const sizes = new Map([
    ["x", { limit: 2, windowSeconds: 100 }],
    ["y", { limit: 3, windowSeconds: 1_000 }],
  ]);
  const empty = { limit: 0, windowSeconds: 60 };
  return names.map((kind) => ({ name: `${kind}:${namespace}/${name}:1`, ...(sizes.get(kind) ?? empty) }));
}

/** How long to wait is left out: each store's own time goes by as it does. */
const spends = call("spend", kinds, async ({ store, project }, names) => {
  return (await store.spend(budgets(project, names))).outcome;
});
const refunds = call("refund", kinds, ({ store, project }, names) => store.refund(budgets(project, names)));
const passings = call(
  "the time of day moves on",
  fc.constantFrom(1, 999, 1_000, 50_000, 99_999, 100_000, 900_000),
  async (subject, by) => {
    subject.clockMoved = true;
    subject.clock.adjust(by);
  },
);

export const sharedCalls: fc.Arbitrary<Call> = fc.oneof(
  { weight: 5, arbitrary: puts },
  { weight: 3, arbitrary: lists },
  { weight: 2, arbitrary: touches },
  { weight: 2, arbitrary: ends },
  { weight: 1, arbitrary: purges },
  { weight: 6, arbitrary: spends },
  { weight: 2, arbitrary: refunds },
  { weight: 2, arbitrary: passings },
);
