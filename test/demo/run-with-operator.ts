// The demo with the program of the first argument in the operator's place, for tests of what a
// person reads when the demo fails.

import { reportFailures } from "../../tools/start-script.ts";
import { runDemo } from "./demo.ts";

reportFailures("make demo");
const [, , operator = ""] = process.argv;
process.exitCode = await runDemo({ operator });
process.exit();
