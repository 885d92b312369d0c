// Removals of expired objects against a store whose steps a test answers.

import { expect, it } from "vitest";
import { withExpiry } from "../../../../dataplane/store/expiring.ts";
import { ExpiredInTheWay, type ExpiryStep } from "../../../../dataplane/store/ports/expiry.ts";

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

it("are removed before a list that can't leave them out, and it has no answer while that is impossible", async () => {
  let left = 2;
  const found = { outcome: "page", count: 1, texts: [] } as const;
  const lists = (removed: number) =>
    withExpiry({
      objects: {
        pageByCreation: async () => {
          if (left > 0) throw new ExpiredInTheWay();
          return found;
        },
      } as unknown as Parameters<typeof withExpiry>[0]["objects"],
      expiry: {
        nextExpiry: async () => ({ now: 1, next: left > 0 ? 1 : undefined }),
        noteExpiring: async () => undefined,
        async removeExpired() {
          const before = { now: 1, next: left > 0 ? 1 : undefined };
          left -= removed;
          return { ...before, removed };
        },
      },
      time: async () => 1,
      monotonic: () => (now += 1_000),
    });
  let now = 0;
  const ask = (removed: number) =>
    lists(removed).pageByCreation(collectionOf("a"), {}, { offset: 0, limit: 1, descending: false });
  expect(await ask(0)).toEqual({ outcome: "not_ready" });
  expect(await ask(1)).toEqual(found);
});
