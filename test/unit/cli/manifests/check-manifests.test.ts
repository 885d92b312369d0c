import { describe, expect, test } from "vitest";
import { checkManifests } from "../../../../cli/manifests/check-manifests.ts";
import { readFileText } from "../../../../cli/manifests/read-manifests.ts";
import { problemLine } from "../../../../cli/manifests/source.ts";
import type { Manifest } from "../../../../core/manifests/validate-manifest.ts";

function manifest(kind: string, spec: string): string {
  return `apiVersion: jsonplane.io/v1alpha1\nkind: ${kind}\nmetadata:\n  name: sample\nspec:\n${spec}`;
}

function check(text: string, accepted?: ReadonlyMap<string, Manifest>): ReturnType<typeof checkManifests> {
  return checkManifests(readFileText("a.yaml", text), accepted);
}

function linesOf(text: string, accepted?: ReadonlyMap<string, Manifest>): readonly string[] {
  return check(text, accepted).problems.map(problemLine);
}

describe("a problem has file, line, column, object and pointer", () => {
  test("of a wrong value, at the value", () => {
    expect(linesOf(manifest("Project", "  limits:\n    maxPageSize: 5000\n"))).toEqual([
      "a.yaml:7:18: Project/default/sample /spec/limits/maxPageSize: Invalid value: 5000: spec.limits.maxPageSize in body should be less than or equal to 1000",
    ]);
  });

  test("of an unknown field, at its name", () => {
    expect(linesOf(manifest("Project", "  suspended: true\n"))).toEqual([
      'a.yaml:6:3: Project/default/sample /spec/suspended: unknown field "spec.suspended", did you mean "suspend"?',
    ]);
  });

  test("of a password written into a manifest, with the field that names a Secret instead", () => {
    const [line] = linesOf(manifest("ProjectUser", "  projectRef: { name: shop }\n  password: hunter2\n"));
    expect(line).toContain('unknown field "spec.password", did you mean "passwordSecretRef"?');
    expect(line).not.toContain("hunter2");
  });

  test("of a missing field, at its parent", () => {
    expect(linesOf(manifest("RootKey", "  key: flags\n"))).toEqual([
      "a.yaml:5:1: RootKey/default/sample /spec/projectRef: Required value",
    ]);
  });

  test("of a list's item, at the item", () => {
    expect(linesOf(manifest("Project", "  hosts:\n    - a.example.org\n    - B.example.org\n"))[0]).toMatch(
      /^a\.yaml:8:7: Project\/default\/sample \/spec\/hosts\/1: Invalid value: "B\.example\.org": a host is/,
    );
  });
});

