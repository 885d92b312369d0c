// What the operator makes of objects that the platform's rules limit.

import { describe, expect, it } from "vitest";
import { grantHosts } from "../../../../cli/manifests/projects.ts";
import type { JsonObject } from "../../../../core/config/types.ts";
import { hostPolicy } from "../../../../operator/compile/hosts.ts";
import {
  applyGuardRails,
  withRetainedData,
  withRetention,
} from "../../../../operator/guard-rails/apply-guard-rails.ts";
import { readGuardRails } from "../../../../operator/guard-rails/rules.ts";
import type { Project } from "../../../../operator/model/objects.ts";
import {
  type GuardRailCase,
  guardRailCases,
  inNamespace,
  noHostsAllowed,
} from "../../../support/kubernetes/guard-rail-cases.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

function apply(rules: Readonly<Record<string, string>>, ...objects: Parameters<typeof projectObjects>[1][]) {
  return applyGuardRails(projectObjects("shop", ...objects), readGuardRails({ ...noHostsAllowed, ...rules }));
}

/** Places at fault, those of hosts too, which are refused one by one. */
function refusedPlaces({ kind, spec, rules }: GuardRailCase): readonly (string | undefined)[] {
  const object = stored(kind, "shop", { spec });
  const rails = readGuardRails({ ...noHostsAllowed, ...rules });
  const { notAllowed } = applyGuardRails(projectObjects("shop", object), rails);
  const faults = notAllowed?.get(object.metadata.uid)?.faults ?? [];
  return [...faults, ...refusedHosts(object, rails.rulesOf)].map(({ pointer }) => pointer);
}

function refusedHosts(object: { readonly kind: string }, rulesOf: ReturnType<typeof readGuardRails>["rulesOf"]) {
  if (object.kind !== "Project") return [];
  const project = object as Project;
  const policy = hostPolicy((namespace) => rulesOf(namespace).allowedHosts ?? []);
  return grantHosts([project], new Map(), policy).get(project.metadata.uid)?.refused ?? [];
}

