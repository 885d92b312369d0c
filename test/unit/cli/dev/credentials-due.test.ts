import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DevCluster, devCluster } from "./dev-cluster.ts";

let dev: DevCluster;

const apiVersion = "jsonplane.io/v1alpha1";
const shop = (metadata: object = {}) =>
  `${JSON.stringify({ apiVersion, kind: "Project", metadata: { name: "shop", ...metadata } })}\n---\n`;
const key = (spec: object = {}) =>
  JSON.stringify({
    apiVersion,
    kind: "ApiKey",
    metadata: { name: "ci" },
    spec: { projectRef: { name: "shop" }, ...spec },
  });

beforeEach(async () => {
  dev = await devCluster();
  dev.edit("a.yaml", shop() + key());
  await dev.pass();
});
afterEach(() => dev.close());

describe("generated credentials", () => {
  it("are looked at again when a former key ends", async () => {
    const grace = { rotation: { id: "2", gracePeriod: "1h" } };
    dev.edit("a.yaml", shop() + key(grace));
    await dev.pass();
    expect(dev.dueIn()).toBe(3_600_000);
    dev.clock.advance(3_600_000);
    await dev.pass();
    expect(dev.parts()?.keys.size).toBe(1);
    expect(dev.dueIn()).toBeUndefined();
  });

  it("are looked at again for each step of a new signing key", async () => {
    dev.edit("a.yaml", shop({ annotations: { "jsonplane.io/rotate-signing-key": "1" } }));
    await dev.pass();
    const signs = () => dev.parts()?.signing.keys.map((key) => key.signs);
    expect([signs(), dev.dueIn()]).toEqual([[true, false], 500]);
    dev.clock.advance(500);
    await dev.pass();
    expect([signs(), dev.dueIn()]).toEqual([[true, false], 72 * 3_600_000 + 60_000]);
    dev.clock.advance(72 * 3_600_000 + 60_000);
    await dev.pass();
    expect([signs(), dev.dueIn()]).toEqual([[true], undefined]);
  });

  it("are looked at again when a key expires", async () => {
    dev.edit("a.yaml", shop() + key({ expiresAt: new Date(dev.clock.now() + 60_000).toISOString() }));
    await dev.pass();
    expect(dev.dueIn()).toBeGreaterThan(59_000);
    dev.clock.advance(dev.dueIn() ?? 0);
    expect((await dev.pass()).join()).toContain("The key has expired");
  });
});
