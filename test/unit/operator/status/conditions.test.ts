import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isTransient,
  type NoticeReason,
  noticeCatalogue,
  type Reason,
  reasonCatalogue,
} from "../../../../operator/model/reasons.ts";
import type { Fault, Refused, Verdict } from "../../../../operator/model/verdict.ts";
import { type Condition, type FormerCondition, withAvailability } from "../../../../operator/status/conditions.ts";
import type { ObjectOutcome, RolloutProgress } from "../../../../operator/status/outcomes.ts";
import { type ConditionCase, conditionsIn } from "../../../support/kubernetes/conditions-in.ts";
import { kstatusOf } from "../../../support/kubernetes/kstatus.ts";

const subject = { kind: "ApiResource", namespace: "default", name: "books", uid: "u-1" } as const;
const accepted: Verdict = { ...subject, accepted: true, notices: [] };
const unpublished: RolloutProgress = { state: "not_published", reason: "PublishFailed", why: "Redis is away." };
const noon = Date.parse("2026-11-21T12:00:00Z");

function refused(reason: Reason, more: Partial<Refused> = {}): Verdict {
  return { ...subject, accepted: false, reason, faults: [{ message: "Write another" }], live: false, ...more };
}

function found(conditions: readonly Condition[], type: string): Condition {
  const condition = conditions.find((one) => one.type === type);
  if (condition === undefined) throw new Error(`There is no condition ${type}`);
  return condition;
}

/** `Accepted+ Programmed- …` */
function summary(conditions: readonly Condition[]): string {
  return conditions.map(({ type, status, reason }) => `${type}${status === "True" ? "+" : "-"}${reason}`).join(" ");
}

describe("conditions", () => {
  it.each(["RedisContested", "KeyRingUnusable"] as const)(
    "need a person while nothing can be published: %s",
    (reason) => {
      const verdict = refused(reason);
      const conditions = conditionsIn({ verdict, progress: { state: "not_published", reason, why: "Look." } });
      expect(found(conditions, "Stalled")).toMatchObject({ status: "True", reason });
      expect(kstatusOf({ metadata: { generation: 1 }, status: { observedGeneration: 1, conditions } })).toBe("Failed");
    },
  );

  const states: readonly [string, ConditionCase, string][] = [
    ["served everywhere", {}, "Accepted+Accepted Programmed+Programmed Ready+Ready"],
    [
      "on its way",
      { progress: { state: "waiting" } },
      "Accepted+Accepted Programmed-WaitingForReplicas Ready-WaitingForReplicas Reconciling+WaitingForReplicas",
    ],
    [
      "nobody to serve it",
      { progress: { state: "no_replicas" } },
      "Accepted+Accepted Programmed-NoReplicas Ready-NoReplicas Reconciling+NoReplicas",
    ],
    [
      "Redis away",
      { progress: unpublished },
      "Accepted+Accepted Programmed-PublishFailed Ready-PublishFailed Reconciling+PublishFailed",
    ],
    [
      "a replica of an older version",
      { progress: { state: "programmed", refusal: "unknown format" } },
      "Accepted+Accepted Programmed-RefusedByReplica Ready-RefusedByReplica Reconciling+RefusedByReplica",
    ],
    [
      "what an older replica said of an older version while the newest is under way",
      { progress: { state: "waiting", refusal: "unknown format" } },
      "Accepted+Accepted Programmed-WaitingForReplicas Ready-WaitingForReplicas Reconciling+WaitingForReplicas",
    ],
    [
      "broken",
      { verdict: refused("InvalidSchema") },
      "Accepted-InvalidSchema Programmed-InvalidSchema Ready-InvalidSchema Stalled+InvalidSchema",
    ],
    [
      "waiting for its Project",
      { verdict: refused("ProjectNotFound") },
      "Accepted-ProjectNotFound Programmed-ProjectNotFound Ready-ProjectNotFound Reconciling+ProjectNotFound",
    ],
    [
      "served but for one host",
      { verdict: refused("HostConflict", { live: true, partly: true }) },
      "Accepted-HostConflict Programmed+Programmed Ready-HostConflict Stalled+HostConflict",
    ],
    [
      "going, its Project gone too",
      { deleting: true, dataWait: "no_replicas", verdict: refused("ProjectNotFound") },
      "Accepted-Deleting Programmed-Deleting Ready-Deleting Reconciling+Deleting",
    ],
    [
      "good with something to know",
      { verdict: { ...accepted, notices: [{ reason: "Expired", message: "It is refused" }] } },
      "Accepted+Expired Programmed+Programmed Ready+Expired",
    ],
  ];
  it.each(states)("of an object that is %s", (_, observation, expected) => {
    expect(summary(conditionsIn(observation))).toBe(expected);
  });

  it("all speak of the generation that was looked at", () => {
    for (const condition of conditionsIn({ generation: 7 })) expect(condition.observedGeneration).toBe(7);
  });
});

