// The addresses of values inside a root key.

import { describe, expect, it } from "vitest";
import { urlOf } from "../../../../../pages/console/root-key/value-path.ts";

const base = "http://api.example/default/shop/";

describe("the URL of a value", () => {
  it.each([
    [[], "json/settings"],
    [["hours", "0"], "json/settings/hours/0"],
    [["a/b c?#%", "…"], "json/settings/a%2Fb%20c%3F%23%25/%E2%80%A6"],
    [["...", "-"], "json/settings/.../-"],
  ])("at %j is %s, and stays so in a browser", (path, url) => {
    expect(urlOf("settings", path)).toBe(url);
    expect(new URL(url, base).href).toBe(base + url);
  });

  it.each(["", ".", "..", "nul\0", "half \ud83d", "é".repeat(513)])("isn't there for a name like %j", (name) => {
    expect(urlOf("settings", ["hours", name, "0"])).toBeUndefined();
  });

  it("is there for the longest name that the server takes", () => {
    expect(urlOf("settings", ["é".repeat(512)])).toBeDefined();
  });
});
