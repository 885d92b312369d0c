// docs/observability.md lists every message of the audit log, and no other.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { auditMessages } from "../../operator/observe/audit-log.ts";
import { root } from "../../tools/read-crds.ts";

/** Told by the commands themselves: of a replica, and of both. */
const messagesOfCommands = ["Purge carried out", "Key ring changed", "Metrics token changed"];

it("the messages of destructive acts are those of the code", async () => {
  const text = await readFile(join(root, "docs/observability.md"), "utf8");
  const [, section = ""] = /\n## Audit log\n(.*?)(?:\n## |$)/s.exec(text) ?? [];
  const listed = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, message]) => message);
  expect(listed.toSorted()).toEqual([...Object.values(auditMessages), ...messagesOfCommands].toSorted());
});