describe("a problem says what to write instead", () => {
  const issuer = (given: string) => `  authentication: { issuers: [ { name: a, ${given} } ] }\n`;
  const whole = 'issuer: { url: "https://a.test", audiences: [x] }';
  const at = "spec.authentication.issuers[0]";
  test.each([
    [
      "a field that belongs one level down",
      issuer('url: "https://a.test", issuer: { audiences: [x] }'),
      `: write it in ${at}.issuer, one level down`,
    ],
    [
      "a field that belongs one level up",
      issuer("issuer: { audiences: [x], clientId: b }"),
      `: write it in ${at}, one level up`,
    ],
    [
      "a field that belongs further up",
      issuer("issuer: { audiences: [x], hosts: [] }"),
      ": write it in spec, further up",
    ],
    [
      "a field in place of the one that is missing",
      issuer(`${whole}, administrators: [{ claim: g, value: b }]`),
      ', did you mean "contains"?',
    ],
    [
      "a field of other systems",
      issuer(`${whole}, clientSecret: hunter2`),
      ": a client that pages sign in with is public and has no secret, leave it out",
    ],
    ["one text in place of a list", issuer('issuer: { url: "https://a.test", audiences: shop }'), ": write [shop]"],
    ["one object in place of a list", issuer(`${whole}, administrators: { claim: g }`), ": write [{ claim: … }]"],
    [
      "texts in place of objects with several fields",
      issuer(`${whole}, administrators: [staff]`),
      ": write { claim: …, contains: … }",
    ],
    [
      "one text in place of a list of objects",
      issuer(`${whole}, administrators: staff`),
      ": write [{ claim: …, contains: … }]",
    ],
    [
      "a text in place of an object with one field",
      issuer(`${whole}, claimMappings: { username: email }`),
      ": write { claim: email }",
    ],
    [
      "a text in place of objects with one field each",
      issuer(`${whole}, claimMappings: email`),
      ": write { username: { claim: email } }",
    ],
    [
      "a text that would be something else in YAML",
      issuer(`${whole}, claimMappings: { username: "on" }`),
      ': write { claim: "on" }',
    ],
    [
      "a URL without a scheme",
      issuer("issuer: { url: login.example.org/a, audiences: [x] }"),
      ': write "https://login.example.org/a"',
    ],
    ["a URL with a query", issuer('issuer: { url: "https://a.test?b=c", audiences: [x] }'), ': write "https://a.test"'],
    ["a URL in place of a host", '  hosts: ["https://api.example.org/x"]\n', ': write "api.example.org"'],
    ["capital letters", '  hosts: ["API.example.org"]\n', ': write "api.example.org"'],
    [
      "a number of seconds",
      "  sessions: { accessTokenTTL: 3600 }\n",
      'must be of type string: "integer": write "3600s"',
    ],
    ["a long time as a number of seconds", "  sessions: { refreshTokenTTL: 2592000 }\n", ': write "43200m"'],
    ["a number of days", "  sessions: { refreshTokenTTL: 30d }\n", ': write "43200m"'],
    ["a time in words", "  sessions: { accessTokenTTL: 1.5 Hours }\n", ': write "5400s"'],
    ["a number of seconds in quotes", '  sessions: { accessTokenTTL: "3600" }\n', ': write "3600s"'],
    [
      "a number that is refused in quotes as well",
      "  serving: 5\n",
      ', and in quotes it is refused, too: Unsupported value: "5": supported values: "ReadWrite", "ReadOnly", "Off"',
    ],
  ])("for %s", (_what, spec, advice) => {
    const lines = linesOf(manifest("Project", spec));
    expect(lines.filter((line) => line.endsWith(advice))).toHaveLength(1);
    expect(lines.join()).not.toContain("hunter2");
  });

  test.each([
    [
      "half a minute",
      "retention: 30s",
      'Invalid value: "30s": retention is a duration such as 30m, 1h or 12h30m, from 1m to 24h',
    ],
    [
      "more than a day",
      "retention: 25h",
      'Invalid value: "25h": retention is a duration such as 30m, 1h or 12h30m, from 1m to 24h',
    ],
    ["a time in words", "retention: 1 hour", ': write "3600s"'],
    ["a number of seconds", "retention: 1800", ': write "1800s"'],
    [
      "no entries",
      "maxEntries: 0",
      "Invalid value: 0: spec.changes.maxEntries in body should be greater than or equal to 100",
    ],
    ["true in place of its fields", "true", 'must be of type object: "boolean": write {}'],
    ["a word for true", "yes", ": write {} (the unquoted yes is the boolean true)"],
  ])("for a log of changes with %s", (_what, changes, advice) => {
    const braces = changes.includes(":") ? `{ ${changes} }` : changes;
    for (const [kind, more] of [
      ["ApiResource", "  schema: {}\n"],
      ["RootKey", ""],
    ] as const) {
      const lines = linesOf(manifest(kind, `  projectRef: { name: shop }\n${more}  changes: ${braces}\n`));
      expect(lines).toEqual([expect.stringContaining("/spec/changes")]);
      expect(lines[0]?.endsWith(advice)).toBe(true);
    }
  });

  test.each([
    ["a field that nothing has", issuer(`${whole}, requiredClaims: { hd: x }`), /unknown field "[^"]*"$/],
    ["a field whose place is taken", issuer(`${whole}, url: "https://b.test"`), /unknown field "[^"]*"$/],
    ["a field of another type than the one of its name", issuer(`${whole}, audiences: x`), /unknown field "[^"]*"$/],
    ["a text in place of an object with several fields", issuer('issuer: "https://a.test"'), /type object: "string"$/],
    ["a text that no change makes right", '  hosts: ["a b"]\n', /Invalid value: "a b"/],
  ])("but nothing for %s", (_what, spec, end) => {
    expect(linesOf(manifest("Project", spec))[0]).toMatch(end);
  });

  test("but nothing that is refused again", () => {
    const [line] = linesOf(
      manifest("ApiResource", "  projectRef: { name: a }\n  schema: {}\n  indexes: _metadata.created\n"),
    );
    expect(line).toContain(', and ["_metadata.created"] is refused, too: Forbidden: only fields of the schema');
    expect(line).not.toContain(": write");
  });

  test("but no duration for a field that takes words", () => {
    const [line] = linesOf(manifest("ApiResource", "  projectRef: { name: 5 days }\n  schema: {}\n"));
    expect(line).not.toContain(": write");
  });

  test("but no URL for a field that takes words", () => {
    const [line] = linesOf(
      manifest("ApiResource", "  projectRef: { name: a }\n  schema: {}\n  indexes: [_metadata.created]\n"),
    );
    expect(line).toMatch(/sorting by id and _metadata\.created needs no index$/);
  });

  test("without repeating what stands where the name of a Secret belongs", () => {
    const lines = linesOf(manifest("ProjectUser", "  projectRef: shop\n  passwordSecretRef: hunter2\n"));
    expect(lines).toEqual([
      expect.stringMatching(/: write \{ name: shop \}$/),
      expect.stringMatching(/: write \{ name: … \}$/),
    ]);
  });
});

