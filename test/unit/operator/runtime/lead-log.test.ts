// What is logged of the Lease.

import { expect, it } from "vitest";
import { ApiFailure, ApiUnreachable } from "../../../../operator/kube/api.ts";
import type { LeadObservation } from "../../../../operator/lead/elector.ts";
import { logLead } from "../../../../operator/runtime/lead-log.ts";

const refused = new ApiUnreachable("refused");
const error = expect.stringContaining("refused");

it.each<readonly [LeadObservation, unknown[][]]>([
  [{ kind: "holder", holder: "other" }, []],
  [{ kind: "acquired", transitions: 1 }, [["info", "Acquired Lease", undefined]]],
  [{ kind: "ended", why: "taken" }, [["info", "No longer leading", { why: "taken" }]]],
  [{ kind: "failed", error: refused }, [["warn", "Failed to acquire Lease", { error }]]],
  [
    { kind: "failed", error: new ApiFailure(404, { message: "namespace not found" }) },
    [
      [
        "warn",
        "Failed to acquire Lease",
        { error: expect.any(String), advice: expect.stringContaining("namespace system") },
      ],
    ],
  ],
  [
    { kind: "release_failed", error: refused },
    [["warn", "Failed to release Lease; other replicas wait until it expires", { error }]],
  ],
])("%j is logged", (observation, expected) => {
  const lines: unknown[][] = [];
  const to = (level: string) => (message: string, fields?: object) => void lines.push([level, message, fields]);
  logLead(observation, { info: to("info"), warn: to("warn"), error: to("error") }, { namespace: "system" });
  expect(lines).toEqual(expected);
});
