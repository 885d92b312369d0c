import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";

import { describe, expect, it } from "vitest";
import { everyHost } from "../../../../cli/manifests/projects.ts";
import { createHostClaims, createHostHolders } from "../../../../operator/compile/host-claims.ts";
import { grantFor, type HostGrant, type HostPolicy, hostPolicy, noHosts } from "../../../../operator/compile/hosts.ts";
import type { Project } from "../../../../operator/model/objects.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

const hostNames = ["a.example.org", "b.example.org", "c.shop.example.net", "example.net"];
const policy = hostPolicy(() => [
  { namespace: "*", suffix: "example.org" },
  { namespace: "shop", suffix: "shop.example.net" },
]);

interface Given {
  readonly namespace: string;
  readonly name: string;
  readonly hosts?: readonly string[];
  readonly age?: number;
  readonly deleting?: boolean;
  readonly incarnation?: number;
}

function projectOf({ namespace, name, hosts = [], age = 0, deleting = false, incarnation = 1 }: Given): Project {
  return {
    apiVersion: "jsonplane.io/v1alpha1",
    kind: "Project",
    metadata: {
      namespace,
      name,
      uid: `${namespace}/${name} ${incarnation}`,
      creationTimestamp: new Date(1_760_000_000_000 + age * 1000).toISOString(),
      ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: { hosts },
  } as unknown as Project;
}

const locations = ["shop", "bank"].flatMap((namespace) => ["x", "y", "z"].map((name) => ({ namespace, name })));

const rarely = fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.boolean() });
const change = fc.record({
  location: fc.constantFrom(...locations),
  hosts: fc.subarray(hostNames),
  age: fc.integer({ min: 0, max: 2 }),
  deleting: rarely,
  incarnation: fc.integer({ min: 1, max: 2 }),
  gone: rarely,
  publishes: fc.boolean(),
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/**
 * What each Project is granted, found by looking at all of them: the incumbent of a host has it,
 * else the oldest that may claim it.
 */
function assignedOver(
  projects: readonly Project[],
  incumbents: ReadonlyMap<string, string>,
  { mayClaim, suffixesOf }: HostPolicy,
): ReadonlyMap<string, HostGrant> {
  const standing = projects.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const rank = ({ metadata: { creationTimestamp, namespace, name } }: Project) =>
    `${creationTimestamp} ${namespace} ${name}`;
  const bySeniority = standing.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const holderOf = (host: string): Project | undefined => {
    const claimants = bySeniority.filter(
      ({ metadata, spec }) => spec.hosts?.includes(host) && mayClaim(metadata.namespace, host),
    );
    return claimants.find(({ metadata }) => metadata.uid === incumbents.get(host)) ?? claimants[0];
  };
  const grants = standing.map(({ metadata: { uid, namespace }, spec: { hosts = [] } }): [string, HostGrant] => {
    const granted = hosts.filter((host) => holderOf(host)?.metadata.uid === uid);
    const refused = hosts.flatMap((host, position): HostGrant["refused"] => {
      const pointer = `/spec/hosts/${position}`;
      if (granted.includes(host)) return [];
      if (mayClaim(namespace, host))
        return [{ reason: "HostConflict", message: `Another Project holds the host "${host}"`, pointer }];
      const refusal = `The platform does not let namespace "${namespace}" claim the host "${host}"`;
      const message = `${refusal}: it allows ${suffixesOf(namespace).join(", ")}, and names below`;
      return [{ reason: "NotAllowed", message, pointer }];
    });
    return [uid, { granted, refused }];
  });
  return new Map(grants);
}

/** A fleet as both see it: the indexes under test, and plain lists of everything. */
function fleet() {
  const claims = createHostClaims();
  const holders = createHostHolders();
  const standing = new Map<string, Project>();
  const plainHolders = new Map<string, string>();
  return {
    standing,
    all: (policy: HostPolicy) => assignedOver([...standing.values()], plainHolders, policy),
    one: (project: Project) => grantFor(project, claims, holders, policy),
    holdersAgree: () => hostNames.every((host) => holders.get(host) === plainHolders.get(host)),
    /** The Projects that the index says have to be looked at again. */
    change({ location, gone, publishes: _, ...rest }: Change): readonly string[] {
      const key = `${location.namespace}/${location.name}`;
      const project = projectOf({ ...location, ...rest });
      if (gone) standing.delete(key);
      else standing.set(key, project);
      return gone ? claims.remove(location) : claims.put(project);
    },
    publish({ location }: Change): void {
      const key = `${location.namespace}/${location.name}`;
      const project = standing.get(key);
      for (const [host, uid] of plainHolders) if (uid.startsWith(`${key} `)) plainHolders.delete(host);
      if (project === undefined) {
        holders.publish(location, undefined, []);
        return;
      }
      const { uid } = project.metadata;
      const { granted } = grantFor(project, claims, holders, policy);
      // One publishes only what nobody else is published with.
      const hosts = granted.filter((host) => !plainHolders.has(host));
      for (const host of hosts) plainHolders.set(host, uid);
      holders.publish(location, uid, hosts);
    },
  };
}

describe("host claims", () => {
  it("grant one Project what assigning over all of them grants it, whatever came, changed and went before", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
        const world = fleet();
        for (const each of changes) {
          world.change(each);
          if (each.publishes) world.publish(each);
        }
        expect(world.holdersAgree()).toBe(true);
        const all = world.all(policy);
        for (const project of world.standing.values()) {
          expect(world.one(project)).toEqual(all.get(project.metadata.uid) ?? noHosts);
        }
      }),
      { numRuns: countForTier(500) },
    );
  });

  it("name every other Project whose grant a change alters", () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 15 }), (changes) => {
        const world = fleet();
        for (const each of changes) {
          const before = world.all(everyHost);
          const reported = world.change(each);
          const after = world.all(everyHost);
          const altered = [...world.standing]
            .filter(([, { metadata }]) => !isDeepStrictEqual(before.get(metadata.uid), after.get(metadata.uid)))
            .map(([name]) => name)
            .filter((name) => name !== `${each.location.namespace}/${each.location.name}`);
          expect(reported).toEqual(expect.arrayContaining(altered));
        }
      }),
      { numRuns: countForTier(300) },
    );
  });

  it("tell of nobody when a Project changed something else", () => {
    const claims = createHostClaims();
    claims.put(projectOf({ namespace: "shop", name: "x", hosts: ["a.example.org"] }));
    const reported = claims.put(projectOf({ namespace: "bank", name: "y", hosts: ["a.example.org"] }));
    expect(reported).toEqual(["shop/x"]);
    expect(claims.put(projectOf({ namespace: "bank", name: "y", hosts: ["a.example.org"] }))).toEqual([]);
    expect(claims.claimantsOf("a.example.org").map(({ metadata }) => metadata.name)).toEqual(["x", "y"]);
  });

  it("follow a Project that was made anew under its name", () => {
    const claims = createHostClaims();
    claims.put(projectOf({ namespace: "shop", name: "x", hosts: ["a.example.org"] }));
    const anew = projectOf({ namespace: "shop", name: "x", hosts: ["a.example.org"], incarnation: 2 });
    claims.put(anew);
    expect(claims.claimantsOf("a.example.org").map(({ metadata }) => metadata.uid)).toEqual(["shop/x 2"]);
    expect(grantFor(anew, claims, new Map(), policy).granted).toEqual(["a.example.org"]);
  });
});

