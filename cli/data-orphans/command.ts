// `jsonplane data orphans`: lists stored data that nobody serves, and deletes them on request.

import { defineCommand } from "../command.ts";
import { settings } from "./settings.ts";

export const dataOrphansCommand = defineCommand({
  name: "data orphans",
  summary: "List stored data that are kept without being served; --delete deletes them",
  argument: { name: "NAMESPACE/PROJECT[/KIND/NAME]", help: "Only these; what --delete deletes", isList: true },
  settings,
  needs: ["redis"],
  run: async (given, argument) => {
    const { runOrphans } = await import("./run-orphans.ts");
    return await runOrphans(given, argument);
  },
});
