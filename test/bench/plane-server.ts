// The data plane as in production: over Redis JSON, its two projects followed from there, behind a
// proxy that it trusts, with access log and metrics. Prints where it listens and what a client
// needs. `npm run bench -- before` starts this file of an earlier commit too: keep its path and its
// output.

import { createWriteStream } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { systemClock } from "../../core/clock.ts";
import { startDataPlane } from "../../dataplane/app.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import { changed, keyOf } from "../support/http/projects.ts";
import { benchProject, neighbourProject } from "./bench-project.ts";
import { answerQuestion } from "./processes.ts";
import { followPublished } from "./published-projects.ts";

const [redisUrl = "", keyring] = process.argv.slice(2);
const issuer = testIssuer("corp");
const projects = [changed(await benchProject(), withIssuer(issuer)), neighbourProject()];
const config = await followPublished(redisUrl, projects, keyring);
const log = createWriteStream("/dev/null");
const plane = await startDataPlane({
  directory: config.directory,
  store: (observe) => createRedisStore({ url: redisUrl, clock: systemClock, observe, checkServer: config.checkServer }),
  trustedProxies: ["127.0.0.1"],
  host: "127.0.0.1",
  port: 0,
  adminPort: 0,
  writeLog: (text) => void log.write(text),
});
const resolutionMs = 5;
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
answerQuestion(() => {
  const maxStopMs = delays.max / 1e6 - resolutionMs;
  delays.enable();
  delays.reset();
  return maxStopMs;
});
const now = Math.floor(systemClock.now() / 1_000);
const says = {
  base: `${plane.url}/default/bench`,
  probes: plane.adminUrl,
  keyring: config.keyring,
  admin: keyOf("admin"),
  owner: keyOf("owner"),
  external: issuer.token({ iat: now, exp: now + 86_400 }),
  beside: { base: `${plane.url}/default/neighbour`, key: keyOf("neighbour") },
};
process.stdout.write(`${JSON.stringify(says)}\n`);
