// Whatever a server and a network do, the objects that are watched become those of the server once
// it stops, and what was confirmed meanwhile was no older than the question. Times are about a
// hundredth of the real ones; nothing is asserted about speed but that it ends.

import { integer, sample } from "fast-check";
import { expect, test } from "vitest";
import { systemMonotonic, systemTimers } from "../../../../core/timers.ts";
import {
  ApiFailure,
  ApiUnreachable,
  type KubeApi,
  type KubeObject,
  type KubeReader,
} from "../../../../operator/kube/api.ts";
import { secretType } from "../../../../operator/kube/objects.ts";
import { reflectNamespaces } from "../../../../operator/watch/reflect-namespaces.ts";
import { createReflector, type Reflector } from "../../../../operator/watch/reflector.ts";
import type { ReflectorOptions } from "../../../../operator/watch/reflector-options.ts";
import type { WatchTimes } from "../../../../operator/watch/watch-times.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { randomFaults } from "../../../support/fake-api/fake-api-faults.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { seededMoments } from "../../../support/time/seeded-moments.ts";
import { countForTier, testSeed } from "../../../support/time/test-tier.ts";
import { type SinkRecord, sinkRecord } from "./sink-record.ts";

const seeds = countForTier(25, 300);
const atOnce = 20;

const times: Partial<WatchTimes> = {
  pageSize: 7,
  idleMs: 1_000,
  healthyMs: 50,
  backoffMs: 2.5,
  backoffCapMs: 100,
  missingMs: 10,
  metadataPageSize: 5,
  maxCompared: 5,
  catchUpMs: 10,
  watchSeconds: [10, 60],
};
/** Longer than a hundredth, because dozens of servers share one process here. */
const limits = { connectMs: 2_000, headersMs: 2_000, bodyMs: 2_000, callMs: 1_000, listMs: 2_000 };
const collection = "/secrets";

