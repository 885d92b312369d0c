// A leader that handles one key, with fakes of what it writes to, for tests of what becomes of the
// key.

import { createSecretKey } from "node:crypto";
import type { CompiledProject } from "../../../../core/config/types.ts";
import { createDeletions } from "../../../../operator/deletion/advance-deletions.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { KnownIssuer } from "../../../../operator/model/issuers.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import type { AuditLog } from "../../../../operator/observe/audit-log.ts";
import type { Acknowledgements, RolloutState } from "../../../../operator/publish/acknowledgements.ts";
import type { ConfigWriter, OpenRedis } from "../../../../operator/publish/config-writer.ts";
import type { Publisher } from "../../../../operator/publish/publisher.ts";
import type { Purges } from "../../../../operator/publish/purges.ts";
import type { PublishedProject } from "../../../../operator/publish/writer-session.ts";
import { createOwnership } from "../../../../operator/runtime/ownership.ts";
import { type KeyListener, type ProcessKeyDeps, processKey } from "../../../../operator/runtime/process-key.ts";
import { type ReportKeyDeps, reportKey } from "../../../../operator/runtime/report-key.ts";
import type { DeletionRequest } from "../../../../operator/stored-data/deletion-requests.ts";
import { fakeHash } from "../../../support/fleet/fake-hash.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

export const key = "default/shop";
export const gone = [stored("ApiResource", "books")];
const never = new AbortController().signal;
/** In `status.controller`: another installation looks after the object. */
export const elsewhere = "elsewhere/jsonplane-operator";

const hmacKey = createSecretKey(Buffer.alloc(32));

export interface World {
  /** What the key's objects are. */
  readonly objects?: readonly CustomResource[];
  /** What they are once Redis has answered for the first time; default: the same. */
  readonly laterObjects?: readonly CustomResource[];
  readonly published?: PublishedProject;
  /** Redis can't be written, for this reason. */
  readonly failure?: unknown;
  /** The reconcile fails with it, once what was published last has been restored. */
  readonly lateFailure?: unknown;
  /** UID of the namespace; undefined = it has gone. */
  readonly namespaceUid?: string;
  /** Secrets can't be read, for this reason. */
  readonly secretsFailure?: unknown;
  /** Redis was emptied, and holds nothing of it. */
  readonly lacking?: boolean;
  /** A publisher has begun again meanwhile. */
  readonly begunAnew?: boolean;
  /** False: something of the namespace was never listed. */
  readonly knows?: boolean | (() => boolean);
  /** False: what is missing may only be unseen. */
  readonly confirmed?: boolean;
  readonly rollout?: RolloutState;
  /** Of the key, as the watch reported; default: one. */
  readonly deleted?: readonly CustomResource[];
  /** Called while replicas are waited for. */
  readonly onAwait?: () => void;
  /** Statuses can't be written, for this reason. */
  readonly statusFailure?: unknown;
  /** What is known of every external issuer, all of which are allowed; default: none is. */
  readonly issuer?: KnownIssuer;
  /** No password is hashed yet, for so long by now. */
  readonly isHashing?: boolean;
  /** What is on record of stored data once this run has written it. */
  readonly recorded?: DataInventory;
  /** What people ask to be deleted of them. */
  readonly requests?: readonly DeletionRequest[];
  /** Somebody changes something of the key while it is worked on. */
  readonly changed?: true;
  /** Called while Redis is written. */
  readonly onWrite?: (clock: ManualClock) => void;
}

/**
 * A leader with a publisher that keeps what it gets; whoever reconciles more than a Project that
 * has gone needs more.
 */
