// `jsonplane export URL`: writes what a project stores to a file.

import { defineCommand } from "../command.ts";
import { settings } from "./settings.ts";

export const exportCommand = defineCommand({
  name: "export",
  summary: "Write everything that a project stores to a file, or one resource as CSV",
  argument: {
    name: "URL",
    help: "Base URL of a project, such as https://api.example.org/default/shop. Needs a key of role Administrators",
  },
  settings,
  run: async (given, url) => {
    const { runExport } = await import("./run-export.ts");
    return await runExport(url, given);
  },
});
