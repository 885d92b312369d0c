import { beforeAll, describe, expect, test } from "vitest";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { KubectlFailed } from "../support/kubernetes/kubectl.ts";

// The mistakes of a first hour, as kubectl shows them to who made them. What the server says of
// every other manifest, manifest-table.test.ts compares.

let server: TestApiServer;
let namespace: string;

beforeAll(async () => {
  server = await sharedApiServer();
  namespace = await server.namespace();
});

/** Both ways in which people apply; a GitOps tool has the second. */
const ways = [["apply"], ["apply", "--server-side"]] as const;

/** What kubectl says on standard error; fails the test when the dry run goes through. */
async function refusal(yaml: string, way: readonly string[]): Promise<string> {
  try {
    await server.kubectl([...way, "--dry-run=server", "-n", namespace, "-f", "-"], { input: yaml });
  } catch (error) {
    if (error instanceof KubectlFailed) return error.stderr;
    throw error;
  }
  return expect.fail("the dry run went through");
}

function manifest(kind: string, name: string, spec: string): string {
  return `apiVersion: jsonplane.io/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
}

interface Mistake {
  readonly what: string;
  readonly yaml: string;
  readonly messages: readonly string[];
}

const mistakes: readonly Mistake[] = [
  {
    what: "a word that an enumeration doesn't have",
    yaml: manifest("Project", "shop", "{ serving: Paused }"),
    messages: ['spec.serving: Unsupported value: "Paused": supported values: "ReadWrite", "ReadOnly", "Off"'],
  },
  {
    what: "a permission that doesn't exist",
    yaml: manifest("ApiResource", "books", "{ projectRef: { name: shop }, schema: {}, access: { read: Public } }"),
    messages: [
      'spec.access.read: Unsupported value: "Public"',
      '"Anyone", "Authenticated", "Administrators", "Nobody"',
    ],
  },
  {
    what: "a name with a capital letter",
    yaml: manifest("Project", "Shop", "{}"),
    messages: ["metadata.name may have lower-case letters, digits and -, up to 63 of them"],
  },
  {
    what: "a name with a dot",
    yaml: manifest("Project", "shop.v1", "{}"),
    messages: ["metadata.name may have lower-case letters, digits and -, up to 63 of them"],
  },
  {
    what: "a password of one's own and a rotation of a generated one",
    yaml: manifest(
      "ProjectUser",
      "ada",
      "{ projectRef: { name: shop }, passwordSecretRef: { name: ada }, rotation: { id: first } }",
    ),
    messages: [
      "spec.rotation: Forbidden",
      "comes from passwordSecretRef: change that Secret",
      "take out one of the two",
    ],
  },
  {
    what: "a schema that declares what the service makes",
    yaml: manifest("ApiResource", "books", "{ projectRef: { name: shop }, schema: { properties: { id: {} } } }"),
    messages: ["spec.schema.properties: Forbidden: id and _metadata are made by the service", "take them out"],
  },
  {
    what: "a schema that declares a query parameter",
    yaml: manifest("ApiResource", "books", "{ projectRef: { name: shop }, schema: { properties: { _sort: {} } } }"),
    messages: ["spec.schema.properties: Forbidden: _sort", "give the field another name"],
  },
  {
    what: "no reference to a project",
    yaml: manifest("RootKey", "settings", "{ initialValue: {} }"),
    messages: ["spec.projectRef: Required value"],
  },
];

describe("a dry run on the server refuses, and says what to write", () => {
  for (const way of ways) {
    test.for(mistakes)(`$what (kubectl ${way.join(" ")})`, async ({ yaml, messages }) => {
      const words = await refusal(yaml, way);
      for (const text of messages) expect(words).toContain(text);
    });
  }

  test("a field that isn't there, by its name", async () => {
    const yaml = manifest("Project", "shop", "{ host: [shop.example.org] }");
    expect(await refusal(yaml, ["apply"])).toContain('unknown field "spec.host"');
    expect(await refusal(yaml, ["apply", "--server-side"])).toContain(".spec.host: field not declared in schema");
  });
});

interface Immutable {
  readonly kind: string;
  readonly name: string;
  readonly field: string;
  /** Spec with the field, with another value of it, and without it. */
  readonly specs: readonly [given: string, changed: string, without: string];
}

const inShop = "projectRef: { name: shop }";
const immutable: readonly Immutable[] = [
  {
    kind: "ApiResource",
    name: "things",
    field: "resourceName",
    specs: [
      `{ ${inShop}, schema: {}, resourceName: books }`,
      `{ ${inShop}, schema: {}, resourceName: titles }`,
      `{ ${inShop}, schema: {} }`,
    ],
  },
  {
    kind: "ProjectUser",
    name: "someone",
    field: "username",
    specs: [`{ ${inShop}, username: ada }`, `{ ${inShop}, username: grace }`, `{ ${inShop} }`],
  },
  {
    kind: "ApiKey",
    name: "key",
    field: "secretName",
    specs: [`{ ${inShop}, secretName: one }`, `{ ${inShop}, secretName: two }`, `{ ${inShop} }`],
  },
  {
    kind: "RootKey",
    name: "root",
    field: "key",
    specs: [`{ ${inShop}, key: a }`, `{ ${inShop}, key: b }`, `{ ${inShop} }`],
  },
];

describe("a field that can't change", () => {
  test.for(immutable)("$field of $kind is refused changed, taken away and given later", async (each) => {
    const { kind, name, field, specs } = each;
    const [given, changed, without] = specs;
    const later = `${name}-later`;
    // Client-side apply takes a field away that the last manifest had; so does server-side apply.
    await server.kubectl(["apply", "-n", namespace, "-f", "-"], { input: manifest(kind, name, given) });
    await server.kubectl(["apply", "-n", namespace, "-f", "-"], { input: manifest(kind, later, without) });
    const attempts = [manifest(kind, name, changed), manifest(kind, name, without), manifest(kind, later, given)];
    for (const yaml of attempts) {
      const words = await refusal(yaml, ["apply"]);
      expect(words).toContain(`spec.${field}: Forbidden: `);
      expect(words).toMatch(/immutable.*: write the former value again.*, or (delete|create)/);
    }
    await server.kubectl(["apply", "--dry-run=server", "-n", namespace, "-f", "-"], {
      input: manifest(kind, name, given),
    });
  });

  test("a child is not moved to another Project", async () => {
    for (const kind of ["ProjectUser", "ApiKey", "RootKey"]) {
      const spec = (project: string) => `{ projectRef: { name: ${project} } }`;
      await server.kubectl(["apply", "-n", namespace, "-f", "-"], { input: manifest(kind, "moved", spec("shop")) });
      const words = await refusal(manifest(kind, "moved", spec("store")), ["apply"]);
      expect(words).toContain("spec.projectRef.name: Forbidden: projectRef is immutable");
    }
  });

  test("is refused through every other verb as well", async () => {
    await server.kubectl(["apply", "-n", namespace, "-f", "-"], {
      input: manifest("RootKey", "patched", `{ ${inShop}, key: a }`),
    });
    for (const patch of ['{"spec":{"key":"b"}}', '{"spec":{"key":null}}']) {
      const attempt = server.kubectl(["patch", "jroot", "patched", "-n", namespace, "--type=merge", "-p", patch]);
      await expect(attempt).rejects.toThrow("spec.key: Forbidden: key (metadata.name where it is unset) is immutable");
    }
  });
});
