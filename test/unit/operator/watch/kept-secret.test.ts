import { expect, it } from "vitest";
import type { KubeObject } from "../../../../operator/kube/api.ts";
import { keptSecret } from "../../../../operator/watch/kept-secret.ts";
import { served } from "./scripted-reader.ts";

const large = "x".repeat(1024 * 1024);
const base = served("web-api-key", 7).metadata;
const ours: KubeObject = {
  metadata: {
    ...base,
    labels: { "app.kubernetes.io/managed-by": "jsonplane", "jsonplane.io/kind": "ApiKey", "jsonplane.io/name": "web" },
    annotations: { "jsonplane.io/owner-uid": "u-1", "jsonplane.io/seal": "s" },
  },
  type: "Opaque",
  immutable: true,
  data: { apiKey: "anBfMQ==", id: "aWQ=", baseURL: "aHR0cHM6Ly9hLnRlc3Q=" },
};

it("of a Secret that jsonplane made all is kept that it wrote", () => {
  expect(keptSecret(ours)).toEqual(ours);
});

it("of what somebody adds nothing is kept, however much it is", () => {
  const { metadata, data } = ours;
  const loaded: KubeObject = {
    ...ours,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, team: "a" },
      annotations: { ...metadata.annotations, note: large },
      finalizers: [large],
    },
    data: { ...(data as object), more: large },
  };
  expect(keptSecret(loaded)).toEqual(ours);
});

it("of an entry or annotation of jsonplane that is larger than any that it writes nothing is kept", () => {
  const annotations = { ...ours.metadata.annotations, "jsonplane.io/rotation": large };
  const data = { ...(ours["data"] as object), ring: large };
  expect(keptSecret({ ...ours, metadata: { ...ours.metadata, annotations }, data })).toEqual(ours);
});

it("of a Secret without entries, and of the metadata of one, no entries are made up", () => {
  expect(keptSecret({ metadata: base, type: "Opaque", data: null })).toEqual({
    metadata: base,
    type: "Opaque",
    data: {},
  });
  expect(keptSecret({ metadata: base })).toEqual({ metadata: base });
});
