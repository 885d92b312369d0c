import { describe, expect, it } from "vitest";
import { hostPolicy } from "../../../../operator/compile/host-policy.ts";
import type { KubeObject } from "../../../../operator/kube/api.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { kindLabel, nameLabel } from "../../../../operator/model/secret-names.ts";
import type { Acknowledgements, Reach } from "../../../../operator/publish/acknowledgements.ts";
import type { Availability, Liveness } from "../../../../operator/publish/availability.ts";
import { createHostDesk } from "../../../../operator/runtime/host-desk.ts";
import { createWakeups, type Wakeups } from "../../../../operator/runtime/wakeups.ts";
import type { Watched } from "../../../../operator/watch/watched.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

function leader() {
  const time = manualTime();
  const added: string[] = [];
  const hosts = createHostDesk(hostPolicy([{ namespace: "*", suffix: "example.org" }]));
  const wakeups = createWakeups({
    add: (key, lane = "live") => void added.push(`${key} ${lane}`),
    hosts,
    keys: () => ["default/shop", "default/other"],
    monotonic: time.monotonic,
  });
  return { time, hosts, wakeups, woken: () => added.splice(0) };
}

function secret(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  const metadata = { namespace: "default", name, uid: name, resourceVersion: "1", labels };
  return { metadata } as unknown as KubeObject;
}

/** A cache that tells of what is noted in it, as the real one does. */
function telling(wakeups: Pick<Wakeups, "secretChanged">, noted: string[]): Watched {
  return {
    get: () => undefined,
    all: () => [],
    synced: () => true,
    note(object) {
      noted.push(object.metadata.name);
      wakeups.secretChanged(object);
    },
    noteRemoved: (object) => void noted.push(`-${object.metadata.name}`),
  };
}

const ofGeneration = (generation: number) => stored("ApiResource", "books", { metadata: { generation } });

describe("a change of an object", () => {
  it.each<readonly [string, CustomResource]>([
    ["a Project", stored("Project", "shop")],
    ["a child", stored("ApiResource", "books")],
    ["a child whose Project isn't there", stored("RootKey", "settings")],
  ])("wakes its Project: %s", (_, object) => {
    const { wakeups, woken } = leader();
    wakeups.objectChanged(object, undefined, false);
    expect(woken()).toEqual(["default/shop live"]);
  });

  it("that came with a list waits behind what somebody has just changed", () => {
    const { wakeups, woken } = leader();
    wakeups.objectChanged(stored("Project", "shop"), undefined, true);
    expect(woken()).toEqual(["default/shop bulk"]);
  });

  it("of a Project's hosts wakes the Projects that claim the same ones, and so does its end", () => {
    const { wakeups, woken } = leader();
    const claiming = (name: string) => stored("Project", name, { spec: { hosts: ["a.example.org"] } });
    wakeups.objectChanged(claiming("first"), undefined, false);
    woken();
    wakeups.objectChanged(claiming("second"), undefined, false);
    expect(woken()).toEqual(["default/second live", "default/first live"]);
    wakeups.objectRemoved(claiming("first"));
    expect(woken()).toEqual(["default/first live", "default/second live"]);
  });

  it("is not told again of what was found when the leader began", () => {
    const { wakeups, woken } = leader();
    wakeups.found(stored("ProjectUser", "ada"));
    expect(woken()).toEqual([]);
    wakeups.secretChanged(secret("ada-password"));
    expect(woken()).toEqual(["default/shop live"]);
  });
});

describe("the seconds from a change until every replica has it", () => {
  it("count from the event of the newest generation, and are told once", () => {
    const { wakeups, time } = leader();
    wakeups.objectChanged(ofGeneration(2), ofGeneration(1), false);
    time.freeze(250);
    expect(wakeups.programmed("ApiResource books")).toBe(0.25);
    expect(wakeups.programmed("ApiResource books")).toBeUndefined();
  });

  it.each<readonly [string, CustomResource | undefined, boolean]>([
    ["a status that was written: the generation is the same", ofGeneration(2), false],
    ["a first list, which says nothing of when it changed", undefined, true],
  ])("aren't counted after %s", (_, before, listed) => {
    const { wakeups } = leader();
    wakeups.objectChanged(ofGeneration(2), before, listed);
    expect(wakeups.programmed("ApiResource books")).toBeUndefined();
  });

  it("are forgotten with the object", () => {
    const { wakeups } = leader();
    wakeups.objectChanged(ofGeneration(2), ofGeneration(1), false);
    wakeups.objectRemoved(ofGeneration(2));
    expect(wakeups.programmed("ApiResource books")).toBeUndefined();
  });
});

describe("an object that was deleted", () => {
  it("wakes its Project, which takes it over once, and may give it back", () => {
    const { wakeups, woken } = leader();
    const names = () => wakeups.takeDeleted("default/shop").map(({ metadata }) => metadata.name);
    for (const name of ["books", "notes"]) wakeups.objectRemoved(stored("ApiResource", name));
    expect(woken()).toEqual(["default/shop live", "default/shop live"]);
    wakeups.giveBack("default/shop", wakeups.takeDeleted("default/shop"));
    expect([names(), names()]).toEqual([["books", "notes"], []]);
  });

  it("no longer speaks for a Secret", () => {
    const { wakeups, woken } = leader();
    wakeups.found(stored("ProjectUser", "ada"));
    wakeups.objectRemoved(stored("ProjectUser", "ada"));
    woken();
    wakeups.secretChanged(secret("ada-password"));
    expect(woken()).toEqual([]);
  });
});

