// Drives the real function of each stage over and over in a process of its own, and prints the CPU time that one call takes. In
// such a loop caches are warm and nothing waits, so these are lower bounds of what a stage takes of a request.

import { createWriteStream } from "node:fs";
import type { FastifyRequest } from "fastify";
import { systemClock } from "../../core/clock.ts";
import { canonicalJsonOfBytes } from "../../core/json/canonical.ts";
import { createLogger } from "../../core/log/logger.ts";
import { createAuthentication, type Proof } from "../../dataplane/authenticate/create-authentication.ts";
import { authorizeObjects } from "../../dataplane/authorize/authorize.ts";
import type { LiveProject, LiveResource } from "../../dataplane/config/directory.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { writtenResponse } from "../../dataplane/http/conditional-requests.ts";
import type { Exchange } from "../../dataplane/http/exchange.ts";
import { validateList } from "../../dataplane/objects/list/query.ts";
import { createObjectIds } from "../../dataplane/objects/object-ids.ts";
import { validateNew } from "../../dataplane/objects/validate-object.ts";
import { createMetrics } from "../../dataplane/observe/metrics.ts";
import { createAccessLog, createRequestObserver } from "../../dataplane/observe/observe-request.ts";
import { createUsage } from "../../dataplane/observe/usage.ts";
import { findProject, publicAddress } from "../../dataplane/route/find-project.ts";
import { requireHost } from "../../dataplane/route/request-origin.ts";
import { splitTarget } from "../../dataplane/route/request-target.ts";
import { route, routeOperation, subjectOf } from "../../dataplane/route/route.ts";
import { createSessions } from "../../dataplane/sessions/create-sessions.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { maxDepth } from "../../dataplane/store/ports/documents.ts";
import { apikey, basic, bearer } from "../support/http/projects.ts";
import { annsPassword, benchProject } from "./bench-project.ts";
import { median } from "./median.ts";
import type { StagedOperation, StageName } from "./stages.ts";
import { bookText } from "./subjects.ts";

const rounds = 5;
const callsPerRound = 20_000;

interface Kind {
  readonly method: string;
  readonly url: (at: number) => string;
  readonly header: string;
  readonly operation: "read" | "create";
  /** What is checked of the request itself. */
  readonly validate?: (at: number) => unknown;
  /** Of the answer. */
  readonly objects: number;
}

const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
const memory = createMemoryDirectory(systemClock);
memory.replace([await benchProject()]);
const { directory } = memory;
const authentication = await createAuthentication({
  directory,
  store,
  clock: systemClock,
  issuerOf: ({ config }) => `/${config.namespace}/${config.name}`,
});
const sessions = await createSessions({ directory, store, clock: systemClock, authentication });
const logStream = createWriteStream("/dev/null", { flags: "a" });
const logger = createLogger({ level: "info", clock: systemClock, write: (text) => void logStream.write(text) });
const accessLog = createAccessLog(logger, systemClock);
const observer = createRequestObserver({
  metrics: createMetrics({
    configAgeSeconds: () => 0,
    projects: () => 1,
    keyringFits: () => true,
    usageReports: () => [],
  }),
  usage: createUsage(systemClock),
  accessLog: { request: () => undefined, refusal: () => undefined },
});
const sources = { directory, address: publicAddress("") };
const ending = { status: 200, code: undefined, seconds: 0.001_234 };

const live = await liveProject();
const books = live.resources.get("books") as LiveResource;
const { access_token: token } = await sessions.login(live, basic("ann", annsPassword), "127.0.0.1");
const newId = createObjectIds(systemClock);
const ids = Array.from({ length: 1_000 }, () => newId().id);
const idAt = (at: number): string => ids[at % ids.length] ?? "";
const bodies = ids.map((_, at) => Buffer.from(bookText(at)));
const path = "/default/bench/api/books";

