import { describe, expect, it } from "vitest";
import type {
  Access,
  Operation,
  OperationAccess,
  Permission,
  ProjectSettings,
  Role,
  Scope,
} from "../../../../core/config/types.ts";
import { Problem } from "../../../../core/errors/problem.ts";
import { anonymous, type Caller } from "../../../../dataplane/authenticate/caller.ts";
import { authorizeDocument, authorizeObjects, listsOwn } from "../../../../dataplane/authorize/authorize.ts";
import { project, withAuthenticationDisabled, withResource, withRootKey } from "../../../support/http/projects.ts";

const user = (role: Role, access: Access): Caller => ({ kind: "user", name: "ann", role, access, sessionId: "s" });
const callers = {
  anonymous,
  "a User with Read": user("Users", "Read"),
  "a User with Write": user("Users", "Write"),
  "an Administrator with Read": user("Administrators", "Read"),
  "an Administrator with Write": user("Administrators", "Write"),
};

type Verdict = "allowed" | "authentication_required" | "insufficient_access";

function everyOperation(permission: Permission): OperationAccess {
  return { create: permission, read: permission, update: permission, delete: permission };
}

function resourceOf(access: Partial<OperationAccess>, scope: { read?: Scope; write?: Scope } = {}) {
  const parts = project("p", withResource("r", { access, scope }));
  const resource = parts.resources.get("r");
  if (!resource) throw new Error("withResource adds it");
  return { config: parts.project, resource };
}

function verdict(authorizes: () => unknown): Verdict {
  try {
    authorizes();
    return "allowed";
  } catch (error) {
    if (error instanceof Problem) return error.code as Verdict;
    throw error;
  }
}

const ok = "allowed";
const login = "authentication_required";
const no = "insufficient_access";

describe("access to a resource's operations", () => {
  const table: readonly [Permission, Operation, keyof typeof callers, Verdict][] = [
    ["Anyone", "create", "anonymous", ok],
    ["Anyone", "delete", "a User with Read", ok],
    ["Authenticated", "read", "anonymous", login],
    ["Authenticated", "read", "a User with Read", ok],
    ["Authenticated", "create", "a User with Read", no],
    ["Authenticated", "create", "a User with Write", ok],
    ["Authenticated", "delete", "an Administrator with Read", no],
    ["Authenticated", "read", "an Administrator with Write", ok],
    ["Administrators", "read", "anonymous", login],
    ["Administrators", "read", "a User with Write", no],
    ["Administrators", "read", "an Administrator with Read", ok],
    ["Administrators", "update", "an Administrator with Read", no],
    ["Administrators", "update", "an Administrator with Write", ok],
    ["Nobody", "read", "anonymous", no],
    ["Nobody", "create", "an Administrator with Write", no],
  ];
  it.each(table)("%s may %s: %s is %s", (permission, operation, caller, expected) => {
    const { config, resource } = resourceOf(everyOperation(permission));
    expect(verdict(() => authorizeObjects(config, resource, operation, callers[caller]))).toBe(expected);
  });

  it("refuses an update to whoever may not read, because it answers with the object", () => {
    const { config, resource } = resourceOf({ update: "Anyone", read: "Administrators" });
    expect(verdict(() => authorizeObjects(config, resource, "update", anonymous))).toBe(login);
    expect(verdict(() => authorizeObjects(config, resource, "update", user("Users", "Write")))).toBe(no);
  });

  it("needs no read for a create or a delete, as a form inbox wants it", () => {
    const { config, resource } = resourceOf({ create: "Anyone", delete: "Anyone", read: "Administrators" });
    expect(verdict(() => authorizeObjects(config, resource, "create", anonymous))).toBe(ok);
    expect(verdict(() => authorizeObjects(config, resource, "delete", anonymous))).toBe(ok);
  });
});

