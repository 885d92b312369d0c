import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bringParts } from "../../../../tools/parts/bring-parts.ts";
import { partGroups, partsOf } from "../../../../tools/parts/groups.ts";
import { type BringOptions, type Part, PartMissing } from "../../../../tools/parts/part.ts";
import { withPartLock } from "../../../../tools/parts/part-lock.ts";
import { eventually } from "../../../support/time/eventually.ts";

let cache = "";
let printed: string[] = [];

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "jsonplane-bring-"));
  printed = [];
});
afterEach(() => rm(cache, { recursive: true, force: true }));

/** What is "on this machine" in a test: names of parts. */
type Machine = Set<string>;

function fakePart(name: string, machine: Machine, bring: (options: BringOptions) => Promise<void>): Part {
  return {
    name,
    firstTime: "built with Go, some 4 minutes",
    ways: [],
    variable: `PATH_OF_${name.toUpperCase()}`,
    find: async () => (machine.has(name) ? { path: `/cache/${name}`, origin: "cache" } : undefined),
    async bring(_, options) {
      await bring(options);
      machine.add(name);
    },
    versionOf: async () => "1.2.3",
  };
}

const run = (parts: readonly Part[], env: Record<string, string | undefined> = {}) =>
  bringParts({ ...env, JSONPLANE_CACHE: cache }, parts, {
    print: (line) => void printed.push(line),
    progressEveryMs: 5,
  });

describe("the parts step", () => {
  it("says of each part that is here its version and where it is from, and brings nothing", async () => {
    const never = () => Promise.reject(new Error("was brought"));
    await run([fakePart("etcd", new Set(["etcd"]), never)]);
    expect(printed).toHaveLength(2);
    expect(printed[1]).toMatch(/^ {2}etcd +1\.2\.3 +cache \(\/cache\/etcd\)$/);
  });

  it("says of a missing part what it costs, how far it is, and when it is here", async () => {
    const part = fakePart("etcd", new Set(), async ({ onProgress }) => {
      onProgress("3 of 9 packages compiled");
      while (!printed.some((line) => line.includes("3 of 9 packages compiled"))) {
        await new Promise((resume) => setTimeout(resume, 2));
      }
    });
    await run([part]);
    const text = printed.join("\n");
    expect(text).toMatch(/etcd +missing +built with Go, some 4 minutes/);
    expect(text).toMatch(/etcd: 3 of 9 packages compiled \(\d+ s\)/);
    expect(text).toMatch(/etcd: here after \d+ s/);
  });

  it("tells whatever runs next where each part is", async () => {
    const env: Record<string, string | undefined> = { JSONPLANE_CACHE: cache };
    await bringParts(env, [fakePart("etcd", new Set(), async () => undefined)], { print: () => undefined });
    expect(env.PATH_OF_ETCD).toBe("/cache/etcd");
  });

  it("brings two at a time at most", async () => {
    const machine: Machine = new Set();
    let running = 0;
    let most = 0;
    const slow = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resume) => setTimeout(resume, 5));
      running -= 1;
    };
    await run(["a", "b", "c", "d", "e"].map((name) => fakePart(name, machine, slow)));
    expect([...machine].sort()).toEqual(["a", "b", "c", "d", "e"]);
    expect(most).toBe(2);
  });

  it("brings a part once when two processes want it", async () => {
    const machine: Machine = new Set();
    let brought = 0;
    const part = fakePart("etcd", machine, async () => {
      brought += 1;
      await eventually(() => expect(printed.join("\n")).toContain("etcd: waiting for another process that brings it"));
    });
    await Promise.all([run([part]), run([part])]);
    expect(brought).toBe(1);
  });

  it("ends with the reason when a part can't be had: others that run are aborted, others that wait are not begun", async () => {
    const machine: Machine = new Set();
    const begun: string[] = [];
    const aborted: string[] = [];
    const long = (name: string) => (options: BringOptions) => {
      begun.push(name);
      return new Promise<void>((_, reject) => {
        options.signal.addEventListener("abort", () => {
          aborted.push(name);
          reject(new Error("killed"));
        });
      });
    };
    const failing = fakePart("helm", machine, async () => {
      await eventually(() => expect(begun).toEqual(["server"]));
      begun.push("helm");
      throw new PartMissing("Go couldn't build helm: no network");
    });
    const parts = [fakePart("server", machine, long("server")), failing, fakePart("lua", machine, long("lua"))];
    await expect(run(parts)).rejects.toThrow("Go couldn't build helm: no network");
    expect(begun).toEqual(["server", "helm"]);
    expect(aborted).toEqual(["server"]);
  });

  it("doesn't begin to build what still waited for its lock when another part couldn't be had", async () => {
    let fail: () => void = () => undefined;
    const failing = fakePart("helm", new Set(), async () => {
      await new Promise<void>((resolve) => {
        fail = resolve;
      });
      throw new PartMissing("no network");
    });
    let begun = false;
    const late = fakePart("lua", new Set(), async () => {
      begun = true;
    });
    const running = withPartLock({ JSONPLANE_CACHE: cache }, "lua", async () => {
      const both = run([failing, late]);
      await eventually(() => expect(printed.join("\n")).toContain("lua: waiting for another process that brings it"));
      fail();
      // The lock of the other part is still held: the failure is reported without waiting for it.
      await expect(both).rejects.toThrow("no network");
      expect(printed).toContain("  helm: failed; what else has begun ends now");
    });
    await running;
    expect(begun).toBe(false);
  });

  it("that fails by a defect says which part it was", async () => {
    const part = fakePart("helm", new Set(), () => Promise.reject(new Error("EACCES")));
    await expect(run([part])).rejects.toThrow(new PartMissing("helm can't be brought: EACCES"));
  });
});

describe("the groups", () => {
  it("name each part once", async () => {
    const env = { ...process.env, JSONPLANE_CLUSTER: "kind" };
    for (const group of partGroups) {
      const names = (await partsOf(group, env)).map(({ name }) => name);
      expect(names, group).toEqual([...new Set(names)]);
    }
  });

  it("of journeys on a cluster that is there are what talks to it, and nothing that makes a node", async () => {
    const env = { ...process.env, JSONPLANE_E2E_KUBECONFIG: "/some/kubeconfig", JSONPLANE_E2E_FROM: "" };
    expect((await partsOf("e2e", env)).map(({ name }) => name)).toEqual(["kubectl", "helm 4"]);
  });

  it("of a commit hold no part that only the nightly tier or benchmarks use", async () => {
    const names = (await partsOf("test", { ...process.env, JSONPLANE_CLUSTER: "kind" })).map(({ name }) => name);
    for (const unused of ["helm 3", "metrics-server", "schemathesis", "pocketbase", "webdis", "kinto"]) {
      expect(names).not.toContain(unused);
    }
  });
});
