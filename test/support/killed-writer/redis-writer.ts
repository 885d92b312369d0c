// A process that writes to a Redis store until it is killed: `node redis-writer.ts <url> <round>`.

import { openRedisStore } from "../redis/open-store.ts";
import { writeLoggedLanes } from "./write-lanes.ts";

const [url = "", round = "0"] = process.argv.slice(2);
await writeLoggedLanes(await openRedisStore({ url }), Number(round));
