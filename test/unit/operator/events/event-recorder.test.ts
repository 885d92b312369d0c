import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import {
  createEventRecorder,
  type EventNote,
  type EventObservation,
} from "../../../../operator/events/event-recorder.ts";
import { ApiFailure, ApiUnreachable, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import { NotTheLeader } from "../../../../operator/lead/elector.ts";
import type { Subject } from "../../../../operator/model/verdict.ts";
import { FakeApiObjects, Refused } from "../../../support/fake-api/fake-api-objects.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

const events = "events.k8s.io/events";
const minute = 60_000;

const shop: Subject = { kind: "Project", namespace: "default", name: "shop", uid: "u-1" };
const published: EventNote = { type: "Normal", reason: "Published", action: "Publish", note: "Revision 7 is live" };
const warning: EventNote = { type: "Warning", reason: "SecretNotFound", action: "Reconcile", note: "No Secret" };
const numbered = (number: number): EventNote => ({ ...published, note: `Revision ${number} is live` });

const project = (number: number): Subject => ({ ...shop, name: `p${number}`, uid: `u-${number}` });

interface Writes {
  readonly bodies: JsonObject[];
  /** Thrown instead of what the next calls would have done, one each. */
  readonly failures: unknown[];
  /** Calls wait for it. */
  gate: Promise<void>;
}

/** The fake API server's objects without the wire. */
function recording() {
  const time = manualTime();
  const objects = new FakeApiObjects();
  const reported: EventObservation[] = [];
  const writes: Writes = { bodies: [], failures: [], gate: Promise.resolve() };
  const call = async (body: JsonObject, run: () => unknown): Promise<KubeObject> => {
    writes.bodies.push(body);
    await writes.gate;
    const failure = writes.failures.shift();
    if (failure !== undefined) throw failure;
    try {
      return run() as KubeObject;
    } catch (error) {
      throw error instanceof Refused ? new ApiFailure(error.code, error) : error;
    }
  };
  const api: Pick<KubeApi, "create" | "apply"> = {
    create: (_, object) => call(object, () => objects.create(events, object)),
    apply: (_, object) => call(object, () => objects.apply(events, object, undefined)),
  };
  let drawn = 0;
  const random = (): number => {
    drawn += 1;
    return drawn / 10_000;
  };
  const recorder = createEventRecorder({
    ...time,
    api,
    instance: "operator-0_ab12",
    random,
    observe: (observation) => reported.push(observation),
  });
  const dropped = () => reported.flatMap((each) => (each.kind === "dropped" ? [each.why] : []));
  return { time, objects, reported, writes, recorder, dropped, all: () => objects.all(events) };
}

describe("an event", () => {
  test("says what happened to which object, who says so and when", async () => {
    const { time, recorder, all } = recording();
    recorder.emit(shop, published);
    await time.advance(0);
    expect(all()).toEqual([
      expect.objectContaining({
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: expect.objectContaining({ namespace: "default", name: expect.stringMatching(/^shop\.[0-9a-f]+$/) }),
        eventTime: "2025-10-09T08:53:20.000000Z",
        reportingController: "jsonplane.io/operator",
        reportingInstance: "operator-0_ab12",
        type: "Normal",
        reason: "Published",
        action: "Publish",
        note: "Revision 7 is live",
        regarding: {
          apiVersion: "jsonplane.io/v1alpha1",
          kind: "Project",
          namespace: "default",
          name: "shop",
          uid: "u-1",
        },
      }),
    ]);
  });

  test("has a note that no terminal reads as a command", async () => {
    const { time, recorder, all } = recording();
    recorder.emit(shop, { ...warning, note: "No Secret \u001b[2J\n\u202e" });
    await time.advance(0);
    expect(all()[0]?.["note"]).toBe("No Secret \\u001b[2J\\u000a\\u202e");
  });

  test("has a note of a kilobyte and a name of 253 characters at most", async () => {
    const { time, recorder, all } = recording();
    recorder.emit({ ...shop, name: `${"a".repeat(199)}.${"b".repeat(53)}` }, { ...published, note: "é".repeat(800) });
    await time.advance(0);
    const [event] = all();
    expect(event?.metadata.name).toMatch(/^a{199}\.[0-9a-f]+$/);
    const note = String(event?.["note"]);
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    expect(note).toMatch(/^é{500,}…$/);
  });

  test("is sent after `record` has returned, one at a time and in order", async () => {
    const { time, recorder, writes } = recording();
    const gate = Promise.withResolvers<void>();
    writes.gate = gate.promise;
    for (const number of [1, 2, 3]) recorder.emit(shop, numbered(number));
    expect(writes.bodies).toHaveLength(0);
    await time.advance(0);
    expect(writes.bodies).toHaveLength(1);
    gate.resolve();
    await time.advance(0);
    expect(writes.bodies.map((body) => body["note"])).toEqual([1, 2, 3].map((number) => numbered(number).note));
  });
});

describe("the same again", () => {
  test("is counted in the event that is there, once in five minutes", async () => {
    const { time, recorder, writes, all } = recording();
    recorder.emit(shop, published);
    for (let round = 0; round < 12; round += 1) {
      await time.advance(minute);
      recorder.emit(shop, published);
    }
    await time.advance(0);
    expect(writes.bodies).toHaveLength(3);
    expect(all()).toHaveLength(1);
    expect(all()[0]).toMatchObject({
      note: published.note,
      series: { count: 11, lastObservedTime: "2025-10-09T09:03:20.000000Z" },
    });
  });

  test("is a new event after ten minutes without it", async () => {
    const { time, recorder, all } = recording();
    recorder.emit(shop, published);
    await time.advance(10 * minute);
    recorder.emit(shop, published);
    await time.advance(0);
    expect(all()).toHaveLength(2);
  });

  test("is a new event when the API server has forgotten the first", async () => {
    const { time, objects, recorder, all } = recording();
    recorder.emit(shop, published);
    await time.advance(5 * minute);
    const first = all()[0]?.metadata.name ?? "";
    objects.remove(events, "default", first);
    recorder.emit(shop, published);
    await time.advance(0);
    expect(all().map(({ metadata }) => metadata.name)).not.toContain(first);
    expect(all()).toHaveLength(1);
  });

  test("is something else with another note, of another object, or of a new one of its name", async () => {
    const { time, recorder, all } = recording();
    recorder.emit(shop, published);
    recorder.emit(shop, numbered(8));
    recorder.emit({ ...shop, name: "other" }, published);
    recorder.emit({ ...shop, uid: "u-2" }, published);
    await time.advance(0);
    expect(all()).toHaveLength(4);
  });
});

describe("too much", () => {
  test("about one object is dropped after 25, and one more is written every five minutes", async () => {
    const { time, recorder, dropped, all } = recording();
    for (let number = 0; number < 40; number += 1) recorder.emit(shop, numbered(number));
    recorder.emit({ ...shop, name: "other", uid: "u-9" }, published);
    await time.advance(0);
    expect([all().length, dropped()]).toEqual([26, Array(15).fill("limit")]);
    await time.advance(5 * minute);
    recorder.emit(shop, numbered(50));
    recorder.emit(shop, numbered(51));
    await time.advance(0);
    expect([all().length, dropped().length]).toEqual([27, 16]);
  });

  test("at once is dropped, a thousand wait", async () => {
    const { time, recorder, writes, dropped, all } = recording();
    const gate = Promise.withResolvers<void>();
    writes.gate = gate.promise;
    for (let number = 0; number < 1_200; number += 1) {
      recorder.emit(project(number), warning);
    }
    gate.resolve();
    await time.advance(0);
    expect([all().length, dropped()]).toEqual([1_000, Array(200).fill("full")]);
  });

  test("that is Normal, about all objects, is dropped after five hundred, and five more are written each second", async () => {
    const { time, recorder, dropped, all } = recording();
    for (let number = 0; number < 520; number += 1) recorder.emit(project(number), published);
    await time.advance(0);
    expect([all().length, dropped()]).toEqual([500, Array(20).fill("rate")]);
    await time.advance(2_000);
    for (let number = 600; number < 611; number += 1) recorder.emit(project(number), published);
    await time.advance(0);
    expect([all().length, dropped().length]).toEqual([510, 21]);
  });

  test("that is Normal leaves Warnings their room", async () => {
    const { time, recorder, all } = recording();
    for (let number = 0; number < 520; number += 1) recorder.emit(project(number), published);
    for (let number = 0; number < 120; number += 1) recorder.emit(project(number), warning);
    await time.advance(0);
    expect(all().filter(({ type }) => type === "Warning")).toHaveLength(120);
  });
});

describe("Warnings about an object", () => {
  test("are written however many Normal events about it came before", async () => {
    const { time, recorder, all } = recording();
    for (let number = 0; number < 40; number += 1) recorder.emit(shop, numbered(number));
    recorder.emit(shop, warning);
    await time.advance(0);
    expect(all().filter(({ type }) => type === "Warning")).toHaveLength(1);
  });

  test("are written while Normal ones about it are left out because of all others", async () => {
    const { time, recorder, dropped, all } = recording();
    for (let number = 0; number < 500; number += 1) recorder.emit(project(number), published);
    // As of an object that is edited all the time: each of them is left out.
    for (let edit = 0; edit < 30; edit += 1) recorder.emit(shop, published);
    recorder.emit(shop, warning);
    await time.advance(0);
    expect(all().filter(({ type }) => type === "Warning")).toHaveLength(1);
    expect(dropped().length).toBe(30);
  });
});

describe("an API server that fails", () => {
  test("is asked again after 2, 4 and 8 s, or when it says", async () => {
    const { time, recorder, writes, reported } = recording();
    writes.failures.push(
      new ApiUnreachable("cut"),
      new ApiFailure(429, { message: "busy", retryAfterSeconds: 10 }),
      new ApiFailure(500, { message: "broken" }),
    );
    recorder.emit(shop, published);
    await time.advance(2_000 + 12_000 + 8_000);
    expect([writes.bodies.length, reported]).toEqual([4, [{ kind: "written" }]]);
  });

  test("loses the event after five attempts, and the next one is written", async () => {
    const { time, recorder, writes, dropped, all } = recording();
    for (let failure = 0; failure < 5; failure += 1) writes.failures.push(new ApiUnreachable("cut"));
    recorder.emit(shop, numbered(1));
    recorder.emit(shop, numbered(2));
    await time.advance(60_000);
    expect([dropped(), all().map((event) => event["note"])]).toEqual([["failed"], [numbered(2).note]]);
  });

  test.each([
    ["the right is missing", new ApiFailure(403, { message: "no" })],
    ["the namespace is gone", new ApiFailure(404, { message: "no" })],
    ["this is not the leader any more", new NotTheLeader("no")],
  ])("is not asked again when %s", async (_, failure) => {
    const { time, recorder, writes, reported } = recording();
    writes.failures.push(failure);
    recorder.emit(shop, published);
    await time.advance(60_000);
    expect([writes.bodies.length, reported]).toEqual([1, [{ kind: "dropped", why: "failed", error: failure }]]);
  });
});

test("a stopped recorder drops what waits and what comes, and waits for the call under way", async () => {
  const { time, recorder, writes, dropped, all } = recording();
  const gate = Promise.withResolvers<void>();
  writes.gate = gate.promise;
  recorder.emit(shop, numbered(1));
  recorder.emit(shop, numbered(2));
  await time.advance(0);
  let ended = false;
  const stopped = recorder.stop().then(() => {
    ended = true;
  });
  recorder.emit(shop, numbered(3));
  await time.advance(0);
  expect([ended, dropped()]).toEqual([false, ["stopped", "stopped"]]);
  gate.resolve();
  await stopped;
  expect([all().length, time.waiting()]).toEqual([1, 0]);
});
