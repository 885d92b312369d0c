import { describe, expect, it } from "vitest";
import { createNamespaceUids } from "../../../../operator/finalize/namespace-uids.ts";
import type { KubeObject } from "../../../../operator/kube/api.ts";
import type { ProjectObjects } from "../../../../operator/model/project-objects.ts";
import type { PublishedProject } from "../../../../operator/model/published-project.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

const unpublished = { revision: 0 } as unknown as PublishedProject;

function cluster() {
  const time = manualTime();
  const live = { uid: "n-1" as string | undefined, failure: undefined as unknown };
  const watch = { uid: "n-1" as string | undefined, isThere: true };
  let asked = 0;
  const namespaces = createNamespaceUids({
    api: {
      async get() {
        asked += 1;
        if (live.failure !== undefined) throw live.failure;
        return live.uid === undefined ? undefined : ({ metadata: { uid: live.uid } } as unknown as KubeObject);
      },
    },
    watched: () => watch.uid,
    isWatching: () => watch.isThere,
    monotonic: time.monotonic,
  });
  const namespaceOf = (name: string) => namespaces.of(objects(name), unpublished);
  return { time, live, watch, namespaces, namespaceOf, asked: () => asked };
}

function objects(name: string): ProjectObjects {
  const project = stored("Project", name, { metadata: { uid: name } });
  return { ref: { namespace: "default", name }, project, resources: [], rootKeys: [], users: [], keys: [] };
}

describe("the namespace of Projects that nothing is published of", () => {
  it("is asked for once, for all that were seen before", async () => {
    const { namespaces, namespaceOf, asked } = cluster();
    const names = ["a", "b", "c"];
    for (const name of names) namespaces.seen(name);
    await Promise.all(names.map(namespaceOf));
    expect(await namespaceOf("a")).toBe("n-1");
    expect(asked()).toBe(1);
  });

  it("is asked for again for one that came since: it may be one of a later namespace", async () => {
    const { live, namespaces, namespaceOf, asked } = cluster();
    namespaces.seen("a");
    await namespaceOf("a");
    live.uid = "n-2";
    namespaces.seen("b");
    expect(await namespaceOf("b")).toBe("n-2");
    expect(asked()).toBe(2);
  });

  it("is asked for again for one that came while it was asked for", async () => {
    const { live, namespaces, namespaceOf } = cluster();
    namespaces.seen("a");
    const first = namespaceOf("a");
    namespaces.seen("b");
    live.uid = "n-2";
    const second = namespaceOf("b");
    expect([await first, await second]).toEqual(["n-1", "n-2"]);
  });

  it("is asked for each time for one that nobody has told of, or that has gone", async () => {
    const { namespaces, namespaceOf, asked } = cluster();
    namespaces.seen("a");
    await namespaceOf("a");
    await namespaceOf("b");
    namespaces.removed("a");
    await namespaceOf("a");
    expect(asked()).toBe(3);
  });

  it("is asked for again after five seconds", async () => {
    const { time, namespaces, namespaceOf, asked } = cluster();
    namespaces.seen("a");
    await namespaceOf("a");
    await time.advance(5_000);
    await namespaceOf("a");
    expect(asked()).toBe(2);
  });

  it("is asked for once for all where namespaces aren't watched", async () => {
    const { watch, namespaces, namespaceOf, asked } = cluster();
    watch.uid = undefined;
    watch.isThere = false;
    for (const name of ["a", "b", "c"]) namespaces.seen(name);
    expect(await Promise.all(["a", "b", "c"].map(namespaceOf))).toEqual(["n-1", "n-1", "n-1"]);
    expect(asked()).toBe(1);
  });

  it("is asked for each time where the watch does not have it: it may be gone since", async () => {
    const { live, watch, namespaces, namespaceOf } = cluster();
    namespaces.seen("a");
    expect(await namespaceOf("a")).toBe("n-1");
    watch.uid = undefined;
    live.uid = undefined;
    expect(await namespaceOf("a")).toBeUndefined();
  });

  it("is known of a Project in a namespace that was made anew, however long the watch is behind", async () => {
    const { time, live, watch, namespaces, namespaceOf, asked } = cluster();
    live.uid = "n-2";
    namespaces.seen("a");
    expect(await namespaceOf("a")).toBe("n-2");
    await time.advance(60_000);
    expect(await namespaceOf("a")).toBe("n-2");
    expect(asked()).toBe(1);
    watch.uid = "n-2";
    live.uid = "n-3";
    // The watch agrees with the answer once: from then on it is the watch, and what was published,
    // that count.
    expect(await namespaceOf("a")).toBe("n-3");
  });

  it("is asked for again when the API server didn't answer", async () => {
    const { live, namespaces, namespaceOf } = cluster();
    namespaces.seen("a");
    live.failure = new Error("cut");
    await expect(namespaceOf("a")).rejects.toThrow("cut");
    live.failure = undefined;
    expect(await namespaceOf("a")).toBe("n-1");
  });
});
