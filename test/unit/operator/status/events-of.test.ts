import { describe, expect, it } from "vitest";
import type { Reason } from "../../../../operator/model/reasons.ts";
import type { Verdict } from "../../../../operator/model/verdict.ts";
import { eventsOf } from "../../../../operator/status/events-of.ts";
import { type ConditionCase, conditionsIn } from "../../../support/kubernetes/conditions-in.ts";

const subject = { kind: "ApiKey", namespace: "default", name: "ci", uid: "u-1" } as const;
const accepted: Verdict = { ...subject, accepted: true, notices: [] };
const noted: Verdict = {
  ...accepted,
  accepted: true,
  notices: [{ reason: "Expired", message: "Not shown" }],
};
const refused = (reason: Reason, message = "Write another"): Verdict => ({
  ...subject,
  accepted: false,
  reason,
  faults: [{ message }],
  live: false,
});
const state = (more: ConditionCase) => conditionsIn({ verdict: accepted, ...more });
const words = (events: ReturnType<typeof eventsOf>) => events.map(({ type, reason }) => `${type} ${reason}`);

describe("events", () => {
  const waiting = state({ progress: { state: "waiting" } });
  const ready = state({});
  it.each([
    ["an object becomes ready", waiting, ready, ["Normal Ready"]],
    ["an object is ready at once", [], ready, ["Normal Ready"]],
    ["it waits for replicas, as it has to", [], waiting, ["Normal WaitingForReplicas"]],
    ["it can't be served", [], state({ progress: { state: "no_replicas" } }), ["Warning NoReplicas"]],
    ["it is broken", ready, state({ verdict: refused("InvalidSchema") }), ["Warning InvalidSchema"]],
    [
      "it is broken in another way",
      state({ verdict: refused("InvalidSchema") }),
      state({ verdict: refused("NameConflict") }),
      ["Warning NameConflict"],
    ],
    ["there is something to know", ready, state({ verdict: noted }), ["Warning Expired"]],
    ["that is over", state({ verdict: noted }), ready, ["Normal Ready"]],
    ["it is being deleted", ready, state({ deleting: true }), ["Normal Deleting"]],
  ])("tell once that %s", (_, before, after, expected) => {
    expect(words(eventsOf(before, after))).toEqual(expected);
  });

  it("are none when only the words, the generation or the time are others", () => {
    const before = state({ verdict: refused("InvalidSpec", "One thing") });
    const after = state({ verdict: refused("InvalidSpec", "Another"), generation: 2, now: 60_000, former: before });
    expect(eventsOf(before, after)).toEqual([]);
  });

  it("hold no more than the API server takes", () => {
    const [event] = eventsOf([], state({ verdict: refused("InvalidSpec", "x".repeat(4000)) }));
    expect(event?.note.length).toBe(1000);
  });
});
