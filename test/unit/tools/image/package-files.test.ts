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
  "build/index.js",
  "build/release.js",
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
  "build/Release/argon2.node",
  "build/Release/obj.target/argon2.node",
  "build/Release/.deps/Release/argon2.node.d",
  "build/Makefile",
  "build/binding.Makefile",
  "build/argon2.target.mk",
])("%s is not needed", (path) => {
  expect(isNeeded(path, target)).toBe(false);
});
