// A data-plane replica that is attacked: a process of its own over real Redis JSON, with the
// project that the attacker may use and another tenant's. After an attack it must live, be no
// larger than the chart lets it be, and answer the other tenant.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { DataplaneOptions } from "../../../cli/dataplane/run-dataplane.ts";
import { newKeyringText, parseKeyring } from "../../../core/config/keyring.ts";
import type { CompiledProject } from "../../../core/config/types.ts";
import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { memoryLimits } from "../../../dataplane/admission/memory-budgets.ts";
import { liveReplicas } from "../../../operator/publish/replicas.ts";
import { type Reply, type SentRequest, send } from "../http/http-client.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../http/projects.ts";
import { startRedis, type TestRedis } from "../redis/redis.ts";
import { eventually } from "../time/eventually.ts";
import { memoryInUse } from "./memory-in-use.ts";
import { begunPublisher, openRedisClient } from "./publishing.ts";
import { type Replica, startReplica } from "./replica.ts";

/**
 * Bytes: `dataplane.resources.limits.memory` of the chart. Beyond it the kernel would end the
 * replica.
 */
export const memoryLimit = 512 * 1024 * 1024;
/** MiB of the heap: `dataplane.heapPercent` of that limit. */
const oldHeap = 307;
/** MiB of each half of the heap for new objects, as the chart sets it. */
const youngHeap = 16;
/** What it follows from that. */
export const limits = memoryLimits((oldHeap + 3 * youngHeap) * 1024 * 1024);
/**
 * Bytes that may be in use at the end of an attack that is repeated, beyond those of its middle.
 * Garbage does not count.
 */
export const growsAtMost = 4 * 1024 * 1024;
export interface AttackedReplica {
  readonly replica: Replica;
  readonly redis: TestRedis;
  readonly redisClient: RedisClient;
  /** Puts one more project live on it. */
  publish(parts: CompiledProject): Promise<void>;
  /** Waits until the replica knows what was published last of a project with root key `doc`. */
  served(project: string): Promise<void>;
  /** A request below the path base of a project. */
  send(project: string, path: string, sent?: SentRequest): Promise<Reply>;
  /**
   * Carries an attack out, with the other tenant asking all the time. Then the same process
   * answers, the other tenant was refused nothing, and the memory limit was never passed.
   */
  survives<T>(attack: () => Promise<T>): Promise<T>;
  /**
   * The attack over and over: at the end no more memory is in use than in the middle, but for a
   * bound.
   */
  keepsNothingOf(attack: () => Promise<void>): Promise<void>;
  /** Bytes of resident memory, largest since the start and now. */
  memory(): Promise<{ readonly largest: number; readonly now: number }>;
  stop(): Promise<void>;
}

const programFile = fileURLToPath(new URL("./replica-with-time-limits.ts", import.meta.url));
const quiet = project("quiet", withKey("quiet"), withResource("notes"), withRootKey("doc"));

type TimeLimits = NonNullable<DataplaneOptions["timeLimits"]>;
/**
 * So long that a busy machine brings no request and no connection to one. Node takes no more than
 * five minutes for the head.
 */
const generous: TimeLimits = { requestTimeoutMs: 300_000, unreadTimeoutMs: 600_000, commandTimeoutMs: 60_000 };

export async function startAttacked(...attackers: readonly CompiledProject[]): Promise<AttackedReplica> {
  return await startWithLimits(generous, attackers);
}

/** It is done with slow clients in seconds. */
export async function startImpatient(...attackers: readonly CompiledProject[]): Promise<AttackedReplica> {
  return await startWithLimits({ ...generous, requestTimeoutMs: 6_000, unreadTimeoutMs: 9_000 }, attackers);
}

