import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { apiCall } from "../support/kubernetes/api-server/api-server-call.ts";
import {
  customResources,
  folderOf,
  jsonplaneVersion,
  objectsIn,
  objectsOf,
} from "../support/kubernetes/api-server/api-server-objects.ts";
import { operatorUser } from "../support/kubernetes/rbac.ts";
import { eventually } from "../support/time/eventually.ts";

let server: TestApiServer;

beforeAll(async () => {
  server = await sharedApiServer();
});

const kinds = ["Project", "ApiResource", "ProjectUser", "ApiKey", "RootKey"] as const;
const plural = (kind: string) => `${kind.toLowerCase()}s`;
const shortNames = { Project: "jproj", ApiResource: "jres", ProjectUser: "juser", ApiKey: "jkey", RootKey: "jroot" };

function manifest(kind: string, spec: object, name = "sample"): string {
  return JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec });
}

const smallest: Readonly<Record<(typeof kinds)[number], string>> = {
  Project: manifest("Project", { serving: "ReadOnly" }),
  ApiResource: manifest("ApiResource", { projectRef: { name: "shop" }, schema: { properties: { title: {} } } }),
  ProjectUser: manifest("ProjectUser", { projectRef: { name: "shop" } }),
  ApiKey: manifest("ApiKey", { projectRef: { name: "shop" } }),
  RootKey: manifest("RootKey", { projectRef: { name: "shop" }, initialValue: {} }),
};

interface Condition {
  readonly type: string;
  readonly status: string;
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly group: string };
  readonly status: { readonly conditions: readonly Condition[] };
}

test("a cluster accepts every CRD whole: established, names taken, schema structural", async () => {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const found = (await objectsIn(server, path)) as unknown as readonly Definition[];
  const items = found.filter(({ spec }) => spec.group === "jsonplane.io");
  expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(
    kinds.map((k) => `${plural(k)}.jsonplane.io`).sort(),
  );
  for (const { metadata, status } of items) {
    const held = status.conditions.filter((condition) => condition.status === "True").map(({ type }) => type);
    expect(held.sort(), metadata.name).toEqual(["Established", "NamesAccepted"]);
  }
});

interface Field {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly items?: Field;
}

function silentFields(field: Field, path: string): readonly string[] {
  const own = field.description ? [] : [path];
  const inside = Object.entries(field.properties ?? {}).flatMap(([name, each]) =>
    silentFields(each, `${path}.${name}`),
  );
  // What an item is, the list says.
  const items = Object.entries(field.items?.properties ?? {}).flatMap(([name, each]) =>
    silentFields(each, `${path}.${name}`),
  );
  return [...own, ...inside, ...items];
}

/** The server publishes schemas of a definition some time after it serves its objects. */
function publishedSchema(kind: (typeof kinds)[number]): Promise<Field> {
  return eventually(async () => {
    const { components } = JSON.parse(
      await server.kubectl(["get", "--raw", "/openapi/v3/apis/jsonplane.io/v1alpha1"]),
    ) as { components: { schemas: Readonly<Record<string, Field>> } };
    const schema = components.schemas[`io.jsonplane.v1alpha1.${kind}`];
    if (schema?.properties === undefined) throw new Error(`The server publishes no schema of ${kind} yet`);
    return schema;
  });
}

describe("kubectl explain", () => {
  test.for(kinds)("has a text for every field of %s", async (kind) => {
    const schema = await publishedSchema(kind);
    const { spec, status } = schema.properties ?? {};
    if (spec === undefined || status === undefined) expect.fail(`the server publishes no fields of ${kind}`);
    expect(schema.description).toMatch(/^An? \w+ is .+\.$/s);
    expect([...silentFields(spec, "spec"), ...silentFields(status, "status")]).toEqual([]);
  });

  test("says of a field what it is, what it may be and what it is by default", async () => {
    await publishedSchema("Project");
    await publishedSchema("ApiResource");
    const explained = (await server.kubectl(["explain", "jproj.spec.serving"])).replace(/\s+/g, " ");
    expect(explained).toContain(
      "FIELD: serving <string> ENUM: ReadWrite ReadOnly Off DESCRIPTION: ReadWrite: all requests",
    );
    expect(explained).toContain("Default: ReadWrite.");
    expect(await server.kubectl(["explain", "jres.spec.access", "--recursive"])).toMatch(
      /scope\s+<Object>\s+read\s+<string>/,
    );
  });
});

