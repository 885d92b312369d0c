import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromium } from "../../../../tools/parts/chromium.ts";
import { openapiTypescript } from "../../../../tools/parts/openapi-typescript.ts";
import { prometheus } from "../../../../tools/parts/prometheus.ts";
import { schemathesis } from "../../../../tools/parts/schemathesis.ts";
import { type FakePrograms, fakePrograms } from "./fake-programs.ts";

let fakes: FakePrograms;

beforeAll(async () => {
  fakes = await fakePrograms();
  const names = ["google-chrome", "openapi-typescript", "schemathesis", "prometheus", "promtool", "mine"];
  for (const name of names) await fakes.script(name, "");
});
afterAll(() => fakes.remove());

it.each([
  [prometheus, ["prometheus-debian/usr/bin/prometheus", "prometheus-debian/usr/bin/promtool"]],
  [openapiTypescript, ["openapi-typescript-7.13.0/node_modules/.bin/openapi-typescript"]],
] as const)(
  "$name in the cache is missing when a program of it doesn't run, so that it is brought again",
  async (part, paths) => {
    const find = () => part.find({ PATH: "", JSONPLANE_CACHE: fakes.at("filled") });
    for (const path of paths) await fakes.says(`filled/${path}`, "version 2.42.0");
    expect(await find()).toMatchObject({ origin: "cache" });
    for (const path of paths) {
      await fakes.script(`filled/${path}`, "cut off (");
      expect(await find()).toBeUndefined();
      await fakes.says(`filled/${path}`, "version 2.42.0");
    }
    expect(await find()).toMatchObject({ origin: "cache" });
  },
);

describe.each([
  [chromium, "google-chrome"],
  [openapiTypescript, "openapi-typescript"],
  [schemathesis, "schemathesis"],
  [prometheus, "prometheus"],
] as const)("$name", (part, name) => {
  const variable = part.variable ?? "";

  it("is the one that the environment names, before any on the PATH", async () => {
    const found = await part.find({ [variable]: fakes.at("mine"), PATH: fakes.folder });
    expect(found).toEqual({ path: fakes.at("mine"), origin: `environment variable ${variable}` });
  });

  it("is found on the PATH", async () => {
    expect(await part.find({ PATH: fakes.folder })).toEqual({ path: fakes.at(name), origin: "PATH" });
  });

  it("is refused when the environment names something else than a program", async () => {
    await expect(part.find({ [variable]: fakes.at("gone"), PATH: fakes.folder })).rejects.toThrow(/gone/);
  });

  it("is nowhere on a machine that has nothing", async () => {
    expect(await part.find({ PATH: "", JSONPLANE_CACHE: fakes.at("cache") })).toBeUndefined();
  });
});