async function startWithLimits(limits: TimeLimits, attackers: readonly CompiledProject[]): Promise<AttackedReplica> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-attacked-"));
  const keyring = join(folder, "keyring.json");
  const keyringText = newKeyringText();
  await writeFile(keyring, keyringText, { mode: 0o600 });
  const redis = await startRedis();
  const redisClient = await openRedisClient(redis.url);
  const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(keyringText) });
  for (const parts of [quiet, ...attackers]) await publisher.publish(parts);
  await publisher.complete();
  const replica = await startReplica({
    redis: redis.url,
    keyring,
    name: "attacked",
    nodeArgs: [`--max-old-space-size=${oldHeap}`, `--max-semi-space-size=${youngHeap}`, "--expose-gc"],
    program: [programFile, JSON.stringify(limits)],
  });
  const below = (name: string, path: string, sent?: SentRequest) => replica.send(`/default/${name}${path}`, sent);
  const memory = memoryOf(replica);
  let revision = 0;
  await serveQuietly(below, "before");
  const started = await startTime(replica);

  return {
    replica,
    redis,
    redisClient,
    send: below,
    memory,
    async publish(parts) {
      ({ revision } = await publisher.publish(parts));
    },
    async served(name) {
      await eventually(async () => {
        expect((await below(name, "/json/doc")).status).toBe(200);
        for (const state of await liveReplicas(redisClient)) expect(state.revision).toBeGreaterThanOrEqual(revision);
      });
    },
    async survives(attack) {
      const looking = setInterval(() => void memory().catch(() => undefined), 250);
      const neighbour = keepAsking(below);
      const result = await attack().finally(() => clearInterval(looking));
      await neighbour.stop();
      await serveQuietly(below, "after");
      expect(await startTime(replica)).toBe(started);
      expect((await memory()).largest, "largest resident memory").toBeLessThan(memoryLimit);
      return result;
    },
    async keepsNothingOf(attack) {
      const liveBytes = async () => {
        const { heap, external } = await memoryInUse(replica);
        return heap + external;
      };
      const half = async () => {
        for (let round = 0; round < 4; round += 1) await attack();
        return await liveBytes();
      };
      const middle = await half();
      await half();
      // Connections that clients have closed are let go of a moment later.
      await eventually(async () => expect((await liveBytes()) - middle).toBeLessThan(growsAtMost));
    },
    async stop() {
      await replica.stop("SIGKILL");
      redisClient.disconnect();
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Send = AttackedReplica["send"];

async function serveQuietly(below: Send, word: string): Promise<void> {
  const as = apikey("quiet");
  const made = await below("quiet", "/api/notes", { method: "POST", body: { word }, as });
  expect(made.status).toBe(201);
  const { id } = made.json<{ id: string }>();
  expect((await below("quiet", `/api/notes/${id}`, { as })).json()).toMatchObject({ word });
  expect((await below("quiet", "/json/doc")).status).toBe(200);
}

/**
 * The other tenant, one request after the other. Being late is no failure here; an error or a
 * refusal is.
 */
function keepAsking(below: Send): { stop(): Promise<void> } {
  let going = true;
  const asked = (async () => {
    while (going) {
      expect((await below("quiet", "/json/doc")).status).toBe(200);
      await new Promise((resume) => setTimeout(resume, 100));
    }
  })();
  // Told by stop().
  asked.catch(() => undefined);
  return {
    async stop() {
      going = false;
      await asked;
    },
  };
}

function memoryOf(replica: Replica): AttackedReplica["memory"] {
  let largest = 0;
  return async () => {
    const now = await gaugeOf(replica, "process_resident_memory_bytes");
    largest = Math.max(largest, now);
    return { largest, now };
  };
}

function startTime(replica: Replica): Promise<number> {
  return gaugeOf(replica, "process_start_time_seconds");
}

async function gaugeOf(replica: Replica, name: string): Promise<number> {
  const { text } = await send(replica.adminUrl, "/metrics");
  const found = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  if (found === undefined) throw new Error(`/metrics has no ${name}`);
  return Number(found);
}
