import { expect, it } from "vitest";
import { isNeeded } from "../../../../tools/image/package-files.ts";

const target = { architecture: "x64" };

it.each([
  "index.js",
  "package.json",
  "LICENSE.md",
  "dist/test/index.js",
  "dist/test-events.js",
  "lib/lazy.wasm",
  "prebuilds/linux-x64/argon2.glibc.node",
])("%s is needed", (path) => {
  expect(isNeeded(path, target)).toBe(true);
});

it.each([
  "index.d.ts",
  "src/index.ts",
  "dist/index.js.map",
  "README.md",
  "test/index.js",
  "lib/parse.test.js",
  "test-node.js",
  ".eslintrc",
  "binding.c",
  "prebuilds/linux-x64/argon2.musl.node",
  "prebuilds/linux-arm64/argon2.glibc.node",
  "prebuilds/darwin-x64/argon2.node",
])("%s is not needed", (path) => {
  expect(isNeeded(path, target)).toBe(false);
});
