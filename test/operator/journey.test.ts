// From `kubectl apply` to a served API, as a user sees it.

import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";

const bookshop = fileURLToPath(new URL("../../examples/bookshop.yaml", import.meta.url));

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

describe("kubectl apply of the bookshop", () => {
  it("is served by every replica once it is Ready, with the key out of its Secret", async () => {
    const namespace = await fleet.api.namespace();
    await fleet.api.kubectl(["apply", "--server-side", "--namespace", namespace, "-f", bookshop]);
    await fleet.ready(namespace);
    const project = await fleet.get("Project", namespace, "bookshop");
    expect(project.status?.["baseURL"]).toBe(`${fleet.publicUrl}/${namespace}/bookshop`);
    const key = await fleet.secret(namespace, "back-office-api-key", "apiKey");
    for (const replica of fleet.replicas) {
      const created = await replica.send(`/${namespace}/bookshop/api/books`, {
        method: "POST",
        body: { title: "Momo", author: { name: "Ende" }, price: 12 },
        as: `apikey ${key}`,
      });
      expect(created.status).toBe(201);
      expect((await replica.send(`/${namespace}/bookshop/api/books`)).status).toBe(200);
    }
  });
});
