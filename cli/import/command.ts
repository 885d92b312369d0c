// `jsonplane import URL FILE`: stores what an export has in a project.

import { apiKeyFile, dryRun, fromLine, importMode, tokenFile } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

export const importCommand = defineCommand({
  name: "import",
  summary: "Store an export in a project; to repeat it changes nothing",
  argument: {
    name: "URL",
    help: "Base URL of a project, such as https://api.example.org/default/shop. Needs a key of role Administrators",
  },
  second: { name: "FILE", help: "File with an export; without it, or with -, standard input", fallback: "-" },
  settings: { mode: importMode, dryRun, fromLine, apiKeyFile, tokenFile },
  run: async (given, url, file) => {
    const { runImport } = await import("./run-import.ts");
    return await runImport(url, file, given);
  },
});
