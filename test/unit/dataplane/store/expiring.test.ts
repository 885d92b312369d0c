// Removals of expired objects against a store whose steps a test answers.

import { expect, it } from "vitest";
import { withExpiry } from "../../../../dataplane/store/expiring.ts";
import type { ExpiryStep } from "../../../../dataplane/store/ports/expiry.ts";

const expiry = { afterSeconds: 60 };
const collectionOf = (name: string) => ({ project: { namespace: "n", name }, resource: "carts", expiry });

it("take turns, so that requests wait behind few of them, and those who want the same share one", async () => {
  const begun: { readonly name: string; readonly answer: (step: ExpiryStep) => void }[] = [];
  const { removeExpired } = withExpiry({
    objects: {} as Parameters<typeof withExpiry>[0]["objects"],
    expiry: {
      nextExpiry: async () => undefined,
      noteExpiring: async () => undefined,
      removeExpired: ({ project }) =>
        new Promise((answer) => {
          begun.push({ name: project.name, answer });
        }),
    },
    time: async () => 0,
    monotonic: () => 0,
  });
  const step = { now: 1, next: undefined, removed: 0 };
  const asked = ["a", "b", "a", "c", "c", "d"].map((name) => removeExpired(collectionOf(name)));
  const names: string[][] = [];
  for (let at = 0; at < 4; at += 1) {
    await new Promise((resume) => setImmediate(resume));
    names.push(begun.map(({ name }) => name));
    begun[at]?.answer(step);
  }
  expect(names).toEqual([
    ["a", "b"],
    ["a", "b", "c"],
    ["a", "b", "c", "d"],
    ["a", "b", "c", "d"],
  ]);
  expect(await Promise.all(asked)).toEqual(asked.map(() => step));
});