describe("kubectl get", () => {
  const columns: Readonly<Record<(typeof kinds)[number], string>> = {
    Project: "NAME AUTHENTICATION SERVING URL RESOURCES OBJECTS BYTES READY AVAILABLE REASON MESSAGE AGE",
    ApiResource: "NAME PROJECT URL READY REASON MESSAGE INDEXES BUILDING INVALID AGE",
    ProjectUser: "NAME PROJECT USERNAME ROLE ACCESS SECRET READY REASON MESSAGE AGE",
    ApiKey: "NAME PROJECT ROLE ACCESS SECRET EXPIRES DESCRIPTION READY REASON MESSAGE AGE",
    RootKey: "NAME PROJECT URL READY REASON MESSAGE AGE",
  };
  const onlyWide = [
    "RESOURCES",
    "OBJECTS",
    "BYTES",
    "MESSAGE",
    "EXPIRES",
    "DESCRIPTION",
    "INDEXES",
    "BUILDING",
    "INVALID",
  ];

  test.for(kinds)("shows %s by its short name with the columns that a person wants", async (kind) => {
    const namespace = await server.namespace();
    await server.apply(smallest[kind], { namespace });
    const header = async (...more: readonly string[]) => {
      const table = await server.kubectl(["get", shortNames[kind], "-n", namespace, ...more]);
      return table.split("\n")[0]?.trim().split(/\s+/) ?? [];
    };
    expect(await header("-o", "wide")).toEqual(columns[kind].split(" "));
    const hidden = kind === "ProjectUser" ? [...onlyWide, "SECRET"] : onlyWide;
    expect(await header()).toEqual(columns[kind].split(" ").filter((column) => !hidden.includes(column)));
  });

  test("lists all five kinds by their category", async () => {
    const namespace = await server.namespace();
    await server.apply(Object.values(smallest).join("\n---\n"), { namespace });
    const names = (await server.kubectl(["get", "jsonplane", "-n", namespace, "-o", "name"])).trim().split("\n");
    expect(names.sort()).toEqual(kinds.map((kind) => `${kind.toLowerCase()}.jsonplane.io/sample`).sort());
  });
});

interface Written {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Stored {
  readonly metadata: {
    readonly generation: number;
    readonly resourceVersion: string;
    readonly uid: string;
    readonly managedFields: readonly { readonly fieldsV1: unknown }[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
}

async function sampleIn(namespace: string, kind = "Project"): Promise<Stored> {
  return (await objectsOf(server, namespace).get(kind, "sample")) as unknown as Stored;
}

describe("status", () => {
  test.for(kinds)(
    "of a new %s says that nobody has looked at it, so that it does not pass for finished",
    async (kind) => {
      const namespace = await server.namespace();
      await server.apply(smallest[kind], { namespace });
      const stored = await sampleIn(namespace, kind);
      expect(stored.status).toEqual({ observedGeneration: -1 });
      await expect(
        server.kubectl([
          "wait",
          "--for=condition=Ready",
          `${shortNames[kind]}/sample`,
          "-n",
          namespace,
          "--timeout=1s",
        ]),
      ).rejects.toThrow("timed out");
    },
  );

  test("can't be written with the spec, nor the spec with the status", async () => {
    const namespace = await server.namespace();
    await server.apply(smallest.Project, { namespace });
    const path = `/apis/jsonplane.io/v1alpha1/namespaces/${namespace}/projects/sample`;
    const merge = { method: "PATCH", contentType: "application/merge-patch+json" } as const;
    await apiCall(server, path, { ...merge, body: { status: { baseURL: "https://elsewhere.example" } } });
    await apiCall(server, `${path}/status`, {
      ...merge,
      body: { spec: { serving: "Off" }, status: { baseURL: "https://a" } },
    });
    const { spec, status, metadata } = await sampleIn(namespace);
    expect([spec["serving"], status["baseURL"], metadata.generation]).toEqual(["ReadOnly", "https://a", 1]);
  });

  /** Server-side apply as the operator does it. */
  function applyStatus(namespace: string, metadata: object, status: object) {
    const path = `/apis/jsonplane.io/v1alpha1/namespaces/${namespace}/projects/sample/status`;
    return apiCall(server, `${path}?fieldManager=${operatorUser.serviceAccount}&force=true`, {
      method: "PATCH",
      contentType: "application/apply-patch+yaml",
      body: { apiVersion: "jsonplane.io/v1alpha1", kind: "Project", metadata: { name: "sample", ...metadata }, status },
    });
  }

  test("is written by server-side apply, once: the same again changes nothing", async () => {
    const namespace = await server.namespace();
    await server.apply(smallest.Project, { namespace });
    const first = await applyStatus(namespace, {}, { observedGeneration: 1, baseURL: "https://a" });
    const second = await applyStatus(namespace, {}, { observedGeneration: 1, baseURL: "https://a" });
    expect(second.body.metadata?.["resourceVersion"]).toBe(first.body.metadata?.["resourceVersion"]);
    expect(second.body["status"]).toEqual({ observedGeneration: 1, baseURL: "https://a" });
  });

  test("goes to an object that was made anew, whatever UID is said: only resourceVersion holds it back", async () => {
    const namespace = await server.namespace();
    await server.apply(smallest.Project, { namespace });
    const { metadata: former } = await sampleIn(namespace);
    await objectsOf(server, namespace).remove("Project", "sample");
    expect((await applyStatus(namespace, { uid: former.uid }, { observedGeneration: 7 })).status).toBe(404);
    await server.apply(smallest.Project, { namespace });
    const { resourceVersion, uid } = former;
    expect((await applyStatus(namespace, { uid, resourceVersion }, { observedGeneration: 7 })).status).toBe(409);
    expect((await applyStatus(namespace, { uid }, { observedGeneration: 7 })).status).toBe(200);
  });
});

test("a schema is one field to its owner, however large, so that managedFields stay small", async () => {
  const namespace = await server.namespace();
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`field${at}`, { type: "string" }]));
  await server.apply(
    manifest("ApiResource", { projectRef: { name: "shop" }, schema: { type: "object", properties } }),
    {
      namespace,
    },
  );
  const [owner] = (await sampleIn(namespace, "ApiResource")).metadata.managedFields;
  expect(owner?.fieldsV1).toEqual({ "f:spec": { "f:projectRef": { "f:name": {} }, "f:schema": {} } });
});

