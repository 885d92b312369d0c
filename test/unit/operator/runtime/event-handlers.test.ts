import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { hostPolicy } from "../../../../operator/compile/hosts.ts";
import type { KubeObject } from "../../../../operator/kube/api.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { kindLabel, nameLabel } from "../../../../operator/model/secret-names.ts";
import type { Acknowledgements, RolloutState } from "../../../../operator/publish/acknowledgements.ts";
import type { Availability, Liveness } from "../../../../operator/publish/availability.ts";
import type { UnacknowledgedRevision } from "../../../../operator/reconcile/reconcile-result.ts";
import { createEventHandlers } from "../../../../operator/runtime/event-handlers.ts";
import { createHostRegistry } from "../../../../operator/runtime/host-registry.ts";
import { stored, terminating } from "../../../support/kubernetes/stored-crs.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

function leader() {
  const time = manualTime();
  const added: string[] = [];
  const revoking: (readonly [string, "deleted" | "lowered"])[] = [];
  const hosts = createHostRegistry(hostPolicy(() => [{ namespace: "*", suffix: "example.org" }]));
  const handlers = createEventHandlers({
    add: (key, lane = "live") => void added.push(`${key} ${lane}`),
    revoking: (...lost) => void revoking.push(lost),
    hosts,
    keys: () => ["default/shop", "default/other"],
    monotonic: time.monotonic,
  });
  return { time, hosts, handlers, revoking, enqueued: () => added.splice(0) };
}

function secret(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  const metadata = { namespace: "default", name, uid: name, resourceVersion: "1", labels };
  return { metadata } as unknown as KubeObject;
}

const ofGeneration = (generation: number) => stored("ApiResource", "books", { metadata: { generation } });

describe("a change of an object", () => {
  it.each<readonly [string, CustomResource]>([
    ["a Project", stored("Project", "shop")],
    ["a child", stored("ApiResource", "books")],
    ["a child whose Project isn't there", stored("RootKey", "settings")],
  ])("enqueues its Project: %s", (_, object) => {
    const { handlers, enqueued } = leader();
    handlers.objectChanged(object, undefined, false);
    expect(enqueued()).toEqual(["default/shop live"]);
  });

  it("that came with a list waits behind what somebody has just changed", () => {
    const { handlers, enqueued } = leader();
    handlers.objectChanged(stored("Project", "shop"), undefined, true);
    expect(enqueued()).toEqual(["default/shop bulk"]);
  });

  it("of a Project's hosts enqueues the Projects that claim the same ones, and so does its end", () => {
    const { handlers, enqueued } = leader();
    const claiming = (name: string) => stored("Project", name, { spec: { hosts: ["a.example.org"] } });
    handlers.objectChanged(claiming("first"), undefined, false);
    enqueued();
    handlers.objectChanged(claiming("second"), undefined, false);
    expect(enqueued()).toEqual(["default/second live", "default/first live"]);
    handlers.objectRemoved(claiming("first"));
    expect(enqueued()).toEqual(["default/first live", "default/second live"]);
  });

  it("is not told again of what was found when the leader began", () => {
    const { handlers, enqueued } = leader();
    handlers.addExisting(stored("ProjectUser", "ada"));
    expect(enqueued()).toEqual([]);
    handlers.secretChanged(secret("ada-password"));
    expect(enqueued()).toEqual(["default/shop live"]);
  });
});

describe("the seconds from a change until every replica has it", () => {
  it("count from the event of the newest generation, and are told once", () => {
    const { handlers, time } = leader();
    handlers.objectChanged(ofGeneration(2), ofGeneration(1), false);
    time.freeze(250);
    expect(handlers.takeProgrammedDelay("ApiResource books")).toBe(0.25);
    expect(handlers.takeProgrammedDelay("ApiResource books")).toBeUndefined();
  });

  it.each<readonly [string, CustomResource | undefined, boolean]>([
    ["a status that was written: the generation is the same", ofGeneration(2), false],
    ["a first list, which says nothing of when it changed", undefined, true],
  ])("aren't counted after %s", (_, before, listed) => {
    const { handlers } = leader();
    handlers.objectChanged(ofGeneration(2), before, listed);
    expect(handlers.takeProgrammedDelay("ApiResource books")).toBeUndefined();
  });

  it("are forgotten with the object", () => {
    const { handlers } = leader();
    handlers.objectChanged(ofGeneration(2), ofGeneration(1), false);
    handlers.objectRemoved(ofGeneration(2));
    expect(handlers.takeProgrammedDelay("ApiResource books")).toBeUndefined();
  });
});

