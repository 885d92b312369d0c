// Which statuses of a Project are written: all but the one that the API server refuses, such as by
// a policy; and where something is changed meanwhile, a few each time, so that what was changed is
// served before thousands of statuses are written. And which installation they name.

import { beforeEach, describe, expect, it } from "vitest";
import { ApiFailure, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import type { ProjectObjects } from "../../../../operator/model/project-objects.ts";
import type { Verdict } from "../../../../operator/model/verdict.ts";
import type { ProjectOutcome } from "../../../../operator/status/outcomes.ts";
import { createStatusWriter, type StatusWriter } from "../../../../operator/status/status-writer.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const ours = "jsonplane-system/jsonplane-operator";
const baseUrl = "http://api.test/default/shop";
const names = Array.from({ length: 20 }, (_, at) => `resource-${at}`);
const objects = projectObjects(
  "shop",
  stored("Project", "shop"),
  ...names.map((name): CustomResource => stored("ApiResource", name)),
);
let written: string[];
let refused: string[];
beforeEach(() => {
  written = [];
  refused = [];
});

function writerOver(
  apply: (body: KubeObject) => KubeObject,
  applyOwnWrite: (object: CustomResource, answer: KubeObject) => void = () => undefined,
) {
  const clock = manualClock();
  return createStatusWriter({
    controller: ours,
    api: { apply: async (_, body) => apply(body as unknown as KubeObject), get: async () => undefined } as Pick<
      KubeApi,
      "apply" | "get"
    >,
    clock,
    recorder: { emit: () => undefined },
    userField: () => "",
    applyOwnWrite,
    onProgrammed: () => undefined,
    onRefused: ({ metadata }) => refused.push(metadata.name),
    onWritten: () => undefined,
    baseUrlOf: () => baseUrl,
  });
}

function outcomeOf(found: ProjectObjects, verdicts: readonly Verdict[]): ProjectOutcome {
  return {
    objects: found,
    resolved: { statuses: new Map(), isComplete: true, signingRingWaits: false },
    compiled: { config: undefined, verdicts, requests: [], heldSchemas: new Map() },
    publishResult: { changed: 1, revision: 7 },
    rollout: { state: "programmed", availability: "served" },
    reports: {
      refusals: [],
      building: new Map(),
      usage: { storedObjects: undefined, quotaUsage: undefined, isDue: false },
      checks: new Map(),
      copy: undefined,
    },
    deletion: {
      purged: [],
      waiting: new Map(),
      purgesSessions: false,
      gone: new Set(),
      heldBy: new Map(),
      finalizerRefusals: [],
    },
    dataLoss: undefined,
    baseUrl,
  };
}

describe("one object whose status is refused", () => {
  function write(failure: ApiFailure): Promise<void> {
    const writer = writerOver((body) => {
      const { name } = body.metadata;
      if (name === "shop") throw failure;
      written.push(name);
      return body;
    });
    const why = { reason: "PublishFailed", message: "Redis is away", availability: "unknown" } as const;
    return writer.writeUnpublished(objects, why);
  }

  it("keeps no other one from its own, and the refusal is reported", async () => {
    const failure = new ApiFailure(422, { reason: "Invalid", message: "protected" });
    await expect(write(failure)).rejects.toBe(failure);
    expect(written.sort()).toEqual([...names].sort());
    // That Redis is away refuses nothing: its changes are still to be served.
    expect(refused).toEqual([]);
  });

  it("is the last one where the API server is in trouble: the others would fail as well", async () => {
    const failure = new ApiFailure(503, { reason: "ServiceUnavailable", message: "away" });
    await expect(write(failure)).rejects.toBe(failure);
    expect(written.length).toBeLessThan(names.length);
  });
});

describe("the installation that looks after an object", () => {
  const away = { reason: "PublishFailed", message: "Redis is away", availability: "unknown" } as const;
  type Write = (writer: StatusWriter, objects: ProjectObjects) => Promise<unknown>;
  const namedBy = async (write: Write, status: object = {}): Promise<readonly unknown[]> => {
    const bodies: KubeObject[] = [];
    const writer = writerOver((body) => {
      bodies.push(body);
      return body;
    });
    await write(writer, projectObjects("shop", stored("Project", "shop", { status })));
    return bodies.map(({ status }) => (status as { readonly controller?: string }).controller);
  };

  it("is this one in whatever status it writes of what it serves", async () => {
    const { kind, metadata } = stored("Project", "shop");
    const { namespace, name, uid } = metadata;
    const verdict = { kind, namespace, name, uid, notices: [], accepted: true } as const;
    expect(await namedBy((writer, found) => writer.write(outcomeOf(found, [verdict])))).toEqual([ours]);
  });

  it.each([
    ["that none has taken yet", {}, undefined],
    ["that it has taken", { controller: ours }, ours],
  ])("stays what it is while Redis can't be written: of one %s", async (_, status, expected) => {
    const contested = { reason: "RedisContested", message: "It is another one's" } as const;
    expect(await namedBy((writer, found) => writer.writeUnpublished(found, away), status)).toEqual([expected]);
    expect(await namedBy((writer, found) => writer.writeContested(found, contested), status)).toEqual([expected]);
  });
});

describe("a Project of many objects", () => {
  const many = Array.from({ length: 40 }, (_, at) => stored("RootKey", `key-${at}`));

  function verdictsOf({ rootKeys }: ProjectObjects): readonly Verdict[] {
    return rootKeys.map(({ kind, metadata: { namespace, name, uid } }) => ({
      ...{ kind, namespace, name, uid, notices: [] },
      accepted: true,
    }));
  }

  /** How many are written by each of the runs that follow one another. */
  async function writtenIn(runs: number, isChanged: () => boolean): Promise<readonly number[]> {
    const kept = new Map(many.map((object) => [object.metadata.uid, object]));
    const counts: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      let count = 0;
      const writer = writerOver(
        (body) => {
          count += 1;
          return body;
        },
        ({ metadata: { uid } }, { status }) => {
          const object = kept.get(uid);
          if (object !== undefined) kept.set(uid, { ...object, status } as typeof object);
        },
      );
      const found = projectObjects("shop", ...kept.values());
      await writer.write(outcomeOf(found, verdictsOf(found)), isChanged);
      counts.push(count);
    }
    return counts;
  }

  it("has all statuses written by one run where nothing is changed meanwhile", async () => {
    expect(await writtenIn(2, () => false)).toEqual([40, 0]);
  });

  it("has a few written by each run where something always is, and all in the end", async () => {
    expect(await writtenIn(4, () => true)).toEqual([16, 16, 8, 0]);
  });
});
