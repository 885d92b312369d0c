// The open streams of a replica: which permits they take, and when they give them back.

import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { afterEach, expect, it } from "vitest";
import type { ErrorCode } from "../../../../core/errors/catalogue.ts";
import { Problem } from "../../../../core/errors/problem.ts";
import { createFairShareLimiter } from "../../../../dataplane/admission/fair-share.ts";
import { createMemoryBudget } from "../../../../dataplane/admission/memory-budgets.ts";
import type { Source } from "../../../../dataplane/changes/sources.ts";
import { createStreams, type Streams } from "../../../../dataplane/changes/streams.ts";
import { createUnreadRoom } from "../../../../dataplane/changes/unread-room.ts";
import type { LiveProject } from "../../../../dataplane/config/directory.ts";
import { type ManualTime, manualTime } from "../../../support/time/manual-time.ts";

const books = { project: { namespace: "default", name: "shop", uid: "u" }, resource: "books" };
const shop = { config: { uid: "u" } } as LiveProject;
const begun = "1-0.00000000";

interface World {
  readonly streams: Streams;
  readonly time: ManualTime;
}

let world: World;

function openWorld(maxStreams: number): World {
  const time = manualTime();
  const store = {
    changesAfter: async () => ({ outcome: "changes" as const, changes: [] }),
    newestChange: async () => begun,
    readObjects: () => Readable.from([]),
    onChanges: () => () => undefined,
  };
  const { clock, timers } = time;
  const streams = createStreams({
    store,
    clock,
    timers,
    maxStreams,
    fairShare: createFairShareLimiter(clock),
    room: createUnreadRoom(createMemoryBudget(1_000)),
    onFailure: () => undefined,
    onRefused: () => undefined,
  });
  world = { streams, time };
  return world;
}

afterEach(() => world.streams.close());

it("gives the permit of a client back that left before its stream began", async () => {
  const { streams } = openWorld(8);
  const permit = streams.take("default/shop", "apikey:alice");
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.destroy();
  await new Promise((closed) => response.once("close", closed));
  const beginning = { subscriptions: [], events: [] };
  streams.open({ project: "default/shop", beginning, sources: [], response, release: permit.release });
  expect(streams.count()).toBe(0);
  // It was the caller's only permit.
  streams.take("default/shop", "apikey:alice").release();
});

function sourceThat(isStillAllowed: Source["isStillAllowed"]): Source {
  const view = { eventsOf: () => [], seenIn: () => begun };
  return { of: books, view, isStillAllowed, expiresAt: () => Number.POSITIVE_INFINITY, project: () => shop };
}

/** Opens a stream of it, and returns what the stream has written by the end. */
async function endingOf({ streams, time }: World, source: Source): Promise<string> {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const written: string[] = [];
  response.write = (text: string) => written.push(text) > 0;
  response.end = ((text: string) => written.push(text)) as never;
  const { feedOf, release } = streams.take("default/shop", "apikey:alice");
  const feed = feedOf(books, begun);
  const beginning = {
    subscriptions: [{ feed, view: source.view, position: begun, seen: begun, since: 0 }],
    events: [],
  };
  streams.open({ project: "default/shop", beginning, sources: [source], response, release });
  await time.advance(1_000);
  response.emit("close");
  return written.at(-1) ?? "";
}

it("resets a stream of those who may not go on, and lets others connect again while that is not known", async () => {
  const opened = openWorld(80);
  const refused = (code: ErrorCode) => sourceThat(() => Promise.reject(new Problem(code, "")));
  expect(await endingOf(opened, refused("invalid_credentials"))).toContain("event: reset");
  expect(await endingOf(opened, refused("unknown_resource"))).toContain('"deleted"');
  for (const code of ["project_busy", "project_unavailable", "store_unavailable"] as const) {
    expect(await endingOf(opened, refused(code))).toMatch(/^retry: \d+\n\n$/);
  }
  const failed = sourceThat(() => Promise.reject(new Error("The store is away")));
  expect(await endingOf(opened, failed)).toMatch(/^retry: \d+\n\n$/);
});

it("asks no stream again while it waits for the answer", async () => {
  let asked = 0;
  const hanging = sourceThat(() => {
    asked += 1;
    return new Promise(() => undefined);
  });
  const opened = openWorld(80);
  const ending = endingOf(opened, hanging);
  opened.streams.checkProject("default/shop");
  opened.streams.checkProject("default/shop");
  await ending;
  expect(asked).toBe(1);
});
