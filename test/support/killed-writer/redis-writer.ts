// A process that writes to a Redis store until it is killed: `node redis-writer.ts <url> <round>`.

import { systemClock } from "../../../core/clock.ts";
import { createRedisStore } from "../../../dataplane/store/redis/redis-store.ts";
import { writeToldLanes } from "./told-lanes.ts";

const [url = "", round = "0"] = process.argv.slice(2);
await writeToldLanes(await createRedisStore({ url, clock: systemClock }), Number(round));
