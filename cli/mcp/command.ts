// `jsonplane mcp URL`: lets a language model use what a project stores.

import { switchSetting } from "../../core/env/setting-readers.ts";
import { apiKeyFile, tokenFile } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

const settings = {
  allowWrites: switchSetting("allow-writes", "Offer tools that create, change and delete, too; otherwise only reads"),
  apiKeyFile,
  tokenFile,
} as const;

export const mcpCommand = defineCommand({
  name: "mcp",
  summary: "Serve a project to a language model, by the Model Context Protocol on standard input and output",
  argument: { name: "URL", help: "Base URL of a project, such as https://api.example.org/default/shop" },
  settings,
  run: async (given, url) => {
    const { runMcp } = await import("./run-mcp.ts");
    return await runMcp(url, given);
  },
});