test("the largest manifests are checked whole: no rule runs out of the server's budget", async () => {
  const namespace = await server.namespace();
  const list = (count: number, text: (at: number) => string) => Array.from({ length: count }, (_, at) => text(at));
  const label = "a".repeat(61);
  const field = { type: "string", description: "d".repeat(60) };
  const properties = Object.fromEntries(list(1_000, (at) => `field${at}`).map((name) => [name, field]));
  const largest = [
    manifest("Project", {
      hosts: list(16, (at) => `${label}.${label}.${label}.${"b".repeat(50)}.h${10 + at}.example`),
      cors: {
        allowedOrigins: list(64, (at) => `https://${label}.${label}.${label}.${label.slice(0, 50)}.${1_000 + at}`),
        allowHeaders: list(64, (at) => `x-${label.slice(0, 50)}-${at}`),
      },
    }),
    manifest("ApiResource", {
      projectRef: { name: "shop" },
      schema: { type: "object", properties },
      indexes: list(16, (at) => [`field${at}`, ...list(3, () => "i".repeat(40))].join(".")),
    }),
    manifest("RootKey", { projectRef: { name: "shop" }, initialValue: list(10_000, String) }),
  ];
  const apply = ["apply", "--server-side", "-n", namespace, "-f", "-"];
  // One after the other, as a stream of JSON: kubectl 1.30 takes no `---` between large ones.
  const explained = await server.kubectl(apply, { input: largest.join("\n") });
  expect(explained).toMatch(/^(.* serverside-applied\n){3}$/);
});

describe("the examples", async () => {
  const folder = new URL("../../examples/", import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));

  const versions = async (namespace: string) =>
    (await customResources(server, namespace)).map(({ metadata }) => metadata?.["resourceVersion"]);

  /**
   * As the operator does soon after each creation: until then the default status is made again at
   * each reading, and not stored.
   */
  async function writeStatuses(namespace: string): Promise<void> {
    const items = (await customResources(server, namespace)) as unknown as readonly Written[];
    for (const { kind, metadata } of items) {
      const path = `${folderOf(kind, namespace)}/${metadata.name}/status`;
      const body = {
        apiVersion: jsonplaneVersion,
        kind,
        metadata: { name: metadata.name },
        status: { observedGeneration: 1 },
      };
      const answer = await apiCall(server, `${path}?fieldManager=jsonplane-operator&force=true`, {
        method: "PATCH",
        contentType: "application/apply-patch+yaml",
        body,
      });
      expect(answer.status).toBe(200);
    }
  }

  test.for(files)("%s applies in strict mode, and again without changing anything", async (file) => {
    const namespace = await server.namespace();
    const apply = ["apply", "--validate=strict", "-n", namespace, "-f", fileURLToPath(new URL(file, folder))];
    await server.kubectl([...apply, "--server-side", "--dry-run=server"]);
    await server.kubectl([...apply, "--server-side"]);
    await writeStatuses(namespace);
    const before = await versions(namespace);
    await server.kubectl([...apply, "--server-side"]);
    expect(await versions(namespace)).toEqual(before);
    const documents = (await readFile(new URL(file, folder), "utf8")).match(/^kind: /gm);
    expect(before).toHaveLength(documents?.length ?? 0);
  });

  test.for(files)("%s applies without --server-side as well", async (file) => {
    const namespace = await server.namespace();
    const apply = ["apply", "--validate=strict", "-n", namespace, "-f", fileURLToPath(new URL(file, folder))];
    await server.kubectl(apply);
    const before = await versions(namespace);
    expect(
      (await server.kubectl(apply))
        .trim()
        .split("\n")
        .filter((line) => !line.endsWith(" unchanged")),
    ).toEqual([]);
    expect(await versions(namespace)).toEqual(before);
  });
});
