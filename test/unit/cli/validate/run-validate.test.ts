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

test("a Project is not called missing where a document that may hold it can't be read", async () => {
  const { lines } = await validate(
    shop.replace("shop }", "shop"),
    manifest("RootKey", "flags", "{ projectRef: { name: shop } }"),
  );
  expect(lines).toEqual(["a.yaml:3:11: This { is not closed: write } behind what it holds", "1 problem"]);
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

test("a problem is one line without commands to the terminal, whatever the manifest has in it", async () => {
  const schema = '{ properties: { "a\\e[31m\\n\\u202Eb": { pattern: "(" } } }';
  const { lines } = await validate(
    shop,
    manifest("ApiResource", "books", `{ projectRef: { name: shop }, schema: ${schema} }`),
  );
  expect(lines[0]).toContain("/spec/schema/properties/a\\u001b[31m \\u202eb/pattern");
});

test("a schema that no object can match is a problem", async () => {
  const schema = "{ additionalProperties: false, properties: { title: {} }, required: [tilte] }";
  const books = manifest("ApiResource", "books", `{ projectRef: { name: shop }, schema: ${schema} }`);
  const { code, lines } = await validate(shop, books);
  expect(code).toBe(1);
  expect(lines[0]).toContain('/spec/schema/required/0: No object can match: "tilte" is required');
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
  expect(wrong.lines[0]).toContain('/spec/passwordSecretRef/key: Secret "login" has no entry "pw", or an empty one');
  expect(wrong.lines.join()).not.toContain("hush");
});

const inShop = "projectRef: { name: shop }";
const ada = manifest("ProjectUser", "ada", `{ ${inShop} }`);
const web = manifest("ApiKey", "web", `{ ${inShop} }`);
const keyIn = (secretName: string, name = "key") =>
  manifest("ApiKey", name, `{ ${inShop}, secretName: ${secretName} }`);
const secretNamed = (name: string, data = "{ a: b }") =>
  `apiVersion: v1\nkind: Secret\nmetadata: { name: ${name} }\nstringData: ${data}\n`;
const login = manifest("ProjectUser", "ada", `{ ${inShop}, passwordSecretRef: { name: login } }`);

test.each([
  ["an ApiKey and another one", "ApiKey/default/key", [keyIn("mine", "first"), keyIn("mine")]],
  ["an ApiKey and a user's password", "ApiKey/default/key", [ada, keyIn("ada-password")]],
  ["an ApiKey and a user's hash", "ApiKey/default/key", [ada, keyIn("ada-user-hash")]],
  ["an ApiKey and its Project's signing keys", "ApiKey/default/key", [keyIn("shop-signing")]],
  [
    "ApiKeys of two Projects",
    "ApiKey/default/key",
    [manifest("Project", "other", "{}"), keyIn("mine", "first"), keyIn("mine").replace("shop", "other")],
  ],
  ["an ApiKey and a Secret of somebody else", "ApiKey/default/web", [web, secretNamed("web-api-key")]],
  ["a user and a Secret of somebody else", "ProjectUser/default/ada", [ada, secretNamed("ada-password")]],
  ["the hash of a user and a Secret of somebody else", "ProjectUser/default/ada", [ada, secretNamed("ada-user-hash")]],
  ["a Project and a Secret of somebody else", "Project/default/shop", [secretNamed("shop-signing")]],
])("a Secret that is claimed by %s is a problem, as the operator says it", async (_who, subject, documents) => {
  const { code, lines } = await validate(shop, ...documents);
  expect(code).toBe(1);
  expect(lines).toEqual([expect.stringContaining(`: ${subject}`), "1 problem"]);
});

test("what is wrong with the children of a Project whose Secret is somebody else's is said as well", async () => {
  const { lines } = await validate(shop, secretNamed("shop-signing"), ada, keyIn("ada-password"));
  expect(lines).toEqual([
    expect.stringContaining(': Project/default/shop: Secret "shop-signing" was not made for this Project'),
    expect.stringContaining('Secret "ada-password" was not made for this ApiKey, but for ProjectUser "ada"'),
    "2 problems",
  ]);
});

test("Secrets of one name in two namespaces, and one that a user names, are no problem", async () => {
  const elsewhere = (text: string) => text.replaceAll("metadata: { ", "metadata: { namespace: other, ");
  const here = [shop, login, secretNamed("login", "{ password: hush }"), keyIn("mine")];
  expect(await validate(...here, ...here.map(elsewhere))).toEqual({ code: 0, lines: ["DIR: 8 objects are valid"] });
});

test("a password that no login can send is a problem, and is not repeated", async () => {
  const long = await validate(shop, login, secretNamed("login", `{ password: ${"x".repeat(1025)} }`));
  expect(long.lines).toEqual([
    expect.stringContaining('ProjectUser/default/ada: Secret "login": The password is longer than 1024 bytes'),
    "1 problem",
  ]);
  expect(long.lines.join()).not.toContain("xxx");
  expect((await validate(shop, login, secretNamed("login", '{ password: "\\n" }'))).code).toBe(1);
});

test("a Secret that is there and invalid is not called missing", async () => {
  const invalid = secretNamed("login").replace("stringData: { a: b }", "data: { password: hunter2! }");
  const { code, lines } = await validate(shop, login, invalid);
  expect(code).toBe(1);
  expect(lines).toEqual([
    expect.stringContaining("/spec/passwordSecretRef/name: note: Secret default/login is itself refused"),
    expect.stringContaining("Secret/default/login /data/password: Invalid value: is not base64"),
    "1 problem",
  ]);
});

test("an object beyond what a cluster stores is a problem, and one that only kubectl apply can't take is a note", async () => {
  const flagsOf = (bytes: number) =>
    manifest("RootKey", "flags", `{ ${inShop}, initialValue: "${"x".repeat(bytes)}" }`);
  const large = manifest("Project", "shop", "{ limits: { maxDocumentBytes: 4194304 } }");
  expect(await validate(large, flagsOf(1_500_000))).toEqual({
    code: 1,
    lines: [expect.stringMatching(/^a\.yaml:6:1: RootKey\/default\/flags: Too long: \d+ bytes as JSON/), "1 problem"],
  });
  expect(await validate(large, flagsOf(256 * 1024))).toEqual({
    code: 0,
    lines: [expect.stringContaining("note: Is too long for `kubectl apply`"), "DIR: 2 objects are valid"],
  });
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

const issuerAt = (url: string, more = "") => `{ name: a, issuer: { url: "${url}", audiences: [x] }${more} }`;
const google = "https://accounts.google.com";
const github = "https://token.actions.githubusercontent.com";
const entra = "https://login.microsoftonline.com";
const corp = "https://login.example.org";
const rule = (claim: string) => `, claimValidationRules: [{ claim: "${claim}", requiredValue: "x" }]`;
const admins = (claim: string) => `, administrators: [{ claim: "${claim}", contains: x }]`;
const username = (claim: string) => `, claimMappings: { username: { claim: "${claim}" } }`;

test.each([
  ["without TLS, which only dev mode takes", issuerAt("http://localhost:1"), "/issuer/url", "a cluster refuses this"],
  [
    "with the address of its document as its url",
    issuerAt(`${corp}/realms/a/.well-known/openid-configuration`),
    "/issuer/url",
    `such as ${corp}/realms/a`,
  ],
  ["of all of Entra's tenants", issuerAt(`${entra}/common/v2.0`), "/issuer/url", "tenant's id in place of common"],
  ["of Entra's organizations", issuerAt(`${entra}/organizations/v2.0`), "/issuer/url", "in place of organizations"],
  [
    "of everybody on GitHub",
    issuerAt(github, admins("repository")),
    "/issuer/url",
    "{ claim: repository_owner_id, req",
  ],
  ["of everybody with a Google account", issuerAt(google), "/issuer/url", "{ claim: hd, requiredValue: … }"],
  ["of every verified Google account", issuerAt(google, rule("email_verified")), "/issuer/url", "{ claim: hd, req"],
  ["of Google for pages", issuerAt(google, `${rule("hd")}, clientId: x`), "/clientId", "so leave it out"],
  [
    "with addresses that nobody has verified as names",
    issuerAt(corp, username("email")),
    "/claimMappings/username/claim",
    'add { claim: email_verified, requiredValue: "true" } to claimValidationRules',
  ],
  [
    "with a name inside of a claim",
    issuerAt(corp, username("act.sub")),
    "/claimMappings/username/claim",
    "inside of act",
  ],
  [
    "with a rule for what is inside of a claim",
    issuerAt(corp, rule("address.country")),
    "/claimValidationRules/0/claim",
    "not inside of address",
  ],
  [
    "with administrators by what is inside of a claim",
    issuerAt(corp, admins("realm_access.roles")),
    "/administrators/0/claim",
    "top level of the token by this whole name, and not inside of realm_access",
  ],
])("an issuer %s is a warning that says what to write", async (_which, issuer, at, detail) => {
  const { code, lines } = await validate(manifest("Project", "shop", `{ authentication: { issuers: [ ${issuer} ] } }`));
  expect(code).toBe(0);
  expect(lines).toEqual([
    expect.stringContaining(`/spec/authentication/issuers/0${at}: warning: `),
    "DIR: 1 object is valid",
  ]);
  expect(lines[0]).toContain(detail);
});

test.each([
  ["of one Entra tenant", issuerAt(`${entra}/11111111-2222-3333-4444-555555555555/v2.0`)],
  ["of a realm called common", issuerAt(`${corp}/common/v2.0`)],
  ["of a GitHub enterprise", issuerAt(`${github}/acme`)],
  ["of one owner on GitHub", issuerAt(github, rule("repository_owner_id"))],
  ["of one organisation at Google", issuerAt(google, rule("hd"))],
  ["with verified addresses", issuerAt(corp, username("email") + rule("email_verified"))],
  ["with claims named by URLs", issuerAt(corp, username("sub") + admins("https://example.org/roles"))],
  ["with claims named by URNs and domains", issuerAt(corp, rule("urn:example.org:x") + admins("org.example.roles"))],
])("an issuer %s is no warning", async (_which, issuer) => {
  const { lines } = await validate(manifest("Project", "shop", `{ authentication: { issuers: [ ${issuer} ] } }`));
  expect(lines).toEqual(["DIR: 1 object is valid"]);
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

test("a copy that a cluster would refuse is a problem of the Project that names its source", async () => {
  const resource = (project: string, properties: string) =>
    manifest(
      "ApiResource",
      `${project}-users`,
      `{ projectRef: { name: ${project} }, resourceName: users, schema: { properties: { ${properties} } } }`,
    );
  const copy = (of: string) =>
    `dataSourceRef: { kind: Project, name: ${of} }, dataSource: { resources: [users], omit: [users.email] }`;
  const said = async (...documents: readonly string[]) =>
    (await validate(...documents)).lines.map((line) => line.replace(/^a\.yaml:\d+:\d+: Project\/default\//, ""));
  const preview = [manifest("Project", "preview", `{ ${copy("shop")} }`), resource("preview", "email: {}")];
  const agreeing = manifest("Project", "shop", "{ copies: { allow: Namespace } }");
  expect(await said(agreeing, resource("shop", "email: {}"), ...preview)).toEqual(["DIR: 4 objects are valid"]);
  expect(await said(...preview)).toEqual(["DIR: 2 objects are valid"]);
  expect((await said(agreeing, resource("shop", "e_mail: {}"), ...preview))[0]).toMatch(
    /^preview \/spec\/dataSource\/omit\/0: .*declares no "email": did you mean "e_mail"\?/,
  );
  expect((await said(shop, resource("shop", "email: {}"), ...preview))[0]).toMatch(
    /^preview \/spec\/dataSourceRef\/name: Project "shop" doesn't allow copies/,
  );
  const other = manifest("Project", "shop", `{ copies: { allow: Namespace }, ${copy("preview")} }`);
  expect(
    (await said(other, resource("shop", "email: {}"), ...preview)).filter((line) => line.includes("wait")),
  ).toEqual([
    expect.stringContaining("shop for preview for shop: delete one"),
    expect.stringContaining("preview for shop for preview: delete one"),
  ]);
});
