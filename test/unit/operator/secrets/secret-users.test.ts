import { describe, expect, it } from "vitest";
import type { ApiKey, CustomResource, Project, ProjectUser } from "../../../../operator/model/objects.ts";
import { createSecretUsers } from "../../../../operator/secrets/secret-users.ts";

function object<O extends CustomResource>(kind: O["kind"], name: string, spec: Partial<O["spec"]> = {}): O {
  const metadata = { namespace: "default", name, uid: name, creationTimestamp: "2026-06-01T12:00:00Z" };
  return { kind, metadata, spec: { projectRef: { name: "shop" }, ...spec } } as unknown as O;
}

const givenTo = (name: string, secretName: string, project = "shop") =>
  object<ProjectUser>("ProjectUser", name, {
    projectRef: { name: project },
    passwordSecretRef: { name: secretName, key: "password" },
  });

describe("the users of a Secret", () => {
  it("are the Projects of those that keep a Secret of that name, there or not", () => {
    const users = createSecretUsers();
    users.put(object<Project>("Project", "shop"));
    users.put(object<ProjectUser>("ProjectUser", "ada"));
    users.put(object<ApiKey>("ApiKey", "ci", { secretName: "my.key" }));
    for (const name of ["shop-signing", "ada-password", "ada-user-hash", "my.key"]) {
      expect(users.projectsOf("default", name)).toEqual(["default/shop"]);
    }
    expect(users.projectsOf("default", "ci-api-key")).toEqual([]);
    expect(users.projectsOf("other", "ada-password")).toEqual([]);
  });

  it("are those, too, whose users take their password from it, each once", () => {
    const users = createSecretUsers();
    for (const user of [givenTo("ada", "given"), givenTo("bob", "given"), givenTo("eve", "given", "blog")]) {
      users.put(user);
    }
    expect([...users.projectsOf("default", "given")].sort()).toEqual(["default/blog", "default/shop"]);
    users.remove(givenTo("ada", "given"));
    users.remove(givenTo("eve", "given", "blog"));
    expect(users.projectsOf("default", "given")).toEqual(["default/shop"]);
    users.remove(givenTo("bob", "given"));
    expect(users.projectsOf("default", "given")).toEqual([]);
  });

  it("follow a reference that changes", () => {
    const users = createSecretUsers();
    users.put(givenTo("ada", "given"));
    users.put(givenTo("ada", "another"), givenTo("ada", "given"));
    expect(users.projectsOf("default", "given")).toEqual([]);
    expect(users.projectsOf("default", "another")).toEqual(["default/shop"]);
    users.remove(givenTo("ada", "another"));
    expect(users.projectsOf("default", "another")).toEqual([]);
    expect(users.projectsOf("default", "ada-password")).toEqual([]);
  });
});