export function leader(world: World = {}) {
  const { objects = [], published = { revision: 0 }, rollout = "programmed" } = world;
  const calls: unknown[][] = [];
  const clock = manualClock();
  const publishSeconds: number[] = [];
  const publishedConfigs: CompiledProject[] = [];
  const fetched: string[][] = [];
  const hashesEnded: string[] = [];
  const processed: Parameters<KeyListener["processed"]>[] = [];
  let beginnings = 0;
  let seen = objects;
  const publisher = {
    async load() {
      if (world.begunAnew === true) beginnings += 1;
      return published;
    },
    async restore(of: unknown) {
      calls.push(["restore", of]);
      seen = world.laterObjects ?? seen;
    },
    lacks: async () => world.lacking ?? false,
    dataLoss: () => undefined,
    async publish(config, data) {
      const { users, keys } = config;
      publishedConfigs.push(config);
      const names = [...users.keys(), ...[...keys.values()].map(({ name }) => name)];
      calls.push(["publish", names, data]);
      return { changed: 1, revision: 7 };
    },
    async withdraw(ref: unknown, data: unknown) {
      calls.push(["withdraw", ref, data]);
      world.onWrite?.(clock);
      return { changed: 1, revision: 7, ...(world.recorded !== undefined && { data: world.recorded }) };
    },
  } as Partial<Publisher> as Publisher;
  const acknowledgements = {
    async awaitRollout() {
      world.onAwait?.();
      return rollout;
    },
    rolloutOf: () => rollout,
    availabilityOf: () => "served",
    refusalsOf: () => [],
    buildingOf: () => new Map(),
    quotaUsages: () => new Map(),
  } as Partial<Acknowledgements> as Acknowledgements;
  const purges: Partial<Purges> = {
    isOrdered: async () => false,
    isDone: async () => false,
    order: async () => undefined,
  };
  const redis = { publisher, acknowledgements, purges: purges as Purges } as Partial<OpenRedis> as OpenRedis;
  const writer: ConfigWriter = {
    async session() {
      if (world.failure !== undefined) seen = world.laterObjects ?? seen;
      if (world.failure !== undefined) throw world.failure;
      return redis;
    },
    availabilityOf: () => "unknown",
    verify: async () => undefined,
    close: () => undefined,
  };
  let deleted = world.deleted ?? gone;
  const audit: AuditLog = { write: (entry) => void calls.push(["audit", entry]) };
  const { knows = true } = world;
  const deps: Partial<ProcessKeyDeps & ReportKeyDeps> = {
    unreported: new Map(),
    listener: {
      reported: (...reported) => void calls.push(["reported", ...reported]),
      processed: (...reported) => void processed.push(reported),
      published: (ref, config) => void calls.push(["onPublished", ref, config]),
      revoked: (ref) => void calls.push(["onRevoked", ref]),
      sessionCount: () => beginnings,
    },
    writer,
    ownership: createOwnership({
      api: { apply: async () => stored("Project", "shop") as never },
      controller: "here/jsonplane-operator",
      adopt: false,
      applyOwnWrite: () => undefined,
      recorder: { emit: (_, { reason }) => void calls.push(["event", reason]) },
      logger: { warn: () => undefined } as never,
    }),
    watched: {
      isCurrent: typeof knows === "boolean" ? () => knows : knows,
      isChanged: ({ namespace, name }) => world.changed === true && `${namespace}/${name}` === key,
      objectsOf: () => projectObjects("shop", ...seen),
      takeDeleted() {
        const taken = deleted;
        deleted = [];
        return taken;
      },
      giveBack(of, back) {
        calls.push(["giveBack", of]);
        deleted = [...back, ...deleted];
      },
    },
    absences: {
      async confirm(of) {
        if (world.lateFailure !== undefined) throw world.lateFailure;
        return { isConfirmed: world.confirmed ?? true, gone: of.deleted };
      },
    },
    namespaces: { of: async () => world.namespaceUid },
    deletionRequests: {
      requestsOf: () => world.requests ?? [],
      markRecorded: () => undefined,
      sync: async () => undefined,
    },
    usageDue: new Map(),
    checks: { heldSchemas: async () => new Map(), reportsOf: async () => new Map() },
    copies: { reportOf: async () => undefined },
    secrets: {
      async prepare() {
        if (world.secretsFailure !== undefined) throw world.secretsFailure;
        return {
          find: () => undefined,
          hmacKey,
          restoresAll: false,
        };
      },
      write: async () => undefined,
    },
    statuses: {
      async write({ objects: { project: written } }, isChanged) {
        if (world.statusFailure !== undefined) throw world.statusFailure;
        const further = isChanged?.() === true ? ["until it was changed"] : [];
        calls.push(["write", written === undefined ? [] : [written.metadata.name], ...further]);
      },
      writeUnpublished: async (_, { reason, message }) => void calls.push(["writeUnpublished", reason, message]),
      writeContested: async (_, { message }) => void calls.push(["writeContested", message]),
    },
    hosts: { grantOf: () => ({ granted: [], refused: [] }) },
    issuers: {
      isAllowed: () => world.issuer !== undefined,
      lookUp: () => world.issuer ?? { state: "pending" },
      projectsUsing: new Set(),
      use: (_, sources) => void fetched.push([...sources.keys()]),
    },
    hasher: {
      passOf: (of) => ({
        hashPassword: async (password) => (world.isHashing === true ? undefined : fakeHash(password)),
        end() {
          hashesEnded.push(of);
        },
      }),
    },
    deletions: createDeletions({
      api: {} as KubeApi,
      applyOwnWrite: () => undefined,
      mode: "cluster",
      sweep: { sweepOrphans: async () => 0, sweepSubject: async () => [] },
      metrics: { observeConfig: () => undefined },
      audit,
    }),
    recorder: { emit: () => undefined },
    metrics: {
      observeConfig(observation) {
        if (observation.kind === "publish_failed") calls.push([observation.kind]);
        if (observation.kind === "published") publishSeconds.push(observation.seconds);
      },
    },
    audit,
    settings: { adopt: false, baseUrlOf: () => "http://api.test/default/shop" },
    clock,
  };
  const serve = () => processKey(key, deps as ProcessKeyDeps, never);
  const report = () => reportKey(key, deps as ReportKeyDeps, never);
  return {
    serve,
    report,
    /** Both, as where no other key is to be served. */
    async handle() {
      const result = await serve();
      return result?.requeue === "report" ? await report() : result;
    },
    calls,
    /** Projects of which no more hashes are wanted than were asked for. */
    hashesEnded,
    processed,
    publishSeconds,
    publishedConfigs,
    /** Names of the issuers that are to be fetched, for each time that this was said. */
    fetched,
    /** From now on these are the key's objects. */
    see(next: readonly CustomResource[]) {
      seen = next;
    },
    /** Redis was emptied, and another writer session has begun. */
    beginAnew() {
      beginnings += 1;
    },
    /** Objects that the next attempt will be told have gone. */
    left: () => deleted,
  };
}