describe("the operator, by guard rails,", () => {
  it.each(guardRailCases)("decides: $shows", (each) => {
    const given = inNamespace(each, "default");
    expect(refusedPlaces(given)).toEqual(given.refused);
  });

  it("lets Projects take over data of an earlier namespace only where the rules say so", () => {
    const adopting = (rules: Readonly<Record<string, string>>) => apply(rules, stored("Project", "shop")).mayAdopt;
    expect([adopting({}), adopting({ adoptData: "Deny" }), adopting({ adoptData: "Allow" })]).toEqual([
      ...[undefined, undefined, true],
    ]);
    expect(adopting({ adoptData: "Allow", "default.adoptData": "Deny" })).toBeUndefined();
    expect(adopting({ "default.adoptData": "Allow" })).toBe(true);
  });

  it("says what may be written instead", () => {
    const project = stored("Project", "shop", { spec: { limits: { quota: { objects: 5000 } } } });
    const books = stored("ApiResource", "books", { spec: { access: { create: "Anyone" } } });
    const { notAllowed } = apply({ maxQuotaObjects: "1000", anyone: "ReadOnly" }, project, books);
    const messages = [...(notAllowed?.values() ?? [])].flatMap(({ faults }) => faults.map(({ message }) => message));
    expect(messages).toEqual([
      'The platform allows namespace "default" at most 1000 as limits.quota.objects, not 5000',
      'The platform does not let namespace "default" give Anyone the right to create: write Authenticated, Administrators or Nobody',
    ]);
  });

  it("gives a Project the quota and the rate that it did not declare, and leaves those that it did", () => {
    const rules = {
      maxQuotaObjects: "1000",
      defaultQuotaObjects: "100",
      maxQuotaBytes: "5000000",
      maxRequestsPerSecond: "50",
      maxBurst: "80",
    };
    const limitsOf = (limits: JsonObject) =>
      apply(rules, stored("Project", "shop", { spec: { limits } })).project?.spec.limits;
    expect(limitsOf({})).toMatchObject({
      quota: { objects: 100, bytes: 5_000_000 },
      rate: { project: { requestsPerSecond: 50, burst: 50 } },
      maxPageSize: 100,
    });
    const own = {
      quota: { objects: 700 },
      rate: { project: { requestsPerSecond: 5 }, caller: { requestsPerSecond: 1 } },
    };
    expect(limitsOf(own)).toMatchObject({ ...own, quota: { objects: 700, bytes: 5_000_000 } });
  });

  it("keeps the default of a burst within the largest burst", () => {
    const rules = { defaultRequestsPerSecond: "50", maxRequestsPerSecond: "100", maxBurst: "20" };
    const { project } = apply(rules, stored("Project", "shop"));
    expect(project?.spec.limits.rate?.project).toEqual({ requestsPerSecond: 50, burst: 20 });
  });

  it("keeps data where it must, whatever the refused manifest says, also of objects that have gone", () => {
    const project = stored("Project", "shop", { spec: { deletionPolicy: "Delete" } });
    const books = stored("ApiResource", "books", { spec: { deletionPolicy: "Delete" } });
    const pages = stored("RootKey", "pages");
    const ann = stored("ProjectUser", "ann");
    const rails = readGuardRails({ ...noHostsAllowed, deletionPolicy: "Retain" });
    const held = applyGuardRails(projectObjects("shop", project, books, pages), rails);
    expect(held.project?.spec.deletionPolicy).toBe("Retain");
    expect(held.resources.map(({ spec }) => spec.deletionPolicy)).toEqual(["Retain"]);
    const gone = withRetainedData([project, books, pages, ann], rails);
    expect(gone.map((object) => "deletionPolicy" in object.spec && object.spec.deletionPolicy)).toEqual([
      "Retain",
      "Retain",
      false,
      false,
    ]);
  });

  it("deletes nothing that a manifest keeps, where data have to be deleted: it only refuses the manifest", () => {
    const { project } = apply({ deletionPolicy: "Delete" }, stored("Project", "shop"));
    expect(project?.spec.deletionPolicy).toBe("Retain");
  });

  it("leaves the very same objects where nothing is to be changed", () => {
    const books = stored("ApiResource", "books");
    const objects = projectObjects("shop", stored("Project", "shop"), books);
    const held = applyGuardRails(
      objects,
      readGuardRails({ ...noHostsAllowed, anyone: "Deny", deletionPolicy: "Retain" }),
    );
    expect(held.resources[0]).toBe(books);
    expect(held.project).toBe(objects.project);
  });

  it("cuts a default to the largest value of the namespace, which may be smaller than the default for all", () => {
    const rules = {
      defaultQuotaObjects: "100",
      "default.maxQuotaObjects": "10",
      defaultRequestsPerSecond: "50",
      defaultBurst: "90",
      "default.maxBurst": "60",
    };
    expect(apply(rules, stored("Project", "shop")).project?.spec.limits).toMatchObject({
      quota: { objects: 10 },
      rate: { project: { requestsPerSecond: 50, burst: 60 } },
    });
  });

  it("cuts the limits of a version that was published before the rules, and gives it those that it lacks", () => {
    const rules = { maxQuotaObjects: "10", maxRequestsPerSecond: "50", maxBurst: "60" };
    const { limitPublished } = apply(rules, stored("Project", "shop"));
    const limits = { maxBodyBytes: 1, maxDocumentBytes: 1, maxPageSize: 1, anonymousWritesPerMinute: 1 };
    const caller = { requestsPerSecond: 900, burst: 900 };
    const published = {
      ...limits,
      quota: { objects: 1_000, bytes: 7 },
      rate: { project: { requestsPerSecond: 20, burst: 500 }, caller },
    };
    expect(limitPublished?.(published)).toEqual({
      ...limits,
      quota: { objects: 10, bytes: 7 },
      rate: { project: { requestsPerSecond: 20, burst: 60 }, caller },
    });
    expect(limitPublished?.(limits)).toEqual({
      ...limits,
      quota: { objects: 10 },
      rate: { project: { requestsPerSecond: 50, burst: 50 } },
    });
  });

  it("keeps what was recorded as to be deleted with its object, and what is being purged already", () => {
    const entry = { what: "resource", name: "books", uid: "1", namespaceUid: "2" } as const;
    const purged = { ...entry, name: "films", purgeFromRevision: 7, purgeCause: "1" };
    const inventory = { policy: "Delete", projectUid: "3", entries: [{ ...entry, policy: "Delete" }, purged] } as const;
    expect(withRetention(inventory)).toEqual({
      policy: "Retain",
      projectUid: "3",
      entries: [{ ...entry, policy: "Retain" }, purged],
    });
  });
});
