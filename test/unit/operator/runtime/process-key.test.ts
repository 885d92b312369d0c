import { describe, expect, it } from "vitest";
import { OutcomeUnknown, StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { RedisFault } from "../../../../core/redis/failure.ts";
import { FleetRingUnusable } from "../../../../operator/keyring/ring-secret.ts";
import { ApiFailure } from "../../../../operator/kube/api.ts";
import { NotTheLeader } from "../../../../operator/lead/elector.ts";
import type { DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import type { UnpublishedReason } from "../../../../operator/model/reasons.ts";
import { InventoryUnreadable, NotTheWriter, RedisContested } from "../../../../operator/publish/refusals.ts";
import { RedisSecretUnusable } from "../../../../operator/redis-users/redis-users.ts";
import { isOvertaken } from "../../../../operator/runtime/process-key.ts";
import { SecretChanged } from "../../../../operator/secrets/secret-object.ts";
import { NamespaceTerminating } from "../../../../operator/secrets/secret-store.ts";
import { testIssuer } from "../../../support/http/external-issuer.ts";
import { project, withConfig } from "../../../support/http/projects.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { elsewhere, gone, key, leader, type World } from "./key-leader.ts";

const ref = { namespace: "default", name: "shop" };

describe("a key of a namespace whose objects are not all known", () => {
  it.each<readonly [string, readonly CustomResource[], object | undefined]>([
    ["with an object, is looked at again in two seconds", [stored("ApiResource", "books")], { requeueAfterMs: 2_000 }],
    ["with nothing, waits for an event", [], undefined],
  ])("%s; nothing is taken for absent meanwhile", async (_, objects, again) => {
    const { handle, processed, calls, left } = leader({ knows: false, objects });
    expect(await handle()).toEqual(again);
    expect(calls).toEqual([["restore", ref]]);
    expect(processed).toEqual([[key, { nothingMissing: true }]]);
    expect(left()).toEqual(gone);
  });

  it("is looked at again, with nothing in it too, while Redis can't be written", async () => {
    const { handle, processed } = leader({ knows: false, failure: new StoreUnavailable("no") });
    expect(await handle()).toEqual({ requeueAfterMs: 2_000 });
    expect(processed).toEqual([[key, { nothingMissing: false }]]);
  });

  it("that is known by the end of it is served at once: an event of before enqueues nothing again", async () => {
    let looks = 0;
    const knows = () => {
      looks += 1;
      return looks > 1;
    };
    const { handle } = leader({ knows, objects: [stored("ApiResource", "books")] });
    expect(await handle()).toEqual({ requeueAfterMs: 0 });
  });
});

describe("a Project that another installation looks after", () => {
  const others = { ...stored("Project", "shop"), status: { controller: elsewhere } } as unknown as CustomResource;
  const data: DataInventory = { policy: "Retain", projectUid: "Project shop", entries: [] };

  it("is left to that one: nothing of it is written, an Event says so once, and nothing that has gone is kept", async () => {
    const { handle, calls, hashesEnded, processed, left } = leader({ objects: [others] });
    expect(await handle()).toBeUndefined();
    expect(calls).toEqual([
      ["event", "OtherController"],
      ["onRevoked", ref],
    ]);
    expect(hashesEnded).toEqual([key]);
    expect(processed).toEqual([[key, { nothingMissing: true }]]);
    expect(left()).toEqual([]);
    await handle();
    expect(calls).toHaveLength(3);
  });

  it("is no longer served here where it was, and its data stay on record", async () => {
    const config = project("shop");
    const { handle, calls } = leader({ objects: [others], published: { revision: 3, config, data } });
    expect(await handle()).toBeUndefined();
    const facts = { kind: "Project", ...ref, uid: config.project.uid, why: "OtherController" };
    expect(calls).toEqual([
      ["event", "OtherController"],
      ["withdraw", ref, data],
      ["onPublished", ref, undefined],
      ["audit", { action: "project_withdrawn", facts }],
      ["onRevoked", ref],
    ]);
  });

  it("gets no status from this one while Redis can't be written", async () => {
    const failure = new StoreUnavailable("no");
    const { handle, calls } = leader({ objects: [others], failure });
    await expect(handle()).rejects.toBe(failure);
    expect(calls.map(([what]) => what)).toEqual(["publish_failed", "giveBack"]);
  });
});

describe("a reconcile that is done", () => {
  it("is told, with the revision that replicas have still to acknowledge, and keeps what it took", async () => {
    const { handle, processed, calls, left } = leader({ rollout: "waiting" });
    expect(await handle()).toBeUndefined();
    expect(processed).toEqual([
      [key, { done: { awaited: { revision: 7, state: "waiting", isServed: true } }, nothingMissing: true }],
    ]);
    expect(calls.map(([what]) => what)).toEqual(["restore", "withdraw", "onPublished", "write"]);
    expect(left()).toEqual([]);
  });

  it("that could prove nothing gives back what has gone, and is done again after its backoff", async () => {
    const { handle, processed, left } = leader({ confirmed: false });
    expect(await handle()).toEqual({ requeue: "backoff" });
    expect(processed).toEqual([[key, { done: { unconfirmed: true }, nothingMissing: true }]]);
    expect(left()).toEqual(gone);
  });

  it("that could prove nothing takes away from callers of an issuer what their Project takes away", async () => {
    const account = (name: string) => ({ namespace: "jobs", name, role: "Users", access: "Read" }) as const;
    const serviceAccounts = [account("importer"), account("old")];
    const issuer = testIssuer("cluster", { access: "Read", serviceAccounts }).config;
    const audiences = [...issuer.audiences];
    const declared = { name: "cluster", kubernetes: {}, issuer: { audiences }, serviceAccounts: [account("importer")] };
    const spec = { authentication: { policy: "Enabled", issuers: [declared] } };
    const config = { ...project("shop", withConfig({ uid: "Project shop" })), issuers: new Map([["cluster", issuer]]) };
    const { handle, publishedConfigs } = leader({
      ...{ confirmed: false, published: { revision: 1, config }, objects: [stored("Project", "shop", { spec })] },
    });
    await handle();
    const kept = { ...issuer, serviceAccounts: [account("importer")] };
    expect(publishedConfigs.map(({ issuers }) => [...issuers.values()])).toEqual([[kept]]);
  });

  it("has published in the time that passed, also where the time of day was corrected meanwhile", async () => {
    const { handle, publishSeconds } = leader({
      onWrite(clock) {
        clock.advance(250);
        clock.adjust(-3_600_000);
      },
    });
    await handle();
    expect(publishSeconds).toEqual([0.25]);
  });
});

describe("a key that Redis lacks after it was emptied", () => {
  it.each<readonly [string, World]>([
    ["something is missing that may only be unseen", { confirmed: false }],
    ["the API server failed", { lateFailure: new ApiFailure(403, { reason: "Forbidden", message: "no" }) }],
    ["Redis was emptied once more while it was looked at", { begunAnew: true }],
  ])("does not count as published where %s", async (_, world) => {
    const { handle, processed, calls } = leader({ ...world, lacking: true });
    await handle().catch((error: unknown) => expect(error).toBe(world.lateFailure));
    expect(calls[0]).toEqual(["restore", ref]);
    expect(processed).toEqual([[key, expect.objectContaining({ nothingMissing: false })]]);
  });

  it("counts as published, whatever fails, once what was published last is back", async () => {
    const lateFailure = new ApiFailure(403, { reason: "Forbidden", message: "no" });
    const { handle, processed } = leader({ lateFailure });
    await expect(handle()).rejects.toBe(lateFailure);
    expect(processed).toEqual([[key, { nothingMissing: true }]]);
  });

  it("is not the case of one whose record of data can't be read: it stays as it was published, and holds up no other", async () => {
    const lateFailure = new InventoryUnreadable("Remove the field");
    const { handle, processed } = leader({ lateFailure });
    await expect(handle()).rejects.toBe(lateFailure);
    expect(processed).toEqual([[key, { nothingMissing: true, writeFailed: true }]]);
  });

  it("counts as published once it was withdrawn, which leaves nothing", async () => {
    const { handle, processed } = leader({ lacking: true });
    await handle();
    expect(processed).toEqual([[key, expect.objectContaining({ nothingMissing: true })]]);
  });
});

const usual = "The configuration can't be written to Redis at the moment; the operator retries";

describe("a reconcile that could not write to Redis", () => {
  it.each<readonly [string, Error, UnpublishedReason, string]>([
    ["Redis is away", new StoreUnavailable("no"), "PublishFailed", usual],
    ["nobody knows whether it was written", new OutcomeUnknown("no"), "PublishFailed", usual],
    ["Redis answers with an error", new RedisFault("WRONGTYPE", { code: "WRONGTYPE" }), "PublishFailed", usual],
    ["another one writes", new NotTheWriter("no"), "PublishFailed", usual],
    [
      "the fleet's ring can't be used",
      new FleetRingUnusable("of-a-secret"),
      "KeyRingUnusable",
      "an administrator of jsonplane",
    ],
    ["the Secret of Redis' users can't be used", new RedisSecretUnusable("no"), "PublishFailed", usual],
    ["Redis has no JSON", new RedisFault("Load the module", { code: "NOJSON" }), "PublishFailed", "Load the module"],
    ["the record of data is broken", new InventoryUnreadable("Remove the field"), "PublishFailed", "Remove the field"],
  ])("says so in the statuses, and is tried again: %s", async (_, failure, reason, message) => {
    const { handle, processed, calls, left } = leader({ failure });
    await expect(handle()).rejects.toBe(failure);
    const reported = ["writeUnpublished", reason, expect.stringContaining(message)];
    expect(calls).toEqual([["publish_failed"], ["giveBack", key], reported]);
    expect(JSON.stringify(calls)).not.toContain("of-a-secret");
    expect(processed).toEqual([[key, { nothingMissing: false, writeFailed: true }]]);
    expect(left()).toEqual(gone);
  });
});

describe("a reconcile on a Redis of another installation", () => {
  it("says of every object that it may be served no more, and is tried again", async () => {
    const failure = new RedisContested("there/uid/hash");
    const { handle, processed, calls, left } = leader({ failure });
    await expect(handle()).rejects.toBe(failure);
    expect(calls).toEqual([["publish_failed"], ["giveBack", key], ["writeContested", failure.message]]);
    expect(processed).toEqual([[key, { nothingMissing: false, writeFailed: true }]]);
    expect(left()).toEqual(gone);
  });
});

describe("a reconcile that failed otherwise", () => {
  it("is tried again and says nothing in the statuses", async () => {
    const failure = new ApiFailure(500, { message: "no" });
    const { handle, processed, calls, left } = leader({ lateFailure: failure });
    await expect(handle()).rejects.toBe(failure);
    expect(calls).toEqual([
      ["restore", ref],
      ["giveBack", key],
    ]);
    expect(processed).toEqual([[key, { nothingMissing: true }]]);
    expect(left()).toEqual(gone);
  });

  it("because its namespace goes, is looked at again ever more slowly and is no failure", async () => {
    const { handle, processed, left } = leader({ lateFailure: new NamespaceTerminating("no") });
    expect(await handle()).toEqual({ requeue: "backoff" });
    expect(processed).toEqual([[key, { nothingMissing: true }]]);
    expect(left()).toEqual(gone);
  });

  it("because this process leads no more, is left to whoever leads next: nothing is said of it", async () => {
    const { handle, processed, calls } = leader({ failure: new NotTheLeader("no") });
    expect(await handle()).toBeUndefined();
    expect(processed).toEqual([]);
    expect(calls).toEqual([["giveBack", key]]);
  });
});

describe("somebody was faster", () => {
  it.each<readonly [string, unknown, boolean]>([
    ["a Secret changed since it was read", new SecretChanged("no"), true],
    ["an object changed since", new ApiFailure(409, { reason: "Conflict", message: "no" }), true],
    ["an object is gone", new ApiFailure(404, { reason: "NotFound", message: "no" }), true],
    ["the API server is in trouble", new ApiFailure(500, { message: "no" }), false],
    ["Redis is away", new StoreUnavailable("no"), false],
  ])("%s", (_, error, overtaken) => {
    expect(isOvertaken(error)).toBe(overtaken);
  });
});
