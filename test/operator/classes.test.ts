// Two operators of two classes in one cluster, each with a Redis of its own.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type OwnFleet, startFleet } from "../support/fleet.ts";
import { shop } from "../support/shop.ts";

let fleet: OwnFleet;

beforeAll(async () => {
  fleet = await startFleet();
});
afterAll(() => fleet?.stop());

const items = async (namespace: string): Promise<number | undefined> =>
  (await fleet.replicas[0]?.send(`/${namespace}/shop/api/items`))?.status;

describe("an operator without a class", () => {
  it("leaves a Project of another class alone: no status, nothing served", async () => {
    const namespace = await fleet.api.namespace();
    await fleet.api.apply(shop({ className: "gold" }), { namespace });
    const ours = await fleet.api.namespace();
    await fleet.api.apply(shop(), { namespace: ours });
    await fleet.ready(ours);
    expect(await items(namespace)).toBe(404);
    expect((await fleet.get("Project", namespace, "shop")).status?.conditions).toBeUndefined();
  });

  it("ends what it served under a name that a Project of another class took while it was away", async () => {
    const namespace = await fleet.api.namespace();
    await fleet.api.apply(shop(), { namespace });
    await fleet.ready(namespace);
    expect(await items(namespace)).toBe(200);
    await Promise.all(fleet.operators.map((operator) => operator.stop()));
    await fleet.api.kubectl(["delete", "jproj", "shop", "--namespace", namespace]);
    await fleet.api.apply(shop({ className: "gold" }), { namespace });
    await fleet.addOperator();
    await eventually(async () => expect(await items(namespace)).toBe(404), { withinMs: 20_000 });
  });
});