test("the watched objects become the server's after any faults, and nothing is asked after a stop", async () => {
  const waiting = sample(integer({ min: 1 }), { numRuns: seeds, seed: testSeed() });
  const worker = async (): Promise<void> => {
    for (let seed = waiting.pop(); seed !== undefined; seed = waiting.pop()) await converges(seed);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}, 240_000);

interface Watching {
  readonly reflector: Pick<Reflector, "watched" | "start" | "stop"> & {
    confirm(signal: AbortSignal): Promise<unknown>;
  };
  readonly knows: (namespace: string) => boolean;
  readonly sink: SinkRecord;
  /** Which objects of the server it should hold. */
  readonly holds: (namespace: string, labels: { readonly [name: string]: string }) => boolean;
}

async function converges(seed: number): Promise<void> {
  const random = seededMoments(seed);
  const server = await startFakeApiServer({ bookmarkMs: 20 + random() * 280, secondMs: 10 });
  const api = fakeApiClient(server, { limits });
  const readings = counted(api);
  const watching = watchers(readings.reader, random);
  try {
    server.setFaults(randomFaults(random, 0.4));
    for (const { reflector } of watching) reflector.start();
    const confirmations = await disturb(server, { api, random, noting: watching, seed });
    server.setFaults(() => undefined);
    if (random() < 0.5) server.cut();
    await Promise.all(confirmations);
    for (const each of watching)
      await eventually(() => expectEqual(server, each, seed), { withinMs: 30_000, everyMs: 50 });
  } finally {
    await Promise.all(watching.map(({ reflector }) => reflector.stop()));
    const asked = readings.count();
    server.objects.create(collection, { metadata: { namespace: "a", name: "late" } });
    await eventually(() => expect(server.open(), `seed ${seed}: watches after the stop`).toBe(0));
    expect(readings.count(), `seed ${seed}: requests after the stop`).toBe(asked);
    expect(watching[0]?.sink.view.has("a/late")).toBe(false);
    await api.close();
    await server.close();
  }
}

function counted(api: KubeApi): { readonly reader: KubeReader; count(): number } {
  let count = 0;
  return {
    reader: {
      ...api,
      list: (...call) => {
        count += 1;
        return api.list(...call);
      },
      watch: (...call) => {
        count += 1;
        return api.watch(...call);
      },
    },
    count: () => count,
  };
}

function watchers(reader: KubeReader, random: () => number): readonly Watching[] {
  const common = (sink: SinkRecord): Omit<ReflectorOptions, "scope"> => ({
    reader,
    type: secretType,
    sink,
    timers: systemTimers,
    monotonic: systemMonotonic,
    random,
    observe: () => undefined,
    times,
  });
  const [all, labelled, named] = [sinkRecord(), sinkRecord({ mayReturn: true }), sinkRecord()];
  const ofAll = createReflector({ ...common(all), scope: {} });
  const ofLabelled = createReflector({ ...common(labelled), scope: { labelSelector: "mine=yes", metadataOnly: true } });
  const ofNamed = reflectNamespaces({ ...common(named), scope: {}, namespaces: ["a", "c"] });
  return [
    { reflector: ofAll, knows: ofAll.isCurrent, sink: all, holds: () => true },
    {
      reflector: ofLabelled,
      knows: ofLabelled.isCurrent,
      sink: labelled,
      holds: (_, labels) => labels["mine"] === "yes",
    },
    {
      reflector: ofNamed,
      knows: ofNamed.isCurrent,
      sink: named,
      holds: (namespace) => namespace === "a" || namespace === "c",
    },
  ];
}

interface Disturbed {
  readonly api: KubeApi;
  readonly random: () => number;
  readonly noting: readonly Watching[];
  readonly seed: number;
}

/**
 * Other people's changes, own writes that are noted, compactions and cut connections, while faults
 * go on.
 */
async function disturb(
  server: FakeApiServer,
  { api, random, noting, seed }: Disturbed,
): Promise<readonly Promise<void>[]> {
  const any = (): { namespace: string; name: string } => ({
    namespace: "abc"[Math.floor(random() * 3)] as string,
    name: `s${Math.floor(random() * 12)}`,
  });
  const own: Promise<void>[] = [];
  const confirmations: Promise<void>[] = [];
  const happenings: readonly (readonly [number, () => void])[] = [
    [0.7, () => change(server, any(), random)],
    [0.88, () => own.push(write(api, { ...any(), random, noting }))],
    [0.92, () => server.objects.compact()],
    [0.94, () => server.cut()],
    [0.96, () => confirmations.push(...noting.map((watching) => confirm(server, watching, seed)))],
    [1, () => server.objects.bump()],
  ];
  for (let step = 0; step < 80; step += 1) {
    const dice = random();
    happenings.find(([limit]) => dice < limit)?.[1]();
    if (random() < 0.5) await new Promise((resume) => setTimeout(resume, random() * 8));
  }
  await Promise.all(own);
  return confirmations;
}

/**
 * What is known after it was confirmed is nothing that had gone or was replaced before the
 * question, and misses nothing.
 */
async function confirm(server: FakeApiServer, { reflector, knows, holds }: Watching, seed: number): Promise<void> {
  const { revision } = server.objects;
  const before = server.objects
    .all(collection)
    .filter(({ metadata }) => holds(metadata.namespace ?? "", metadata.labels ?? {}));
  const versions = new Map(before.map(({ metadata }) => [placeOf(metadata), Number(metadata.resourceVersion)]));
  await reflector.confirm(new AbortController().signal);
  for (const { metadata } of reflector.watched.all()) {
    const earliest = versions.get(placeOf(metadata)) ?? revision + 1;
    const version = knows(metadata.namespace) ? Number(metadata.resourceVersion) : earliest;
    expect(version, `seed ${seed}: ${placeOf(metadata)} is out of date`).toBeGreaterThanOrEqual(earliest);
  }
  for (const { metadata } of before) {
    const { namespace = "", name, resourceVersion } = metadata;
    if (!knows(namespace) || reflector.watched.get(namespace, name) !== undefined) continue;
    const now = server.objects.get(collection, namespace, name);
    expect(now?.metadata.resourceVersion, `seed ${seed}: ${placeOf(metadata)} is missing`).not.toBe(resourceVersion);
  }
}

function placeOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

function change(server: FakeApiServer, { namespace, name }: { namespace: string; name: string }, random: () => number) {
  const present = server.objects.get(collection, namespace, name);
  const labels = random() < 0.6 ? { mine: "yes" } : { mine: "no" };
  const given = { metadata: { namespace, name, labels }, data: { value: String(random()) } };
  if (present === undefined) server.objects.create(collection, given);
  else if (random() < 0.5) server.objects.remove(collection, namespace, name);
  else server.objects.replace(collection, given);
}

interface OwnWrite {
  readonly namespace: string;
  readonly name: string;
  readonly random: () => number;
  readonly noting: readonly Watching[];
}

/**
 * As the operator writes: by what it knows, and noting what came of it; faults and conflicts are
 * left to a next time.
 */
async function write(api: KubeApi, own: OwnWrite): Promise<void> {
  const { namespace, name, random, noting } = own;
  const known = noting[0]?.reflector.watched.get(namespace, name);
  const data = { value: `own ${random()}` };
  try {
    if (known === undefined) note(noting, await api.create(secretType, { metadata: { namespace, name }, data }));
    else if (random() < 0.4) await remove(api, own, known);
    else {
      const { labels, resourceVersion } = known.metadata;
      const metadata = { namespace, name, resourceVersion, ...(labels !== undefined && { labels }) };
      note(noting, await api.replace(secretType, { metadata, data }));
    }
  } catch (error) {
    expect([ApiFailure, ApiUnreachable].some((kind) => error instanceof kind)).toBe(true);
  }
}

/**
 * Whatever others have made of it meanwhile: what the watch has still to tell of it is older than
 * its end.
 */
async function remove(api: KubeApi, { namespace, name, noting }: OwnWrite, known: KubeObject): Promise<void> {
  if (!(await api.remove(secretType, { namespace, name }, { uid: known.metadata.uid }))) return;
  for (const { reflector } of noting) reflector.watched.applyOwnDelete(known);
}

function note(noting: readonly Watching[], object: KubeObject): void {
  const { namespace, labels } = object.metadata;
  for (const { reflector, holds } of noting)
    if (holds(namespace, labels ?? {})) reflector.watched.applyOwnWrite(object);
}

function expectEqual(server: FakeApiServer, { reflector, sink, holds }: Watching, seed: number): void {
  const shown = (objects: Iterable<{ metadata: object }>): readonly string[] =>
    [...objects]
      .map(({ metadata }) => {
        const { namespace, name, uid, resourceVersion } = metadata as KubeObject["metadata"];
        return `${namespace}/${name} ${uid} ${resourceVersion}`;
      })
      .sort();
  const wanted = server.objects
    .all(collection)
    .filter(({ metadata }) => holds(metadata.namespace ?? "", metadata.labels ?? {}));
  expect(shown(reflector.watched.all()), `seed ${seed}`).toEqual(shown(wanted));
  expect(shown(sink.view.values()), `seed ${seed}: the sink`).toEqual(shown(wanted));
  expect(sink.faults, `seed ${seed}`).toEqual([]);
}
