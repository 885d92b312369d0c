// Whatever a request asks for and whatever becomes of it, it holds a slot of its project, or its
// project is charged for a turn: no kind of request is free.

import { beforeEach, expect, it } from "vitest";
import { type FairShareLimiter, RefusedLate } from "../../dataplane/admission/fair-share.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createPlanCache } from "../../dataplane/operation/plan-cache.ts";
import type { CachedPlan } from "../../dataplane/pipeline.ts";
import { createPipelineWorld, type PipelineWorld, type PlainRequest } from "../support/http/pipeline-world.ts";
import {
  apikey,
  type Modifier,
  project,
  withKey,
  withLimits,
  withResource,
  withServing,
} from "../support/http/projects.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const books = [
  withKey("reader", { access: "Read" }),
  withKey("writer"),
  withResource("books", { scope: { read: "All" } }),
];
const named = (name: string, ...modifiers: readonly Modifier[]) => project(name, ...books, ...modifiers);
const projects = [
  named("shop"),
  named("limited", withLimits({ rate: { project: { requestsPerSecond: 0.01, burst: 1 } } })),
  named("frozen", withServing("ReadOnly")),
  named("off", withServing("Off")),
];

const noProject = "no project";

let world: PipelineWorld;
/** Of whom a slot or a turn was asked for. */
let charged: string[];
/** Every turn comes too late. */
let isLate: boolean;

beforeEach(async () => {
  isLate = false;
  const clock = manualClock();
  const memory = createMemoryDirectory(clock);
  memory.replace(projects);
  const plans = createPlanCache<CachedPlan>();
  memory.directory.onChange(plans.drop);
  const fairShare: FairShareLimiter = {
    of: (of) => ({
      runFairly(work) {
        if (isLate) throw new RefusedLate();
        charged.push(of?.config.name ?? noProject);
        return work();
      },
      acquire() {
        charged.push(of?.config.name ?? noProject);
        return { release: () => undefined };
      },
    }),
  };
  world = await createPipelineWorld({ directory: memory.directory, clock, plans, fairShare });
  return world.close;
});

const request = (method: string, url: string, key = "writer"): PlainRequest => ({
  method,
  url,
  headers: { host: "plane.test", ...(key && { authorization: apikey(key) }) },
});

const withIdempotencyKey = (key: string) => ({ ...request("POST", "").headers, "idempotency-key": key });

it.each<[number, string, PlainRequest]>([
  [200, "shop", request("GET", "/default/shop/api/books")],
  [204, "shop", request("OPTIONS", "/default/shop/api/books", "")],
  [200, "shop", request("GET", "/default/shop/openapi.json")],
  [404, noProject, request("GET", "/default/none/api/books")],
  [404, noProject, request("GET", "/default")],
  [404, "shop", request("GET", "/default/shop/none")],
  [401, "shop", request("GET", "/default/shop/api/books", "none")],
  [403, "shop", request("POST", "/default/shop/api/books", "reader")],
  [400, "shop", { ...request("POST", "/default/shop/api/books"), headers: withIdempotencyKey("") }],
  [429, "limited", request("GET", "/default/limited/api/books")],
  [403, "frozen", request("POST", "/default/frozen/api/books")],
  [503, "off", request("GET", "/default/off/api/books")],
])("an answer %i is charged to %s, decided anew or not", async (status, name, asked) => {
  await world.ask(asked);
  charged = [];
  expect((await world.ask(asked)).status).toBe(status);
  expect(charged).toContain(name);
});

it("an answer stays what it is although its turn comes too late", async () => {
  isLate = true;
  expect((await world.ask(request("GET", "/default/none/api/books"))).status).toBe(404);
});
