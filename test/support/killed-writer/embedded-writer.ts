// A process that writes to an embedded store until it is killed: `node embedded-writer.ts
// <directory> <round>`.

import { systemClock } from "../../../core/clock.ts";
import { createEmbeddedStore } from "../../../dataplane/store/embedded/embedded-store.ts";
import { writeLoggedLanes } from "./write-lanes.ts";

const [directory = "", round = "0"] = process.argv.slice(2);
await writeLoggedLanes(await createEmbeddedStore({ directory, clock: systemClock }), Number(round));
