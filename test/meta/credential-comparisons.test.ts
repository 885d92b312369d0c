// Secrets are compared in constant time or found by their hash: no source compares a text that is
// one with an operator, whose time tells how much of it was right.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../tools/read-crds.ts";

const folders = ["core", "dataplane", "operator", "cli"];
/**
 * Words for what nobody may guess; what follows says that it is not the secret itself but something
 * about it.
 */
const secret =
  "(?:[pP]assword|[sS]ecret|[tT]oken|[sS]ignature|[hH]mac|[aA]piKey|authorization|refreshToken|privateKey)";
const about = "(?:_use|Seconds|Type|Length|Bytes|KeyBytes|Use|Name|Ref|Kind|Limit|s)";
const operand = `[\\w.?\\]\\[]*${secret}(?!${about})\\w*`;
const harmless = '(?!\\s*(?:undefined|null|""|"[a-z]|\'))';
const comparison = new RegExp(`\\b${operand}\\s*[!=]==${harmless}|[!=]==\\s*${operand}\\b(?!\\.length|\\()`);

function compares(line: string): boolean {
  const code = line.replace(/\/\/.*$/, "").replace(/"[^"]*"/g, '"a"');
  return comparison.test(code);
}

describe("the sources", () => {
  it("compare no secret with an operator", async () => {
    const found: string[] = [];
    for (const folder of folders) {
      const names = (await readdir(join(root, folder), { recursive: true })).filter((name) => name.endsWith(".ts"));
      for (const name of names) {
        const lines = (await readFile(join(root, folder, name), "utf8")).split("\n");
        found.push(...lines.filter(compares).map((line) => `${folder}/${name}: ${line.trim()}`));
      }
    }
    expect(found).toEqual([]);
  });

  it("find API keys by their hash, verify passwords by argon2 and tokens by their signature, and compare digests in constant time", async () => {
    const read = (path: string) => readFile(join(root, path), "utf8");
    expect(await read("dataplane/authenticate/create-authentication.ts")).toMatch(
      /createHash\("sha256"\)\.update\(key\)/,
    );
    expect(await read("dataplane/sessions/passwords.ts")).toMatch(
      /verify = argon2Verify \}[\s\S]*await verify\(isGenerated \? nobody : \(hash \?\? nobody\), password\)/,
    );
    expect(await read("dataplane/authenticate/tokens.ts")).toMatch(/compactVerify\([\s\S]*algorithms: \["EdDSA"\]/);
    expect(await read("operator/resolve/own-secret.ts")).toMatch(/timingSafeEqual/);
    expect(await read("core/http/admin-port-access.ts")).toMatch(/timingSafeEqual\(digest, token\.current\(\)\)/);
  });
});

it.each([
  ["if (sent === password) return true;", true],
  ["return user.password !== given;", true],
  ["if (token === known.refreshToken) return;", true],
  ["if (password === undefined) return;", false],
  ["if (before === tokenSeconds) return state;", false],
  ['if (payload.token_use === "access") return;', false],
  ["// password === given", false],
])("the search judges `%s` rightly", (line, expected) => {
  expect(compares(line)).toBe(expected);
});