describe("host holders", () => {
  it("say which hosts were let go of or taken", () => {
    const holders = createHostHolders();
    const ref = { namespace: "shop", name: "x" };
    expect(holders.publish(ref, "1", ["a", "b"])).toEqual(["a", "b"]);
    expect(holders.publish(ref, "1", ["b", "a"])).toEqual([]);
    expect(holders.publish(ref, "1", ["b"])).toEqual(["a"]);
    expect(holders.publish(ref, "2", ["b"])).toEqual(["b"]);
    expect(holders.get("b")).toBe("2");
    expect(holders.publish(ref, undefined, [])).toEqual(["b"]);
    expect(holders.get("b")).toBeUndefined();
  });
});

describe("what a namespace may claim", () => {
  const rules = hostPolicy(() => [
    { namespace: "shop", suffix: "shop.example.org" },
    { namespace: "*", suffix: "{namespace}.apps.example.org" },
    { namespace: "*", suffix: "open.example.net" },
  ]);

  it.each([
    ["shop", "shop.example.org", true],
    ["shop", "a.b.shop.example.org", true],
    ["bank", "shop.example.org", false],
    ["shop", "evilshop.example.org", false],
    ["bank", "bank.apps.example.org", true],
    ["bank", "x.bank.apps.example.org", true],
    ["bank", "shop.apps.example.org", false],
    ["bank", "mybank.apps.example.org", false],
    ["bank", "apps.example.org", false],
    ["bank", "open.example.net", true],
    ["bank", "bank.open.example.net", true],
    ["bank", "example.net", false],
  ])("%s, %s: %s", (namespace, host, may) => {
    expect(rules.mayClaim(namespace, host)).toBe(may);
  });

  it("is nothing without a rule", () => {
    expect(hostPolicy(() => []).mayClaim("shop", "shop.example.org")).toBe(false);
    const { refused } = grantFor(
      projectOf({ namespace: "shop", name: "x", hosts: ["a.example.org"] }),
      createHostClaims(),
      new Map(),
      hostPolicy(() => []),
    );
    expect(refused[0]?.message).toBe(
      'The platform does not let namespace "shop" claim the host "a.example.org": it allows this namespace no host at all',
    );
  });

  it("is said to the namespace's users, and nothing of other namespaces", () => {
    const project = projectOf({ namespace: "bank", name: "x", hosts: ["shop.example.org"] });
    const { refused } = grantFor(project, createHostClaims(), new Map(), rules);
    expect(refused[0]).toEqual({
      reason: "NotAllowed",
      pointer: "/spec/hosts/0",
      message:
        'The platform does not let namespace "bank" claim the host "shop.example.org": it allows bank.apps.example.org, open.example.net, and names below',
    });
  });
});
