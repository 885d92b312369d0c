// The data plane as it runs in production: over Redis JSON, its two projects followed from there, behind a proxy that it trusts, with access
// log and metrics. Prints where it listens and what a client needs when it is ready.

import { createWriteStream } from "node:fs";
import { systemClock } from "../../core/clock.ts";
import { startDataPlane } from "../../dataplane/app.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import { changed, keyOf } from "../support/http/projects.ts";
import { answerQuestions } from "./asked.ts";
import { benchProject, neighbourProject, withBooks } from "./bench-project.ts";
import { freshToken } from "./external-tokens.ts";
import { publishedProjects } from "./published-projects.ts";
import { bookIndexes } from "./subjects.ts";

const [redisUrl = "", logFile = "/dev/null"] = process.argv.slice(2);
const issuer = testIssuer("corp");
const parts = changed(await benchProject(), withIssuer(issuer));
const { config, publish } = await publishedProjects(redisUrl, [parts, neighbourProject()]);
// What a growing collection is indexed by later (growth.ts).
process.on("SIGUSR2", () => void publish(changed(parts, withBooks([...bookIndexes, "author"]))));
const log = createWriteStream(logFile, { flags: "a" });
const plane = await startDataPlane({
  directory: config.directory,
  store: (observe) =>
    createRedisStore({ url: redisUrl, clock: systemClock, observe, lookAtServer: config.lookAtServer }),
  trustedProxies: ["127.0.0.1"],
  host: "127.0.0.1",
  port: 0,
  adminPort: 0,
  writeLog: (text) => void log.write(text),
});
answerQuestions();
const base = `${plane.url}/default/bench`;
const beside = { base: `${plane.url}/default/neighbour`, key: keyOf("neighbour") };
const says = {
  base,
  probes: plane.adminUrl,
  admin: keyOf("admin"),
  owner: keyOf("owner"),
  external: freshToken(issuer, {}),
  beside,
};
process.stdout.write(`${JSON.stringify(says)}\n`);
