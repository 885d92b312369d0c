// Which issuers a platform allows: what each form of a rule matches, and above all what it does
// not.

import { describe, expect, it } from "vitest";
import { isIssuerAllowed, plainIssuerUrl, readIssuerRules } from "../../../../core/env/issuer-rules.ts";

const allows = (rules: string, url: string): boolean => isIssuerAllowed(readIssuerRules(rules), url);

it.each([
  ["", "https://login.example.org", false],
  ["https://login.example.org/realms/main", "https://login.example.org/realms/main", true],
  ["https://login.example.org/realms/main", "https://login.example.org/realms/main/", false],
  ["https://login.example.org/realms/main", "https://login.example.org/realms/main2", false],
  ["https://login.example.org", "https://login.example.org", true],
  ["https://login.example.org", "https://login.example.org/", false],
  ["https://login.example.org/realms/*", "https://login.example.org/realms/main", true],
  ["https://login.example.org/realms/*", "https://login.example.org/realms", false],
  ["https://login.example.org/realms/*", "https://login.example.org/realmsters/main", false],
  ["https://login.example.org/*", "https://login.example.org", true],
  ["https://login.example.org/*", "https://login.example.org.evil.test/", false],
  ["https://login.example.org/*", "https://login.example.org:8443/", false],
  ["https://login.example.org:8443/*", "https://login.example.org:8443/", true],
  ["https://*.example.org", "https://login.example.org", true],
  ["https://*.example.org", "https://a.b.example.org", true],
  ["https://*.example.org", "https://example.org", false],
  ["https://*.example.org", "https://evilexample.org", false],
  ["https://*.example.org", "https://login.example.org/realms/main", false],
  ["https://*.example.org/*", "https://login.example.org/realms/main", true],
  ["*", "https://anything.test/at/all", true],
  ["*", "http://localhost:8080", false],
  ["https://a.test,https://b.test/*", "https://b.test/x", true],
])("the rules %j and the issuer %s: %s", (rules, url, expected) => {
  expect(allows(rules, url)).toBe(expected);
});

it.each([
  "https://login.example.org/realms/../admin",
  "https://login.example.org/realms/%2e%2e/admin",
  "https://login.example.org/realms/..%2fadmin",
  "https://login.example.org/realms/..%5Cadmin",
  "https://login.example.org/realms/..;/admin",
  "https://login.example.org/realms/.;x=1/admin",
  "https://login.example.org/realms/%252e%252e/admin",
  "https://login.example.org/realms/..%c0%af/admin",
])("a way out of the allowed path is not allowed: %s", (url) => {
  expect(allows("https://login.example.org/realms/*", url)).toBe(false);
});

it("nor is a URL that says its host in another way, even where any issuer is", () => {
  for (const url of ["https://2130706433/", "https://127.1/", "https://a.test:443/", "https://A.test/"]) {
    expect(allows("*", url)).toBe(false);
  }
  expect(plainIssuerUrl("https://127.1/x/../y")).toBe("https://127.0.0.1/y");
});

describe("a rule is refused", () => {
  it.each([
    ["http://login.example.org", "must list issuers such as"],
    ["login.example.org", "must list issuers such as"],
    ["https://login.example.org*", "must end a beginning of URLs with /*"],
    ["https://login.example.org/realms*", "must end a beginning of URLs with /*"],
    ["https://*/*", "must list issuers such as"],
    ["https://*.org", 'must name a domain such as example.org after "*."'],
    ["https://*.0.0.1/*", "must list plain URLs"],
    ["https://login.*.org/", "must list issuers such as"],
    ["https://login.example.org/?tenant=1", "must list plain URLs"],
    ["https://user@login.example.org/", "must list plain URLs"],
    ["https://Login.example.org/a/../b", 'write "https://login.example.org/b"'],
  ])("%s", (rule, fault) => {
    expect(() => readIssuerRules(rule)).toThrow(fault);
  });
});
