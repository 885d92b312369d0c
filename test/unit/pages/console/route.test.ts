import { describe, expect, it } from "vitest";
import { fragmentOf, type Route, routeOf } from "../../../../pages/console/route.ts";

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
