// `jsonplane types DIR|URL`: TypeScript types, or JSON Schemas, of what a project stores and takes.

import { oneOf, switchSetting } from "../../core/env/setting-readers.ts";
import { apiKeyFile, exportFormat, ofProject, out, tokenFile } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

const settings = {
  out: { ...out, help: "File to write, in one step; without it, the types go to standard output" },
  watch: switchSetting(
    "watch",
    "Write --out again whenever the manifests, or the project at URL, change, until Ctrl-C",
  ),
  format: {
    ...exportFormat,
    help: "typescript; or json-schema: one document, with the same names in $defs",
    fallback: "typescript",
    read: oneOf(["typescript", "json-schema"]),
  },
  project: { ...ofProject, help: "Which Project of DIR; needed where DIR has several, and the others may be invalid" },
  apiKeyFile,
  tokenFile,
} as const;

export const typesCommand = defineCommand({
  name: "types",
  summary: "Write TypeScript types of a project's objects, filters and problems, from its manifests or its URL",
  argument: {
    name: "DIR|URL",
    help: "Folder of manifests, read without a network; or base URL of a project, such as https://api.example.org/default/shop",
  },
  settings,
  run: async (given, source) => {
    const { runTypes } = await import("./run-types.ts");
    return await runTypes(source, given);
  },
});
