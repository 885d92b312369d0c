import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runValidate } from "../../../../cli/validate/run-validate.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "validate-"));
});

afterEach(() => rm(folder, { recursive: true }));

interface Outcome {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Exit code and lines, with paths below the folder. */
async function validate(...documents: readonly string[]): Promise<Outcome> {
  if (documents.length > 0) await writeFile(join(folder, "a.yaml"), documents.join("---\n"));
  return run(false);
}

async function run(strict: boolean): Promise<Outcome> {
  const lines: string[] = [];
  const out = (line: string) => lines.push(line.replace(`${folder}/`, "").replace(folder, "DIR"));
  return { code: await runValidate(folder, { strict }, out), lines };
}

function manifest(kind: string, name: string, spec: string): string {
  return `apiVersion: jsonplane.io/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
}

const shop = manifest("Project", "shop", "{}");

test("valid manifests end with 0 and one line", async () => {
  const user = manifest("ProjectUser", "ada", "{ projectRef: { name: shop } }");
  const key = manifest("ApiKey", "web", "{ projectRef: { name: shop } }");
  expect(await validate(shop, user, key)).toEqual({ code: 0, lines: ["DIR: 3 objects are valid"] });
});

test("an empty folder ends with 1, so that a pipeline with a wrong path does not pass", async () => {
  expect(await validate()).toEqual({ code: 1, lines: ["DIR: no manifests here"] });
});

test("a folder that does not exist ends with 1", async () => {
  const lines: string[] = [];
  expect(await runValidate(join(folder, "nowhere"), { strict: false }, (line) => lines.push(line))).toBe(1);
  expect(lines).toEqual([`${folder}/nowhere: no such file or folder`]);
});

test("all mistakes of all objects are named, in the order of the file, and counted", async () => {
  const { code, lines } = await validate(
    manifest("RootKey", "flags", "{ projectRef: { name: shop }, key: a.b }"),
    manifest("Project", "shop", "{ serving: Paused, hosts: [x] }"),
  );
  expect(code).toBe(1);
  expect(lines.map((line) => line.split(": ")[0])).toEqual(["a.yaml:4:42", "a.yaml:9:18", "2 problems"]);
});

test("a projectRef that leads nowhere is a problem, and the rest of the object is judged all the same", async () => {
  const books = manifest(
    "ApiResource",
    "books",
    "{ projectRef: { name: shopp }, schema: { properties: { t: { type: strin } } } }",
  );
  const { code, lines } = await validate(shop, books);
  expect(code).toBe(1);
  expect(lines).toEqual([
    'a.yaml:9:29: Project/default/shopp: There is no such Project: did you mean "shop"? ApiResource/books names it in projectRef',
    expect.stringMatching(/^a\.yaml:9:73: ApiResource\/default\/books \/spec\/schema\/properties\/t\/type: /),
    "2 problems",
  ]);
});

test("children of a Project that is itself refused are not blamed for it", async () => {
  const { lines } = await validate(
    manifest("Project", "shop", "{ serving: Paused }"),
    manifest("RootKey", "flags", "{ projectRef: { name: shop } }"),
  );
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain("Project/default/shop /spec/serving");
});

test("an invalid JSON Schema is a problem with its pointer", async () => {
  const books = manifest(
    "ApiResource",
    "books",
    "{ projectRef: { name: shop }, schema: { properties: { t: { pattern: '(a' } } } }",
  );
  const { code, lines } = await validate(shop, books);
  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^a\.yaml:9:\d+: ApiResource\/default\/books \/spec\/schema\/properties\/t\/pattern: /);
});

test("a name that two objects of one Project claim is a problem", async () => {
  const spec = "{ projectRef: { name: shop }, key: flags }";
  const { code, lines } = await validate(shop, manifest("RootKey", "one", spec), manifest("RootKey", "two", spec));
  expect(code).toBe(1);
  expect(lines[0]).toContain("RootKey/default/two /spec/key");
});

test("a host that two Projects claim is a problem", async () => {
  const spec = "{ hosts: [shop.example.org] }";
  const { code, lines } = await validate(manifest("Project", "one", spec), manifest("Project", "two", spec));
  expect(code).toBe(1);
  expect(lines[0]).toContain("Project/default/two /spec/hosts/0");
});

test("what a suspended Project holds is judged as well", async () => {
  const books = manifest("ApiResource", "books", "{ projectRef: { name: shop }, schema: { type: strin } }");
  expect((await validate(manifest("Project", "shop", "{ suspend: true }"), books)).code).toBe(1);
});

test("a Secret that lacks the password is a problem, and one that is not there is a note", async () => {
  const user = manifest(
    "ProjectUser",
    "ada",
    "{ projectRef: { name: shop }, passwordSecretRef: { name: login, key: pw } }",
  );
  const secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: login }\nstringData: { password: hush }\n";
  const without = await validate(shop, user);
  expect(without.code).toBe(0);
  expect(without.lines[0]).toContain(
    "/spec/passwordSecretRef/name: note: Secret default/login is not among these manifests",
  );
  const wrong = await validate(shop, user, secret);
  expect(wrong.code).toBe(1);
  expect(wrong.lines[0]).toContain(
    '/spec/passwordSecretRef/key: Secret default/login has no entry "pw", or an empty one',
  );
  expect(wrong.lines.join()).not.toContain("hush");
});

test("ignored kinds are notes and surprising values are warnings, which stop nothing", async () => {
  const service = "apiVersion: v1\nkind: Service\nmetadata: { name: x }\n";
  const flags = manifest("RootKey", "flags", "{ projectRef: { name: shop }, initialValue: { dark: on } }");
  const { code, lines } = await validate(shop, service, flags);
  expect(code).toBe(0);
  expect(lines).toEqual([
    "a.yaml:6:1: note: v1 Service is not served here: left out",
    'a.yaml:13:59: RootKey/default/flags /spec/initialValue/dark: warning: The unquoted on is read as the boolean true, as kubectl reads it: write "on" for a text, else true',
    "DIR: 2 objects are valid",
  ]);
});

const misspelt = manifest(
  "ApiResource",
  "books",
  "{ projectRef: { name: shop }, schema: { properties: { t: { type: string, minLenght: 1 } } } }",
);
const misspeltLine =
  /^a\.yaml:9:\d+: ApiResource\/default\/books \/spec\/schema\/properties\/t\/minLenght: warning: .*did you mean minLength\?$/;

test("a misspelt keyword of a schema is a warning that says what was meant", async () => {
  const { code, lines } = await validate(shop, misspelt);
  expect(code).toBe(0);
  expect(lines).toEqual([expect.stringMatching(misspeltLine), "DIR: 2 objects are valid"]);
});

test("an issuer without TLS is a warning, because only dev mode takes it", async () => {
  const issuer = (name: string, url: string) => `{ name: ${name}, issuer: { url: "${url}", audiences: [x] } }`;
  const issuers = [issuer("a", "https://a.test"), issuer("b", "http://localhost:1")].join(", ");
  const { code, lines } = await validate(
    manifest("Project", "shop", `{ authentication: { issuers: [ ${issuers} ] } }`),
  );
  expect(code).toBe(0);
  expect(lines[0]).toMatch(/issuers\/1\/issuer\/url: warning: Only dev mode takes an issuer without TLS/);
  expect(lines).toHaveLength(2);
});

test("--strict ends with 1 where there is a warning", async () => {
  await validate(shop, misspelt);
  const { code, lines } = await run(true);
  expect(code).toBe(1);
  expect(lines).toEqual([expect.stringMatching(misspeltLine), "1 warning, which --strict refuses"]);
});

test("--strict lets notes pass: a foreign kind and a Secret that stands elsewhere are no mistakes", async () => {
  const service = "apiVersion: v1\nkind: Service\nmetadata: { name: x }\n";
  const user = manifest(
    "ProjectUser",
    "ada",
    "{ projectRef: { name: shop }, passwordSecretRef: { name: login, key: pw } }",
  );
  await validate(shop, service, user);
  const { code, lines } = await run(true);
  expect(code).toBe(0);
  expect(lines.map((line) => line.split(": ").includes("note"))).toEqual([true, true, false]);
});