describe("the deletion of an object", () => {
  it("that can't be published says so, and does not say that it is out of service", () => {
    const progress: RolloutProgress = { state: "not_published", reason: "PublishFailed", why: "Redis is away" };
    const { message } = found(conditionsIn({ deleting: true, progress }), "Ready");
    expect(message).toContain("withdrawn once that can be published. Redis is away");
    expect(message).not.toContain("no longer served");
  });
});

describe("Programmed", () => {
  const before = conditionsIn({});

  it.each<RolloutProgress>([{ state: "waiting" }, { state: "no_replicas" }, unpublished])(
    "stays true at its generation, whatever replicas come and go: $state",
    (progress) => {
      expect(conditionsIn({ progress, former: before })).toEqual(before);
    },
  );

  it("begins anew with the next generation", () => {
    const after = conditionsIn({ generation: 2, progress: { state: "waiting" }, former: before });
    expect(found(after, "Programmed")).toMatchObject({ status: "False", reason: "WaitingForReplicas" });
  });

  it("stays true of an object that goes on being served although what it refers to has gone", () => {
    const after = conditionsIn({ verdict: refused("SecretNotFound", { live: true }), former: before });
    expect(found(after, "Programmed").status).toBe("True");
    expect(found(after, "Ready")).toMatchObject({ status: "False", reason: "SecretNotFound" });
  });

  it("ends when the object is no longer served, and is earned anew", () => {
    const gone = conditionsIn({ verdict: refused("ProjectNotFound"), former: before });
    expect(found(gone, "Programmed").status).toBe("False");
    const back = conditionsIn({ progress: { state: "waiting" }, former: gone });
    expect(found(back, "Programmed")).toMatchObject({ status: "False", reason: "WaitingForReplicas" });
  });

  it("is false of a broken spec whose last good version is served", () => {
    const after = conditionsIn({ generation: 2, verdict: refused("InvalidSchema", { live: true }), former: before });
    expect(found(after, "Programmed")).toMatchObject({ status: "False", reason: "InvalidSchema" });
  });
});

describe("Available of a Project", () => {
  const of = (more: ConditionCase) => found(conditionsIn({ availability: "served", ...more }), "Available");
  const reported = (more: ConditionCase) => {
    const { status, reason } = of(more);
    return `${status} ${reason}`;
  };
  const before = conditionsIn({ availability: "served" });

  it.each<readonly [string, ConditionCase, string]>([
    ["a live replica serves it", {}, "True Available"],
    ["no replica is live", { availability: "no_replicas" }, "False NoReplicas"],
    ["none serves it yet", { availability: "behind" }, "False WaitingForReplicas"],
    [
      "none serves the newest, and they served an earlier one",
      { availability: "behind", former: before },
      "True Available",
    ],
    ["all refuse the newest", { availability: "refused", former: before }, "Unknown RefusedByReplica"],
    ["nobody knows", { availability: "unknown", former: before }, "Unknown ReplicasUnknown"],
    ["nothing of it is served", { verdict: refused("InvalidSpec") }, "False InvalidSpec"],
    ["its last good version is served", { verdict: refused("InvalidSpec", { live: true }) }, "True Available"],
    ["it is being deleted", { deleting: true }, "False Deleting"],
  ])("when %s", (_, observation, expected) => {
    expect(reported(observation)).toBe(expected);
  });

  it("is not said of other kinds", () => {
    expect(conditionsIn({}).map(({ type }) => type)).not.toContain("Available");
  });

  it.each(["no_replicas", "unknown", "behind", "refused"] as const)(
    "leaves Ready, and what health checks read, as they were: %s",
    (availability) => {
      const after = conditionsIn({ availability, former: before });
      expect(after.filter(({ type }) => type !== "Available")).toEqual(
        before.filter(({ type }) => type !== "Available"),
      );
      const status = { observedGeneration: 1, conditions: after };
      expect(kstatusOf({ metadata: { generation: 1 }, status })).toBe("Current");
    },
  );

  it("is the only condition that claims a live replica", () => {
    const without = conditionsIn({ availability: "no_replicas", former: before });
    for (const { message } of without.filter(({ status }) => status === "True")) {
      expect(message).not.toMatch(/reached every|live data-plane replica serves/);
    }
  });

  it("is said anew of a Project of which nothing else is known, and of nothing that was not served", () => {
    const later = { availability: "unknown", now: noon + 60_000 } as const;
    const changed = withAvailability(before, later);
    expect(changed.filter(({ type }) => type !== "Available")).toEqual(
      before.filter(({ type }) => type !== "Available"),
    );
    expect(changed.at(-1)).toMatchObject({
      status: "Unknown",
      observedGeneration: 1,
      lastTransitionTime: "2026-11-21T12:01:00Z",
    });
    for (const verdict of [refused("InvalidSpec"), refused("InvalidSchema")]) {
      const unserved = conditionsIn({ verdict, availability: "served" });
      expect(withAvailability(unserved, later)).toEqual(unserved);
    }
  });
});

