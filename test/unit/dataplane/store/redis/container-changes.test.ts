// Whether a change of a container's text frees memory of Redis is decided by bytes: only then may
// it run while the memory is used up.

import { expect, it } from "vitest";
import { documentKeys } from "../../../../../dataplane/store/redis/keys.ts";
import type { DocumentScripts } from "../../../../../dataplane/store/redis/values/document-scripts.ts";
import { changeContainer } from "../../../../../dataplane/store/redis/values/unaddressable-paths.ts";
import { manualClock } from "../../../../support/time/manual-clock.ts";

const keys = documentKeys({ project: { namespace: "ns", name: "shop" }, rootKey: "doc" });

async function shrinks(before: string, after: string): Promise<boolean | undefined> {
  let found: boolean | undefined;
  const scripts = {
    read: async () => ({ outcome: "found", text: before }),
    async replaceContainer(call) {
      found = call.shrinks;
      return { outcome: "done" };
    },
  } as Partial<DocumentScripts> as DocumentScripts;
  const write = { keys, path: ['"'], maxBytes: 1_000 };
  const change = () => ({ outcome: "replaced", document: after });
  await changeContainer({ scripts, addressableLength: () => 0, clock: manualClock() }, [{ write, change }]);
  return found;
}

it.each([
  ["fewer characters and more bytes", '"abc"', '"€€"', false],
  ["as many characters and fewer bytes", '"€"', '"a"', true],
  ["more characters and fewer bytes", '"€€"', '"abc"', true],
  ["as many bytes", '"é"', '"ab"', false],
  ["fewer bytes", '"abc"', '"a"', true],
])("a text of %s", async (_, before, after, expected) => {
  expect(await shrinks(before, after)).toBe(expected);
});