describe("the objects that a caller reaches", () => {
  const grantOf = (caller: Caller, scope: { read?: Scope; write?: Scope }, disabled = false) => {
    const { config, resource } = resourceOf(everyOperation("Anyone"), scope);
    const project: ProjectSettings = disabled ? { ...config, authentication: "Disabled" } : config;
    return authorizeObjects(project, resource, "update", caller);
  };

  it("are role Users' own by default", () => {
    expect(grantOf(user("Users", "Write"), {})).toEqual({
      visible: { owner: "user:ann" },
      writable: { owner: "user:ann" },
    });
  });

  it("are anonymously created ones for an anonymous caller", () => {
    expect(grantOf(anonymous, {})).toEqual({
      visible: { owner: "anonymous:anonymous" },
      writable: { owner: "anonymous:anonymous" },
    });
  });

  it("are no others' to whoever may delete and not read, so that a refusal tells nothing of them", () => {
    const { config, resource } = resourceOf({ delete: "Anyone", read: "Administrators" }, { read: "All" });
    expect(authorizeObjects(config, resource, "delete", user("Users", "Write"))).toEqual({
      visible: { owner: "user:ann" },
      writable: { owner: "user:ann" },
    });
  });

  it("are all to read and one's own to write with scope.read All", () => {
    expect(grantOf(user("Users", "Write"), { read: "All" })).toEqual({ visible: {}, writable: { owner: "user:ann" } });
  });

  it("are a key's own apart from those of a user of the same name", () => {
    const key: Caller = { kind: "apikey", name: "ann", description: "", role: "Users", access: "Write" };
    expect(grantOf(key, {}).visible).toEqual({ owner: "apikey:ann" });
  });

  it("are all for Administrators, and for everyone where authentication is Disabled", () => {
    expect(grantOf(user("Administrators", "Write"), {})).toEqual({ visible: {}, writable: {} });
    expect(grantOf(anonymous, {}, true)).toEqual({ visible: {}, writable: {} });
  });
});

describe("access to a root key", () => {
  const rootKeyOf = (access: Partial<OperationAccess>, disabled = false) => {
    const parts = project("p", withRootKey("k", { access }), ...(disabled ? [withAuthenticationDisabled()] : []));
    const rootKey = parts.rootKeys.get("k");
    if (!rootKey) throw new Error("withRootKey adds it");
    return { config: parts.project, rootKey };
  };

  it("lets anyone read and only authenticated callers write by default", () => {
    const { config, rootKey } = rootKeyOf({});
    expect(verdict(() => authorizeDocument(config, rootKey, "read", anonymous))).toBe(ok);
    for (const operation of ["create", "update", "delete"] as const) {
      expect(verdict(() => authorizeDocument(config, rootKey, operation, anonymous))).toBe(login);
    }
  });

  it("lets a PUT add a key only to whoever may create", () => {
    const { config, rootKey } = rootKeyOf({ update: "Anyone" });
    expect(authorizeDocument(config, rootKey, "update", anonymous)).toMatchObject({ mayCreate: false });
    expect(authorizeDocument(config, rootKey, "update", user("Users", "Write"))).toMatchObject({ mayCreate: true });
  });

  it("opens what is Authenticated or Administrators where authentication is Disabled, and keeps Nobody", () => {
    const { config, rootKey } = rootKeyOf({ create: "Nobody", update: "Administrators" }, true);
    expect(authorizeDocument(config, rootKey, "update", anonymous)).toMatchObject({ mayCreate: false });
    expect(verdict(() => authorizeDocument(config, rootKey, "create", anonymous))).toBe(no);
  });
});

describe("a resource's lists can be limited to one's own", () => {
  const permissions = ["Anyone", "Authenticated", "Administrators", "Nobody"] as const;
  const scopes = [{ read: "Own" }, { read: "All" }] as const;
  const cases = permissions.flatMap((read) => scopes.map((scope) => ({ read, scope })));

  it.each(cases)("exactly if a caller is granted a list so: read $read, scope $scope.read", ({ read, scope }) => {
    const { config, resource } = resourceOf({ read }, scope);
    const grants = Object.values(callers).flatMap((caller) => {
      const grant = tryTo(() => authorizeObjects(config, resource, "read", caller));
      return grant === undefined ? [] : [grant];
    });
    expect(listsOwn(resource)).toBe(grants.some(({ visible }) => visible.owner !== undefined));
  });

  function tryTo<T>(authorizes: () => T): T | undefined {
    try {
      return authorizes();
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }
});
