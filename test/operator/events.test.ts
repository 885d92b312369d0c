// Events on a real API server: taken as they are written, counted up, shown by kubectl.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createEventRecorder,
  type EventNote,
  type EventObservation,
  type StoppableRecorder,
} from "../../operator/events/event-recorder.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import type { Subject } from "../../operator/model/verdict.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { objectsIn, objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { type ManualTime, manualTime } from "../support/time/manual-time.ts";

const minute = 60_000;
const published: EventNote = { type: "Normal", reason: "Published", action: "Publish", note: "Revision 7 is live" };

let server: TestApiServer;
let api: KubeApi;
let namespace: string;
let time: ManualTime;
let reported: EventObservation[];
let recorder: StoppableRecorder;
let shop: Subject;

beforeAll(async () => {
  server = await sharedApiServer();
  const kubeconfig = await server.kubeconfig("admin");
  const monotonic = (): number => performance.now();
  api = (await createKubeApi({ kubeconfig, environment: {}, observe: () => undefined, monotonic })).api;
});
afterAll(async () => {
  await api?.close();
});

beforeEach(async () => {
  namespace = await server.namespace();
  time = manualTime(Date.now());
  reported = [];
  recorder = createEventRecorder({
    ...time,
    api,
    instance: "operator-0_ab12",
    random: Math.random,
    observe: (observation) => reported.push(observation),
  });
  await server.apply("{apiVersion: jsonplane.io/v1alpha1, kind: Project, metadata: {name: shop}}", { namespace });
  const { uid } = (await objectsOf(server, namespace).get("Project", "shop")).metadata;
  shop = { kind: "Project", namespace, name: "shop", uid };
});

/** Everything that was recorded so far has been answered. */
async function answered(count: number): Promise<void> {
  await eventually(() => expect(reported).toHaveLength(count));
}

const folder = () => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const stored = () => objectsIn(server, folder());

describe("an event", () => {
  test("stands where kubectl describe shows it, with reason, age, source and note", async () => {
    recorder.emit(shop, published);
    await answered(1);
    expect(reported).toEqual([{ kind: "written" }]);
    const description = await server.kubectl(["describe", "jproj", "shop", "--namespace", namespace]);
    expect(description).toMatch(/Normal +Published +\S+ +jsonplane\.io\/operator +Revision 7 is live/);
  });

  test("is taken with the longest names and notes", async () => {
    recorder.emit({ ...shop, name: "a".repeat(253) }, { ...published, note: "é".repeat(2_000) });
    await answered(1);
    expect(reported).toEqual([{ kind: "written" }]);
  });

  test("that is told again is counted in its series", async () => {
    recorder.emit(shop, published);
    await answered(1);
    for (let round = 2; round <= 4; round += 1) {
      time.freeze(5 * minute);
      recorder.emit(shop, published);
      await answered(round);
    }
    expect(reported).toEqual(Array(4).fill({ kind: "written" }));
    expect(await stored()).toEqual([expect.objectContaining({ series: expect.objectContaining({ count: 4 }) })]);
  });

  test("that the API server has forgotten is told anew, and the old one does not come back as a torso", async () => {
    recorder.emit(shop, published);
    await answered(1);
    await apiObject(server, folder(), { method: "DELETE" });
    time.freeze(5 * minute);
    recorder.emit(shop, published);
    await answered(2);
    expect(await stored()).toEqual([expect.objectContaining({ note: published.note, action: "Publish" })]);
  });
});

test("nothing waits for an event in a namespace that is going", async () => {
  await apiObject(server, `/api/v1/namespaces/${namespace}`, { method: "DELETE" });
  recorder.emit(shop, published);
  await answered(1);
  expect(reported).toEqual([expect.objectContaining({ kind: "dropped", why: "failed" })]);
});
