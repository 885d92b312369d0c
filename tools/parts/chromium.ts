// A browser to be controlled, for tests of pages: JSONPLANE_CHROMIUM, the PATH, or Debian's
// package, installed where that needs no password. Preferred is the headless shell, which is
// Chromium without windows: to open a page takes it a tenth of the CPU time.

import { debianProgram } from "./debian-packages.ts";
import type { Part } from "./part.ts";
import { foundOnPath, namedProgram } from "./programs.ts";

const variable = "JSONPLANE_CHROMIUM";
const names = [
  ...["chromium-headless-shell", "chrome-headless-shell"],
  ...["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
];

const debians = debianProgram({
  name: "chromium",
  package: "chromium-headless-shell",
  ways: ["or install Chrome", `or set ${variable} to the path of the program`],
  locate: (env) => foundOnPath(names, env),
  versionArgs: ["--version"],
});

export const chromium: Part = {
  ...debians,
  variable,
  find: async (env) => namedProgram(variable, env, debians.ways) ?? debians.find(env),
};
