// Two operators of two classes may be in one cluster, each with a Redis of its own.

import { beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { shop } from "../support/fleet/shop.ts";

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

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
});
