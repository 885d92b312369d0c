// The Markdown pages of the repository, from its root: what Git knows and what is there.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/read-crds.ts";

export const documentationPages: readonly string[] = execFileSync("git", ["ls-files", "*.md"], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter((page) => existsSync(join(root, page)));