describe("a loss of stored data", () => {
  const loss = { availability: "served", dataLoss: "4f3a" } as const;

  it("needs a person, whose choices the message names, and leaves what was taken up", () => {
    const conditions = conditionsIn(loss);
    expect(summary(conditions)).toBe(
      "Accepted+Accepted Programmed+Programmed Ready-DataLost Available-DataLost Stalled+DataLost",
    );
    expect(found(conditions, "Ready").message).toContain('jsonplane.io/accept-data-loss: "4f3a"');
    const status = { observedGeneration: 1, conditions };
    expect(kstatusOf({ metadata: { generation: 1 }, status })).toBe("Failed");
  });

  it("comes before what heals by itself, and after what the object itself lacks", () => {
    const waiting = conditionsIn({ ...loss, progress: { state: "waiting" } });
    expect(found(waiting, "Ready").reason).toBe("DataLost");
    const broken = conditionsIn({ ...loss, verdict: refused("InvalidSpec", { live: true }) });
    expect([found(broken, "Ready").reason, found(broken, "Available").reason]).toEqual(["InvalidSpec", "DataLost"]);
  });

  it("is over without a trace", () => {
    const before = conditionsIn({ availability: "served" });
    const after = conditionsIn({ availability: "served", former: conditionsIn(loss) });
    expect(summary(after)).toBe(summary(before));
  });
});

describe("times", () => {
  const before = conditionsIn({});
  const later = noon + 90_500;

  it("stay while the status of a condition stays, though reason and generation change", () => {
    const progress: RolloutProgress = { state: "waiting" };
    const waiting = conditionsIn({ progress });
    const none = conditionsIn({ generation: 2, progress: { state: "no_replicas" }, former: waiting, now: later });
    expect(none.map((one) => one.lastTransitionTime)).toEqual(waiting.map((one) => one.lastTransitionTime));
  });

  it("move with the status, in whole seconds", () => {
    const after = conditionsIn({ verdict: refused("InvalidSpec"), former: before, now: later });
    expect(found(after, "Accepted").lastTransitionTime).toBe("2026-11-21T12:01:30Z");
  });
});