describe("an object that was deleted", () => {
  it("enqueues its Project, which takes it over once, and may give it back", () => {
    const { handlers, enqueued } = leader();
    const names = () => handlers.takeDeleted("default/shop").map(({ metadata }) => metadata.name);
    for (const name of ["books", "notes"]) handlers.objectRemoved(stored("ApiResource", name));
    expect(enqueued()).toEqual(["default/shop live", "default/shop live"]);
    handlers.giveBack("default/shop", handlers.takeDeleted("default/shop"));
    expect([names(), names()]).toEqual([["books", "notes"], []]);
  });

  it("no longer speaks for a Secret", () => {
    const { handlers, enqueued } = leader();
    handlers.addExisting(stored("ProjectUser", "ada"));
    handlers.objectRemoved(stored("ProjectUser", "ada"));
    enqueued();
    handlers.secretChanged(secret("ada-password"));
    expect(enqueued()).toEqual([]);
  });
});

describe("a change of a Secret", () => {
  const owned = { [kindLabel]: "ProjectUser", [nameLabel]: "ada" };

  it("enqueues the Projects that it matters to, and no others", () => {
    const { handlers, enqueued } = leader();
    handlers.addExisting(
      stored("ProjectUser", "ada", { spec: { passwordSecretRef: { name: "given", key: "password" } } }),
    );
    handlers.secretChanged(secret("given"));
    handlers.secretChanged(secret("unrelated"));
    expect(enqueued()).toEqual(["default/shop live"]);
  });

  it("waits behind what somebody has just changed when the Secret is one of the operator's own", () => {
    const { handlers, enqueued } = leader();
    handlers.addExisting(stored("ProjectUser", "ada"));
    handlers.secretChanged(secret("ada-password", owned));
    expect(enqueued()).toEqual(["default/shop bulk"]);
  });

  it("waits behind nothing when somebody deletes one of the operator's own: its credential may have leaked", () => {
    const { handlers, enqueued } = leader();
    handlers.addExisting(stored("ProjectUser", "ada"));
    handlers.secretRemoved(secret("ada-password", owned));
    expect(enqueued()).toEqual(["default/shop live"]);
  });
});

interface Seen {
  readonly rollout?: RolloutState;
  readonly availability?: Availability;
  readonly liveness?: Liveness;
  readonly refused?: readonly string[];
  readonly building?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly quotas?: ReadonlyMap<string, string>;
}

/** What the replicas say in one look. */
function look({
  rollout = "waiting",
  availability = "behind",
  liveness = "unknown",
  refused = [],
  building = {},
  quotas = new Map(),
}: Seen = {}): Acknowledgements {
  const builds = Object.entries(building).map(([key, resources]) => [key, new Map(Object.entries(resources))] as const);
  return {
    rolloutOf: (revision: number) => (revision <= 5 ? rollout : "waiting"),
    availabilityOf: () => availability,
    liveness: () => liveness,
    refusedProjects: () => new Set(refused),
    building: () => new Map(builds),
    quotaStates: () => quotas,
  } as unknown as Acknowledgements;
}

/** The status says that no replica serves it yet. */
const unserved = { revision: 5, state: "waiting", isServed: false } as const;

