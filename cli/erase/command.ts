// `jsonplane erase URL --owner NAME`: what one owner has made in a project, to hand it out and to
// delete it.

import { apiKeyFile, eraseWithoutAsking, exportFile, owner, tokenFile } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

export const eraseCommand = defineCommand({
  name: "erase",
  summary: "Count, export and delete all objects that one user has created; asks before it deletes",
  argument: { name: "URL", help: "Base URL of a project, such as https://api.example.org/default/shop" },
  settings: {
    owner: { ...owner, help: "Whose objects: name of a user, apikey:NAME or external:ISSUER/NAME" },
    exportFile,
    yes: eraseWithoutAsking,
    apiKeyFile,
    tokenFile,
  },
  needs: ["owner"],
  run: async (settings, url) => {
    const { runErase } = await import("./run-erase.ts");
    return await runErase(url, settings);
  },
});