describe("messages", () => {
  const messageOf = (verdict: Verdict): string => found(conditionsIn({ verdict }), "Accepted").message;

  it("name the place, say what to write, and that the last good version is served", () => {
    const faults: [Fault] = [{ pointer: "/spec/schema/type", message: 'Write "object"' }];
    expect(messageOf(refused("InvalidSchema", { faults, live: true }))).toBe(
      '/spec/schema/type: Write "object". Its last good version is still served',
    );
  });

  it("list the first few faults without counting the others", () => {
    const faults = Array.from({ length: 9 }, (_, at) => ({ pointer: `/spec/indexes/${at}`, message: "No such field" }));
    const message = messageOf(refused("InvalidSpec", { faults: faults as unknown as [Fault] }));
    expect(message).toContain("/spec/indexes/4: No such field");
    expect(message).not.toContain("/spec/indexes/5");
    expect(message).toMatch(/; and more like these$/);
  });

  it("are cut to what the API server takes, with the last sentence whole", () => {
    const faults: [Fault] = [{ message: "😀".repeat(5_000) }];
    const message = messageOf(refused("InvalidSchema", { faults, live: true }));
    expect(message.length).toBeLessThanOrEqual(4096);
    expect(message).toMatch(/…\. Its last good version is still served$/);
    expect(message.isWellFormed()).toBe(true);
  });

  it("of a deletion say what it waits for", () => {
    const message = (dataWait: ObjectOutcome["dataWait"]) =>
      found(conditionsIn({ deleting: true, ...(dataWait && { dataWait }) }), "Ready").message;
    expect(message(undefined)).toBe("It is being deleted and is no longer served");
    expect(message("no_replicas")).toContain("none is running");
    expect(message("replicas")).toContain("have stopped serving it");
    expect(message("purge")).toContain("are being deleted");
    expect(message("rights")).toContain("jsonplane finalizers clear");
  });

  it("of a deletion name finalizers that others have to remove, once nothing else is waited for", () => {
    const message = (waits: Pick<ObjectOutcome, "dataWait" | "heldBy">) =>
      found(conditionsIn({ deleting: true, ...waits }), "Ready").message;
    expect(message({ heldBy: ["team.jsonplane.io/purge", "example.org/x"] })).toContain(
      "removes the finalizers team.jsonplane.io/purge, example.org/x, which are not this operator's",
    );
    expect(message({ dataWait: "purge", heldBy: ["example.org/x"] })).not.toContain("example.org");
  });

  it("can't command a terminal, end a line or turn what follows around, whatever a manifest has in it", () => {
    const faults: [Fault] = [
      { pointer: "/spec/schema/properties/a\u001b[31m\n\u202eb\u{e0001}", message: "No such\u2028type" },
    ];
    const message = messageOf(refused("InvalidSchema", { faults, live: true }));
    expect(message).toBe(
      "/spec/schema/properties/a\\u001b[31m\\u000a\\u202eb\\udb40\\udc01: No such\\u2028type. Its last good version is still served",
    );
  });
});

const reasons = Object.keys(reasonCatalogue) as Reason[];
const notices = Object.keys(noticeCatalogue) as NoticeReason[];
const verdicts: fc.Arbitrary<Verdict> = fc.oneof(
  fc.subarray(notices).map(
    (some): Verdict => ({
      ...subject,
      accepted: true,
      notices: some.map((reason) => ({ reason, message: `About ${reason}` })),
    }),
  ),
  fc
    .record({ reason: fc.constantFrom(...reasons), live: fc.boolean(), partly: fc.boolean() })
    .map(({ reason, live, partly }) => refused(reason, { live, ...(live && partly && { partly }) })),
);
const progresses: fc.Arbitrary<RolloutProgress> = fc.oneof(
  fc.constant<RolloutProgress>(unpublished),
  fc.record(
    {
      state: fc.constantFrom("programmed" as const, "waiting" as const, "no_replicas" as const),
      refusal: fc.constant("unknown format"),
    },
    { requiredKeys: ["state"] },
  ),
);
const observations = fc.record({
  generation: fc.integer({ min: 1, max: 3 }),
  deleting: fc.boolean(),
  verdict: verdicts,
  progress: progresses,
});

describe("kstatus", () => {
  it("takes what heals for in progress, what needs a person for failed, and Ready for current, and nothing else", () => {
    fc.assert(
      fc.property(fc.array(observations, { minLength: 1, maxLength: 4 }), (seen) => {
        let former: readonly FormerCondition[] = [];
        for (const what of seen) {
          const conditions = conditionsIn({ ...what, former });
          former = conditions;
          const { generation, deleting } = what;
          const metadata = { generation, ...(deleting && { deletionTimestamp: "2026-11-21T12:00:00Z" }) };
          const ready = found(conditions, "Ready");
          const kstatus = kstatusOf({ metadata, status: { observedGeneration: generation, conditions } });
          const expected = deleting ? "Terminating" : readiness(ready);
          expect(kstatus).toBe(expected);
          const edited = {
            metadata: { generation: generation + 1 },
            status: { observedGeneration: generation, conditions },
          };
          expect(kstatusOf(edited)).toBe("InProgress");
        }
      }),
    );
  });

  it("waits for an object that nobody has looked at", () => {
    expect(kstatusOf({ metadata: { generation: 1 }, status: { observedGeneration: -1 } })).toBe("InProgress");
  });

  it("is given the same conditions again for the same state", () => {
    fc.assert(
      fc.property(observations, (what) => {
        const first = conditionsIn(what);
        expect(conditionsIn({ ...what, former: first, now: noon + 3_600_000 })).toEqual(first);
      }),
    );
  });
});

function readiness({ status, reason }: Condition): string {
  if (status === "True") return "Current";
  return isTransient(reason as Reason) ? "InProgress" : "Failed";
}
