import { expect, test } from "vitest";
import type { UncheckedObject } from "../../../../core/manifests/object.ts";
import { type Manifest, validateManifest } from "../../../../core/manifests/validate-manifest.ts";

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const member of Object.values(Object.freeze(value))) frozen(member);
  return value;
}

function accepted(object: UncheckedObject, previous?: Manifest): Manifest {
  const result = validateManifest(object, previous);
  if (!result.ok) expect.fail(result.problems.map(({ message }) => message).join("; "));
  return result.object;
}

const about = { apiVersion: "jsonplane.io/v1alpha1", kind: "ApiResource", metadata: { name: "books" } } as const;

test("neither the manifest nor the accepted version is changed", () => {
  const object = frozen({ ...about, spec: { projectRef: { name: "shop" }, schema: { type: "object" }, access: {} } });
  const before = frozen(accepted(object));
  expect(accepted(object, before)).toEqual(before);
});

test("objects don't share their defaults", () => {
  const project = { ...about, kind: "Project" };
  const [one, two] = [accepted(project), accepted(project)];
  expect(one.spec).toEqual(two.spec);
  expect((one.spec as { readonly cors: object }).cors).not.toBe((two.spec as { readonly cors: object }).cors);
});

test("what was accepted is accepted again, and stays as it is", () => {
  const first = accepted({
    ...about,
    spec: { projectRef: { name: "shop" }, schema: { properties: { constructor: {} } } },
  });
  expect(accepted(first as unknown as UncheckedObject, first)).toEqual(first);
});

test("a manifest without a namespace is in the namespace default", () => {
  const project = { ...about, kind: "Project" };
  expect(accepted(project).metadata.namespace).toBe("default");
  expect(accepted({ ...project, metadata: { name: "a", namespace: "shop" } }).metadata.namespace).toBe("shop");
});

test("a status is dropped", () => {
  expect(accepted({ ...about, kind: "Project", status: { baseURL: "x" } })).not.toHaveProperty("status");
});

test("names that JavaScript gives a meaning are names like others", () => {
  const schema = JSON.parse(
    '{"properties": {"__proto__": {"type": "string"}, "constructor": {}, "toString": {}}}',
  ) as object;
  const object = accepted({ ...about, spec: { projectRef: { name: "shop" }, schema } } as unknown as UncheckedObject);
  const stored = (object.spec as unknown as { readonly schema: { readonly properties: object } }).schema.properties;
  expect(Object.keys(stored)).toEqual(["__proto__", "constructor", "toString"]);
});

test("metadata that is no mapping, or holds what it can't hold, is refused with its place", () => {
  const places = (metadata: UncheckedObject[string]): readonly string[] => {
    const result = validateManifest({ ...about, kind: "Project", metadata });
    return result.ok ? [] : result.problems.map(({ pointer }) => pointer);
  };
  expect(places(null)).toEqual(["/metadata/name"]);
  expect(places("shop")).toEqual(["/metadata"]);
  expect(places({ name: 5 })).toEqual(["/metadata/name"]);
  expect(places({ name: "a", namespace: "A" })).toEqual(["/metadata/namespace"]);
  expect(places({ name: "a", generateName: "a-" })).toEqual(["/metadata/generateName"]);
  expect(places({ name: "a", annotations: { x: true } })).toEqual(["/metadata/annotations/x"]);
  expect(places({ name: "a", label: {} })).toEqual(["/metadata/label"]);
});

test("an object of either version is the one that the API server stores", () => {
  const [alpha, beta] = ["v1alpha1", "v1beta1"].map((version) =>
    validateManifest({ ...about, apiVersion: `jsonplane.io/${version}`, kind: "Project" }),
  );
  expect(beta).toEqual(alpha);
  expect(beta).toMatchObject({ ok: true, object: { apiVersion: "jsonplane.io/v1alpha1" } });
});

test("an object of no kind, or of a kind of another group, is refused", () => {
  expect(validateManifest({})).toMatchObject({ ok: false, problems: [{ pointer: "/apiVersion" }] });
  expect(validateManifest({ apiVersion: "jsonplane.io/v1alpha1" })).toMatchObject({ problems: [{ pointer: "/kind" }] });
  expect(validateManifest({ apiVersion: "v1", kind: "Project" })).toMatchObject({
    problems: [{ pointer: "/apiVersion" }],
  });
});
