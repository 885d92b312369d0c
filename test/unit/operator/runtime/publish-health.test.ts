import { expect, it } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { FleetRingUnusable } from "../../../../operator/keyring/ring-secret.ts";
import { createPublishHealth } from "../../../../operator/runtime/publish-health.ts";

it("counts each Project whose configuration couldn't be written once, until it could be", () => {
  const health = createPublishHealth();
  for (const key of ["a/one", "a/one", "a/two"]) health.processed(key, true);
  expect(health.projectsWithFailedWrites()).toBe(2);
  health.processed("a/one", false);
  expect(health.projectsWithFailedWrites()).toBe(1);
});

it("a ring can't be used from the failure that says so until work with it succeeds; Redis' absence says nothing of it", async () => {
  const { withKeyRing, isKeyRingUsable } = createPublishHealth();
  const fail = async (error: Error) => await expect(withKeyRing(() => Promise.reject(error))).rejects.toBe(error);
  await fail(new StoreUnavailable("no"));
  expect(isKeyRingUsable()).toBe(true);
  await fail(new FleetRingUnusable("no"));
  await fail(new StoreUnavailable("no"));
  expect(isKeyRingUsable()).toBe(false);
  expect(await withKeyRing(async () => 7)).toBe(7);
  expect(isKeyRingUsable()).toBe(true);
});
