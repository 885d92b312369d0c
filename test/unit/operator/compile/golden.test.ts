// Each case of test/golden/compile: manifests in, configuration and verdicts out. After an intended
// change run `UPDATE_GOLDEN=1 npx vitest run --project unit golden` and review the diff.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { type CompileCase, runCompileCase } from "./compile-case.ts";

const folder = fileURLToPath(new URL("../../../golden/compile/", import.meta.url));

describe("compile", () => {
  for (const name of readdirSync(folder).sort()) {
    const given = parse(readFileSync(`${folder}${name}/in.yaml`, "utf8")) as CompileCase;
    it(`${name}: ${given.shows}`, () => {
      const out = `${folder}${name}/out.yaml`;
      const result = runCompileCase(given);
      const text = stringify(result, { lineWidth: 0, aliasDuplicateObjects: false, sortMapEntries: true });
      if (process.env.UPDATE_GOLDEN === "1") writeFileSync(out, text);
      expect(text).toBe(readFileSync(out, "utf8"));
    });
  }
});
