// What the audit log says of a publish: what it took out of service, and why.

import { describe, expect, it } from "vitest";
import type { CompiledProject } from "../../../../core/config/types.ts";
import { type Withdrawing, withdrawnBy } from "../../../../operator/deletion/withdrawn.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import type { Refused } from "../../../../operator/model/verdict.ts";
import { project, withConfig } from "../../../support/http/projects.ts";
import { projectObjects, stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const children = { resources: ["books"], rootKeys: ["flags"], users: ["ann"], keys: ["web"] } as const;
const kinds = { resources: "ApiResource", rootKeys: "RootKey", users: "ProjectUser", keys: "ApiKey" } as const;

/** Serves one child of each kind, but for those that `without` names. */
function config(...without: readonly (keyof typeof children)[]): CompiledProject {
  const maps = Object.entries(children).map(([map, [name]]) => {
    const uid = `${kinds[map as keyof typeof kinds]} ${name}`;
    return [map, new Map(without.includes(map as keyof typeof children) ? [] : [[name, { name, uid }]])];
  });
  return { ...project("shop", withConfig({ uid: "Project shop" })), ...Object.fromEntries(maps) } as CompiledProject;
}

const shop = stored("Project", "shop");
const all = Object.values(kinds).map((kind, at) => stored(kind, Object.values(children)[at]?.[0] ?? ""));

function withdrawn(objects: readonly CustomResource[], more: Partial<Withdrawing> = {}) {
  const given = { objects: projectObjects("shop", ...objects), deleted: [], published: config(), verdicts: [] };
  return withdrawnBy({ ...given, served: config(), isNamespaceGone: false, ...more });
}

const refused = (uid: string): Refused => ({
  ...{ kind: "ApiKey", namespace: "default", name: "web", uid, accepted: false, reason: "SecretConflict", live: false },
  faults: [{ message: "lost" }],
});

it("a ServiceAccount that an issuer no longer lets in is told, with the issuer that stays", () => {
  const url = "https://kubernetes.default.svc";
  const account = (name: string) => ({ namespace: "jobs", name, role: "Users", access: "Read" });
  const issuing = (...names: readonly string[]) =>
    ({
      ...config(),
      issuers: new Map([["cluster", { name: "cluster", url, serviceAccounts: names.map(account) }]]),
    }) as unknown as CompiledProject;
  const facts = {
    ...{ kind: "Project", namespace: "default", name: "shop", uid: "Project shop" },
    ...{ issuer: "cluster", serviceAccount: "jobs/old", why: "Removed" },
  };
  const both = { published: issuing("importer", "old") };
  expect(withdrawn([shop, ...all], { ...both, served: issuing("importer", "new") })).toEqual([
    { action: "service_account_withdrawn", facts },
  ]);
  const gone = withdrawn([shop, ...all], { ...both, served: config() });
  expect(gone.map(({ action }) => action)).toEqual(["issuer_withdrawn"]);
});

describe("what is no longer served", () => {
  it("is no credential that goes on to let in for another object, as after a restore", () => {
    const ofOther = (uid: string): CompiledProject => {
      const { users, keys, ...others } = config();
      const anew = <C extends object>(map: ReadonlyMap<string, C>) =>
        new Map([...map].map(([name, config]) => [name, { ...config, uid }]));
      return { ...others, users: anew(users), keys: anew(keys) };
    };
    expect(withdrawn([shop, ...all], { served: ofOther("restored") })).toEqual([]);
  });

  it("is nothing where the same is", () => {
    expect(withdrawn([shop, ...all])).toEqual([]);
    expect(withdrawn([shop, ...all], { published: undefined })).toEqual([]);
  });

  it.each([
    ["resources", "resource_withdrawn"],
    ["rootKeys", "resource_withdrawn"],
    ["users", "credential_revoked"],
    ["keys", "credential_revoked"],
  ] as const)("of %s is told when its object has gone, with the moment where that was seen", (map, action) => {
    const [kind, name] = [kinds[map], children[map][0]];
    const left = [shop, ...all.filter((object) => object.kind !== kind)];
    const facts = { kind, namespace: "default", name, uid: `${kind} ${name}`, project: "shop", why: "Deleted" };
    expect(withdrawn(left, { served: config(map) })).toEqual([{ action, facts }]);
    const deleted = [stored(kind, name, { metadata: terminating })];
    const { deletionTimestamp } = terminating;
    expect(withdrawn(left, { served: config(map), deleted })).toEqual([
      { action, facts: { ...facts, deletionTimestamp } },
    ]);
  });

  it("is told with the reason of an object that is refused", () => {
    const reported = withdrawn([shop, ...all], { served: config("keys"), verdicts: [refused("ApiKey web")] });
    expect(reported.map(({ facts }) => facts["why"])).toEqual(["SecretConflict"]);
  });

  it("is told as rotated where the same object has another key, without either key's hash", () => {
    const served = {
      ...config(),
      keys: new Map([["0a1b", { name: "web", uid: "ApiKey web" }]]),
    } as unknown as CompiledProject;
    const reported = withdrawn([shop, ...all], { served });
    expect(reported.map(({ action, facts }) => [action, facts["name"], facts["why"]])).toEqual([
      ["credential_revoked", "web", "Rotated"],
    ]);
  });
});

describe("a Project that is no longer served", () => {
  const counts = { resources: 1, rootKeys: 1, users: 1, keys: 1 };
  const facts = { kind: "Project", namespace: "default", name: "shop", uid: "Project shop", ...counts };

  it("is told once, with how much it served", () => {
    expect(withdrawn(all, { served: undefined })).toEqual([
      { action: "project_withdrawn", facts: { ...facts, why: "Deleted" } },
    ]);
  });

  it("is told with its namespace", () => {
    const [reported] = withdrawn([], { served: undefined, isNamespaceGone: true });
    expect(reported?.facts["why"]).toBe("NamespaceDeleted");
  });

  it("is told where another one has its name, and children that went, too", () => {
    const anew = withConfig({ uid: "Project shop, anew" });
    const served = { ...config("keys"), project: anew(config()).project };
    const left = all.filter(({ kind }) => kind !== "ApiKey");
    expect(withdrawn(left, { served }).map(({ action }) => action)).toEqual([
      "project_withdrawn",
      "credential_revoked",
    ]);
    expect(withdrawn(left, { served: undefined }).map(({ action }) => action)).toEqual([
      "project_withdrawn",
      "credential_revoked",
    ]);
  });
});