const kinds: Readonly<Record<StagedOperation, Kind>> = {
  "get, API key": {
    method: "GET",
    url: (at) => `${path}/${idAt(at)}`,
    header: apikey("admin"),
    operation: "read",
    objects: 1,
  },
  "get, JWT": {
    method: "GET",
    url: (at) => `${path}/${idAt(at)}`,
    header: bearer(token),
    operation: "read",
    objects: 1,
  },
  "list of 10, sorted": {
    method: "GET",
    url: () => `${path}?_sort=-price`,
    header: apikey("admin"),
    operation: "read",
    validate: () => validateList("_sort=-price", books.schema, live.config),
    objects: 10,
  },
  "create, three indexes": {
    method: "POST",
    url: () => path,
    header: apikey("admin"),
    operation: "create",
    validate: validateBook,
    objects: 1,
  },
};

const costs: Record<string, Partial<Record<StageName, number>>> = {};
for (const [name, kind] of Object.entries(kinds)) costs[name] = await costsOf(kind);
process.stdout.write(`${JSON.stringify(costs)}\n`);
sessions.close();
await authentication.close();
await store.close();
process.exit();

async function costsOf(kind: Kind): Promise<Partial<Record<StageName, number>>> {
  const proof = await authentication.authenticate(live, kind.header);
  const exchanges = ids.map((id, at) => exchangeOf(kind, proof, { id, at }));
  const exchangeAt = (at: number): Exchange => exchanges[at % exchanges.length] as Exchange;
  const { validate } = kind;
  const answers = ids.map((_, at) => bookText(at).repeat(kind.objects));
  return {
    router: await costOf(async (at) => {
      const { request, rawUrl } = exchangeAt(at);
      const addressed = await findProject(sources, requireHost(request), splitTarget(rawUrl).segments);
      const target = route(addressed.segments);
      return [subjectOf(addressed.project, target), routeOperation(target, kind.method)];
    }),
    authentication: await costOf((at) =>
      authentication.authenticate(live, exchangeAt(at).request.headers.authorization),
    ),
    policy: await costOf(() => authorizeObjects(live.config, books.config, kind.operation, proof.caller)),
    ...(validate && { validation: await costOf(validate) }),
    "entity tag": await costOf((at) => writtenResponse(200, answers[at % answers.length] ?? "")),
    "log line": await costOf((at) => accessLog.request(exchangeAt(at), ending)),
    metrics: await costOf((at) => observer.ended(exchangeAt(at), ending)),
  };
}

/** Microseconds of one call: the median of rounds, after one that nobody counts. */
async function costOf(call: (at: number) => unknown): Promise<number> {
  const measured: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    for (let at = 0; at < callsPerRound; at += 1) {
      const answer = call(at);
      if (answer instanceof Promise) await answer;
    }
    const { user, system } = process.cpuUsage(before);
    if (round > 0) measured.push((user + system) / callsPerRound);
    // What is written goes out before the next round begins.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return median(measured);
}

function validateBook(at: number): string {
  const bytes = bodies[at % bodies.length] as Buffer;
  const canonical = canonicalJsonOfBytes(bytes, maxDepth);
  if (!canonical.ok) throw new Error("A book of the benchmark is no JSON");
  const metadata = { created: 1_700_000_000, creator: "admin", creator_type: "apikey" };
  return validateNew({ schema: books.schema, maxBytes: 1 << 20 }, canonical.json, idAt(at), metadata);
}

function exchangeOf(kind: Kind, proof: Proof, { id, at }: { readonly id: string; readonly at: number }): Exchange {
  const headers = { host: "127.0.0.1:8080", authorization: kind.header };
  const request = { method: kind.method, headers, host: headers.host, raw: { headers } };
  const rawUrl = kind.url(at);
  const target = route(splitTarget(rawUrl).segments.slice(2));
  return {
    request: request as unknown as FastifyRequest,
    requestId: id,
    rawUrl,
    startedAt: 0,
    project: live,
    target,
    proof,
  };
}

async function liveProject(): Promise<LiveProject> {
  const found = await directory.project({ namespace: "default", name: "bench" });
  if (found.outcome !== "found") throw new Error("The benchmark's project is not live");
  return found.value;
}
