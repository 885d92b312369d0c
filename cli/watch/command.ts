// `jsonplane watch URL`: prints what changes behind a URL, as `kubectl get --watch` does.

import { oneOf } from "../../core/env/setting-readers.ts";
import { apiKeyFile, listFirst, output, tokenFile } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

const settings = {
  list: listFirst,
  output: {
    ...output,
    help: "lines, or json: the data of each event, one a line",
    fallback: "lines",
    read: oneOf(["lines", "json"]),
  },
  apiKeyFile,
  tokenFile,
} as const;

export const watchCommand = defineCommand({
  name: "watch",
  summary: "Print the changes of a collection, an object or a root key, until Ctrl-C",
  argument: {
    name: "URL",
    help: "As for reading, such as https://api.example.org/default/shop/api/books?status=open, or …/json/settings/theme",
  },
  settings,
  run: async (given, url) => {
    const { runWatch } = await import("./run-watch.ts");
    return await runWatch(url, given);
  },
});