describe("what replicas acknowledge", () => {
  it.each<RolloutState>(["programmed", "no_replicas"])(
    "enqueues the Projects whose revision is waited for: %s",
    (rollout) => {
      const { handlers, enqueued } = leader();
      handlers.awaits("default/shop", unserved, look());
      handlers.awaits("default/later", { ...unserved, revision: 6 }, look());
      handlers.acknowledged(look());
      expect(enqueued()).toEqual([]);
      handlers.acknowledged(look({ rollout }));
      expect(enqueued()).toEqual(["default/shop live"]);
    },
  );

  it("enqueues a Project once some replica serves it while others lag, unless its status says so already", () => {
    const { handlers, enqueued } = leader();
    handlers.awaits("default/shop", unserved, look());
    handlers.awaits("default/told", { ...unserved, isServed: true }, look());
    handlers.acknowledged(look({ availability: "served" }));
    expect(enqueued()).toEqual(["default/shop live"]);
  });

  it.each<readonly [string, Seen]>([
    ["some replica serves the revision", { availability: "served" }],
    ["all have acknowledged it", { rollout: "programmed" }],
    ["the last replica has gone", { rollout: "no_replicas" }],
  ])("enqueues a Project at once when it happened while its status was written: %s", (_, seen) => {
    const { handlers, enqueued } = leader();
    // The look comes only once, and nobody waited yet.
    handlers.acknowledged(look(seen));
    handlers.awaits("default/shop", unserved, look(seen));
    expect(enqueued()).toEqual(["default/shop live"]);
  });

  it.each<readonly [string, Partial<UnacknowledgedRevision>, Seen]>([
    ["some replica serves the revision", { isServed: true }, { availability: "served" }],
    ["no replica is there", { state: "no_replicas" }, { rollout: "no_replicas", availability: "no_replicas" }],
    ["nothing is known of replicas", {}, { availability: "unknown" }],
  ])("enqueues nothing where the status says so already: %s", (_, written, seen) => {
    const { handlers, enqueued } = leader();
    handlers.awaits("default/shop", { ...unserved, ...written }, look(seen));
    handlers.acknowledged(look(seen));
    expect(enqueued()).toEqual([]);
  });

  it("enqueues a Project whose status says that no replica is there, once one has come", () => {
    const { handlers, enqueued } = leader();
    handlers.awaits("default/shop", { ...unserved, state: "no_replicas" }, look({ rollout: "no_replicas" }));
    handlers.acknowledged(look());
    expect(enqueued()).toEqual(["default/shop live"]);
  });

  it("enqueues every Project, behind others, when the last replica goes, and when one comes; not for each that comes and goes", () => {
    const { handlers, enqueued } = leader();
    const all = ["default/shop bulk", "default/other bulk"];
    const looks = (["some", "some", "none", "none", "unknown", "some"] as const).map((liveness) => {
      handlers.acknowledged(look({ liveness }));
      return enqueued();
    });
    expect(looks).toEqual([all, [], all, [], all, all]);
  });

  it("enqueues nothing who doesn't wait any more", () => {
    const { handlers, enqueued } = leader();
    handlers.awaits("default/shop", unserved, look());
    handlers.awaits("default/shop", undefined, look());
    handlers.acknowledged(look({ rollout: "programmed" }));
    expect(enqueued()).toEqual([]);
  });

  it("enqueues a Project when a replica begins to refuse something of it, and when it stops", () => {
    const { handlers, enqueued } = leader();
    const looks = [["default/shop"], ["default/shop"], []].map((refused) => {
      handlers.acknowledged(look({ refused }));
      return enqueued();
    });
    expect(looks).toEqual([["default/shop live"], [], ["default/shop live"]]);
  });

  it("enqueues a Project, behind others, when the indexes that are built for it differ", () => {
    const { handlers, enqueued } = leader();
    const building = (...indexes: readonly string[]) => look({ building: { "default/shop": { books: indexes } } });
    for (const seen of [building("a"), building("a")]) handlers.acknowledged(seen);
    expect(enqueued()).toEqual(["default/shop bulk"]);
    handlers.acknowledged(building("a", "b"));
    handlers.acknowledged(look());
    expect(enqueued()).toEqual(["default/shop bulk", "default/shop bulk"]);
  });

  it("enqueues a Project, behind others, when a quota of it is new or nearly full", () => {
    const { handlers, enqueued } = leader();
    for (const state of ["100 ", "100 ", "100 objects"]) {
      handlers.acknowledged(look({ quotas: new Map([["default/shop", state]]) }));
    }
    expect(enqueued()).toEqual(["default/shop bulk", "default/shop bulk"]);
  });
});

it("what has less from now on is reported: a deletion once, lowered access, a Project that serves less; nothing else is", () => {
  const { handlers, revoking } = leader();
  const isRevocation = (object: CustomResource, before?: CustomResource): "deleted" | "lowered" | false => {
    handlers.objectChanged(object, before, false);
    return revoking.splice(0)[0]?.[1] ?? false;
  };
  const key = (spec: JsonObject, metadata: object = {}) => stored("ApiKey", "ci", { metadata, spec });
  const project = (serving: string) => stored("Project", "shop", { spec: { serving } });
  const admin = { role: "Administrators", access: "Write" };
  const going = key(admin, terminating);
  expect(isRevocation(going, key(admin))).toBe("deleted");
  expect(isRevocation(going, going)).toBe(false);
  handlers.objectRemoved(going);
  expect(revoking).toEqual([]);
  handlers.objectRemoved(key(admin));
  expect(revoking.splice(0)).toEqual([["default/shop", "deleted"]]);
  expect(isRevocation(key({ ...admin, access: "Read" }), key(admin))).toBe("lowered");
  expect(isRevocation(key({ ...admin, role: "Users" }), key(admin))).toBe("lowered");
  expect(isRevocation(key(admin), key({ role: "Users", access: "Read" }))).toBe(false);
  expect(isRevocation(key(admin), undefined)).toBe(false);
  expect(isRevocation(project("Off"), project("ReadOnly"))).toBe("lowered");
  expect(isRevocation(project("ReadWrite"), project("Off"))).toBe(false);
});