describe("a text without quotes that is read as something else", () => {
  test("is named as it stands in the file", () => {
    expect(linesOf(manifest("Project", "  serving: Off\n"))[0]).toMatch(
      /must be of type string: "boolean" \(the unquoted Off is the boolean false: write "Off"\)$/,
    );
  });

  test("is to be put in quotes where a number looks like itself", () => {
    expect(linesOf(manifest("ProjectUser", "  projectRef: { name: p }\n  rotation: { id: 2 }\n"))[0]).toMatch(
      /must be of type string: "integer": write "2" in quotes$/,
    );
  });

  test("is not repeated where it stands in a Secret", () => {
    const text = "apiVersion: v1\nkind: Secret\nmetadata: { name: s }\nstringData:\n  password: 31337\n";
    expect(linesOf(text)).toEqual([
      'a.yaml:5:13: Secret/default/s /stringData/password: Invalid value: "integer": stringData.password in body must be of type string: "integer": write the value in quotes',
    ]);
  });
});

test("an object that is there twice is refused at the second place", () => {
  const text = manifest("Project", "  suspend: false\n");
  expect(linesOf(`${text}---\n${text}`)).toEqual([
    "a.yaml:11:9: /metadata/name: Project/default/sample is there twice, first in a.yaml:1",
  ]);
});

test("objects of one name and of several kinds or namespaces stand side by side", () => {
  const other = manifest("Project", "  suspend: false\n").replace("name: sample", "name: sample\n  namespace: other");
  const texts = [manifest("Project", "  suspend: false\n"), manifest("RootKey", "  projectRef: { name: p }\n"), other];
  expect(check(texts.join("---\n"))).toMatchObject({ problems: [], manifests: [{}, {}, {}] });
});

test("a field that can't be changed is compared with the accepted version of the same object", () => {
  const before = check(manifest("RootKey", "  projectRef: { name: p }\n  key: one\n"));
  const accepted = new Map(before.manifests.map((entry) => [entry.source.subject, entry.manifest]));
  const text = manifest("RootKey", "  projectRef: { name: p }\n  key: two\n");
  expect(linesOf(text)).toEqual([]);
  expect(linesOf(text, accepted)[0]).toMatch(/^a\.yaml:7:8: RootKey\/default\/sample \/spec\/key: Forbidden: key /);
});

test("an unknown kind of our group is refused with the kind that was meant", () => {
  expect(linesOf("apiVersion: jsonplane.io/v1alpha1\nkind: APIResources\nmetadata: { name: x }\n")).toEqual([
    'a.yaml:2:7: APIResources/default/x /kind: Invalid value: "APIResources": no matches for kind "APIResources" in version "jsonplane.io/v1alpha1", did you mean ApiResource?',
  ]);
});

test("another version of our group is refused with the version that is served", () => {
  expect(linesOf("apiVersion: jsonplane.io/v1\nkind: Project\nmetadata: { name: x }\n")).toEqual([
    'a.yaml:1:13: Project/default/x /apiVersion: Invalid value: "jsonplane.io/v1": no matches for kind "Project" in version "jsonplane.io/v1", write jsonplane.io/v1alpha1',
  ]);
});

test("one line per problem, whatever the manifest holds", () => {
  const lines = linesOf(manifest("ApiKey", '  projectRef: { name: p }\n  description: "one\\ntwo"\n'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain("\n");
});
