import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { objectToKeep } from "../../../../operator/kube/answers.ts";
import type { KubeObject } from "../../../../operator/kube/api.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
const metadata = {
  name: "books",
  namespace: "shop",
  uid: "u1",
  resourceVersion: "7",
  managedFields: [{ manager: "kubectl" }],
};

function answered(object: object): KubeObject {
  return objectToKeep(JSON.parse(JSON.stringify(object)) as KubeObject);
}

describe("an object as it is kept", () => {
  test("has all that the API server sent, but managedFields and kubectl's copy of itself", () => {
    const { managedFields, ...others } = metadata;
    const sent = {
      kind: "RootKey",
      metadata: { ...metadata, annotations: { [lastApplied]: "{}", team: "a" } },
      spec: { key: "flags" },
    };
    expect(answered(sent)).toEqual({
      kind: "RootKey",
      metadata: { ...others, annotations: { team: "a" } },
      spec: { key: "flags" },
    });
    expect(answered({ metadata: { ...metadata, annotations: { [lastApplied]: "{}" } } })).toEqual({ metadata: others });
    expect(answered({ metadata: { ...metadata, annotations: {} } })).toEqual({
      metadata: { ...others, annotations: {} },
    });
  });

  test("has metadata that V8 stores compactly, not as a hash table of its own", () => {
    setFlagsFromString("--allow-natives-syntax");
    const isCompact = runInThisContext("(object) => %HasFastProperties(object)") as (object: object) => boolean;
    const annotated = answered({ metadata: { ...metadata, annotations: { [lastApplied]: "{}", team: "a" } } });
    expect(isCompact(annotated.metadata)).toBe(true);
    expect(isCompact(annotated.metadata.annotations ?? {})).toBe(true);
    expect(isCompact(answered({ metadata }).metadata)).toBe(true);
  });

  test("has the conditions that were sent, whatever other objects say", () => {
    const condition = {
      type: "Ready",
      status: "True",
      observedGeneration: 2,
      reason: "Served",
      message: "It is served",
    };
    const conditions = [condition, { ...condition, type: "Accepted", message: null, extra: { nested: "kept" } }];
    for (let round = 0; round < 2; round += 1) {
      expect(answered({ metadata, status: { conditions, url: "http://x" } })["status"]).toEqual({
        conditions,
        url: "http://x",
      });
    }
    for (const status of [null, {}, { conditions: null }, { conditions: "none" }, { conditions: ["none", null, 1] }]) {
      expect(answered({ metadata, status })["status"]).toEqual(status);
    }
  });

  test("has its own conditions after more different texts than are remembered", () => {
    for (let each = 0; each < 2_500; each += 1) {
      const conditions = [{ type: "Ready", message: `Message ${each}` }];
      expect(answered({ metadata, status: { conditions } })["status"]).toEqual({ conditions });
    }
  });
});
