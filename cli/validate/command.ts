// `jsonplane validate DIR`: what a cluster would refuse of a folder of manifests.

import { against, apiKeyFile, strict, tokenFile } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

export const validateCommand = defineCommand({
  name: "validate",
  summary: "Check a folder of manifests, one line per problem; exit code 1 when there is one",
  argument: { name: "DIR", help: "Folder of manifests (*.yaml, *.yml, *.json), read with its subfolders" },
  settings: { strict, against, apiKeyFile, tokenFile },
  run: async (settings, folder) => {
    const { runValidate } = await import("./run-validate.ts");
    return await runValidate(folder, settings, (line) => void process.stdout.write(`${line}\n`));
  },
});
