import { describe, expect, it } from "vitest";
import type { Description } from "../../../../pages/console/description.ts";
import { fragmentOf, keepsForms, type Route, routeOf } from "../../../../pages/console/route.ts";

describe("the fragment of the console's URL", () => {
  it.each<Route>([
    { kind: "start" },
    { kind: "list", resource: "books", query: "" },
    { kind: "list", resource: "books", query: "price%3Age=10&_sort=-price" },
    { kind: "new", resource: "books" },
    { kind: "object", resource: "books", id: "a/b ?#%" },
    { kind: "rootKey", rootKey: "settings" },
  ])("leads to what it was made of: %j", (route) => {
    expect(routeOf(fragmentOf(route))).toEqual(route);
  });

  it.each(["", "#", "#/api", "#/api/", "#/nothing/books", "#/api/a/b/c", "#/json/a/b"])(
    "leads to the start where it names nothing: %j",
    (fragment) => {
      expect(routeOf(fragment)).toEqual({ kind: "start" });
    },
  );

  it("is taken as it stands where it is not percent-encoded as it should be", () => {
    expect(routeOf("#/api/100%")).toEqual({ kind: "list", resource: "100%", query: "" });
  });
});

describe("a view whose project has changed", () => {
  const may = { read: true, write: true, add: true, delete: true };
  const described = (resources: readonly string[], rights: typeof may, create = true): Description => ({
    title: "shop",
    isReadOnly: false,
    resources: resources.map((name) => ({
      ...{ name, fields: [], newFields: [], filters: [], sortable: new Set<string>(), maxPageSize: 100 },
      may: { list: true, listAnonymously: false, create, update: true, delete: true },
      isOwnOnly: false,
    })),
    rootKeys: [{ name: "settings", may: rights }],
  });
  const before = described(["books"], may);

  it.each<[string, Route, Description, boolean]>([
    ["keeps a form of a resource that is still there", { kind: "new", resource: "books" }, before, true],
    ["loses one of a resource that is gone", { kind: "new", resource: "books" }, described([], may), false],
    [
      "loses one that may create nothing by now",
      { kind: "new", resource: "books" },
      described(["books"], may, false),
      false,
    ],
    [
      "keeps those of a root key with the same rights",
      { kind: "rootKey", rootKey: "settings" },
      described([], may),
      true,
    ],
    [
      "loses those of a root key with other rights",
      { kind: "rootKey", rootKey: "settings" },
      described(["books"], { ...may, add: false }),
      false,
    ],
    ["has none at the start", { kind: "start" }, described([], may), true],
  ])("%s", (_what, route, after, isKept) => {
    expect(keepsForms(route, before, after)).toBe(isKept);
  });
});
