// `make demo`: starts the demo, which Ctrl-C ends; nothing of it is left.

import { bringPartsOf } from "../../tools/parts/groups.ts";
import { readArguments } from "../../tools/script-arguments.ts";
import { reportFailures } from "../../tools/start-script.ts";
import { runDemo } from "./demo.ts";

reportFailures("make demo");
readArguments({});
await bringPartsOf("demo");
process.exitCode = await runDemo();
process.exit();
