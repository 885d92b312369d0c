// The open streams of a replica: which places they take, and when they give them back.

import { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { afterEach, expect, it } from "vitest";
import { createFairShareLimiter } from "../../../../dataplane/admission/fair-share.ts";
import { createStreams, type Streams } from "../../../../dataplane/changes/streams.ts";
import { type ManualTime, manualTime } from "../../../support/time/manual-time.ts";

const books = { project: { namespace: "default", name: "shop", uid: "u" }, resource: "books" };
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
    readObjects: () => Readable.from([]),
    onChanges: () => () => undefined,
  };
  const { clock, timers } = time;
  const streams = createStreams({
    ...{ store, clock, timers, maxStreams },
    fairShare: createFairShareLimiter(clock),
    onFailure: () => undefined,
    onRefused: () => undefined,
  });
  world = { streams, time };
  return world;
}

afterEach(() => world.streams.close());

it("gives the place of a client back that left before its stream began", async () => {
  const { streams } = openWorld(8);
  const place = streams.take(books, "apikey:alice", begun);
  const response = new ServerResponse({ method: "GET", httpVersionMajor: 1, httpVersionMinor: 1 } as never);
  response.destroy();
  await new Promise((closed) => response.once("close", closed));
  const beginning = { tracks: [], events: [] };
  streams.open({ project: "default/shop", beginning, sources: [], response, release: place.release });
  expect(streams.count()).toBe(0);
  // It was the caller's only place.
  streams.take(books, "apikey:alice", begun).release();
});