describe("a change of a Secret", () => {
  const owned = { [kindLabel]: "ProjectUser", [nameLabel]: "ada" };

  it("wakes the Projects that it matters to, and no others", () => {
    const { wakeups, woken } = leader();
    wakeups.found(stored("ProjectUser", "ada", { spec: { passwordSecretRef: { name: "given", key: "password" } } }));
    wakeups.secretChanged(secret("given"));
    wakeups.secretChanged(secret("unrelated"));
    expect(woken()).toEqual(["default/shop live"]);
  });

  it("waits behind what somebody has just changed when the Secret is one of the operator's own", () => {
    const { wakeups, woken } = leader();
    wakeups.found(stored("ProjectUser", "ada"));
    wakeups.secretChanged(secret("ada-password", owned));
    expect(woken()).toEqual(["default/shop bulk"]);
  });

  it("that two objects want wakes their Projects also when it is noted after an own write: the other one is told that it is taken", () => {
    const { wakeups, woken } = leader();
    wakeups.found(stored("ApiKey", "ci"));
    wakeups.found(stored("ApiKey", "other", { spec: { secretName: "ci-api-key" } }));
    const quiet = wakeups.quiet(telling(wakeups, []));
    quiet.note(secret("ci-api-key"));
    expect(woken()).toEqual(["default/shop live"]);
    quiet.note(secret("ci-key-hash"));
    expect(woken()).toEqual([]);
  });

  it("that is noted after an own write wakes nobody, and the next one does again", () => {
    const { wakeups, woken } = leader();
    wakeups.found(stored("ProjectUser", "ada"));
    const noted: string[] = [];
    const quiet = wakeups.quiet(telling(wakeups, noted));
    quiet.note(secret("ada-password"));
    quiet.noteRemoved(secret("ada-user-hash"));
    expect(woken()).toEqual([]);
    expect(noted).toEqual(["ada-password", "-ada-user-hash"]);
    wakeups.secretChanged(secret("ada-password"));
    expect(woken()).toEqual(["default/shop live"]);
  });
});

interface Seen {
  readonly reach?: Reach;
  readonly availability?: Availability;
  readonly liveness?: Liveness;
  readonly refused?: readonly string[];
  readonly building?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly uses?: ReadonlyMap<string, unknown>;
}

/** What the replicas say in one look. */
function look({
  reach = "waiting",
  availability = "behind",
  liveness = "unknown",
  refused = [],
  building = {},
  uses = new Map(),
}: Seen = {}): Acknowledgements {
  const builds = Object.entries(building).map(([key, resources]) => [key, new Map(Object.entries(resources))] as const);
  return {
    reachOf: (revision: number) => (revision <= 5 ? reach : "waiting"),
    availabilityOf: () => availability,
    liveness: () => liveness,
    refusedProjects: () => new Set(refused),
    building: () => new Map(builds),
    uses: () => uses,
  } as unknown as Acknowledgements;
}

describe("what replicas acknowledge", () => {
  it.each<Reach>(["programmed", "no_replicas"])("wakes the Projects whose revision is waited for: %s", (reach) => {
    const { wakeups, woken } = leader();
    wakeups.awaits("default/shop", { revision: 5, isServed: false });
    wakeups.awaits("default/later", { revision: 6, isServed: false });
    wakeups.acknowledged(look());
    expect(woken()).toEqual([]);
    wakeups.acknowledged(look({ reach }));
    expect(woken()).toEqual(["default/shop live"]);
  });

  it("wakes a Project once some replica serves it while others lag, unless its status says so already", () => {
    const { wakeups, woken } = leader();
    wakeups.awaits("default/shop", { revision: 5, isServed: false });
    wakeups.awaits("default/told", { revision: 5, isServed: true });
    wakeups.acknowledged(look({ availability: "served" }));
    expect(woken()).toEqual(["default/shop live"]);
  });

  it("wakes every Project, behind others, when the last replica goes, and when one comes; not for each that comes and goes", () => {
    const { wakeups, woken } = leader();
    const all = ["default/shop bulk", "default/other bulk"];
    const looks = (["some", "some", "none", "none", "unknown", "some"] as const).map((liveness) => {
      wakeups.acknowledged(look({ liveness }));
      return woken();
    });
    expect(looks).toEqual([all, [], all, [], all, all]);
  });

  it("wakes nobody who doesn't wait any more", () => {
    const { wakeups, woken } = leader();
    wakeups.awaits("default/shop", { revision: 5, isServed: false });
    wakeups.awaits("default/shop", undefined);
    wakeups.acknowledged(look({ reach: "programmed" }));
    expect(woken()).toEqual([]);
  });

  it("wakes a Project when a replica begins to refuse something of it, and when it stops", () => {
    const { wakeups, woken } = leader();
    const looks = [["default/shop"], ["default/shop"], []].map((refused) => {
      wakeups.acknowledged(look({ refused }));
      return woken();
    });
    expect(looks).toEqual([["default/shop live"], [], ["default/shop live"]]);
  });

  it("wakes a Project, behind others, when the indexes that are built for it differ", () => {
    const { wakeups, woken } = leader();
    const building = (...indexes: readonly string[]) => look({ building: { "default/shop": { books: indexes } } });
    for (const seen of [building("a"), building("a")]) wakeups.acknowledged(seen);
    expect(woken()).toEqual(["default/shop bulk"]);
    wakeups.acknowledged(building("a", "b"));
    wakeups.acknowledged(look());
    expect(woken()).toEqual(["default/shop bulk", "default/shop bulk"]);
  });

  it("wakes a Project, behind others, when what it uses of its quotas was told anew", () => {
    const { wakeups, woken } = leader();
    const uses = new Map([["default/shop", {}]]);
    for (const seen of [uses, uses, new Map([["default/shop", {}]])]) wakeups.acknowledged(look({ uses: seen }));
    expect(woken()).toEqual(["default/shop bulk", "default/shop bulk"]);
  });
});
