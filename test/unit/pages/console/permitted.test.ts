import { describe, expect, it } from "vitest";
import { permitted, type Rights } from "../../../../pages/console/permitted.ts";

const operation = (permission: string) => ({ "x-jsonplane-permission": permission });
const document = {
  info: { title: "shop" },
  paths: {
    "/api/books": { parameters: [], get: operation("Administrators"), post: operation("Anyone") },
    "/api/books/{id}": { put: operation("Authenticated"), delete: operation("Administrators") },
  },
};

function offered(caller: Rights): readonly string[] {
  const { paths } = permitted(document, caller) as typeof document;
  return Object.values(paths).flatMap((item) => Object.keys(item));
}

describe("what the console offers of a project", () => {
  it.each([
    ["nobody who has signed in", undefined, []],
    ["a user who may read only", { role: "Users", access: "Read" }, []],
    ["an administrator who may read only", { role: "Administrators", access: "Read" }, []],
    ["a user who may write", { role: "Users", access: "Write" }, ["put"]],
    ["an administrator who may write", { role: "Administrators", access: "Write" }, ["put", "delete"]],
  ] as const)("to %s: all reads, and the writes that the policies allow", (_, caller, writes) => {
    expect(offered(caller)).toEqual(["parameters", "get", "post", ...writes]);
  });

  it("to nobody a write, where the project is served read-only", () => {
    const readOnly = { ...document, info: { title: "shop", "x-jsonplane-serving": "ReadOnly" } };
    const { paths } = permitted(readOnly, { role: "Administrators", access: "Write" }) as typeof document;
    expect(Object.values(paths).flatMap((item) => Object.keys(item))).toEqual(["parameters", "get"]);
  });

  it("leaves the rest of the description as it is", () => {
    expect(permitted(document, undefined)).toMatchObject({ info: { title: "shop" } });
  });
});
