// Every scenario, in the order of the report.

import type { Scenario } from "./scenario.ts";
import { redisKillAlways, redisKillEverysec, replicaKill } from "./scenarios/kills.ts";

export const scenarios: readonly Scenario[] = [replicaKill, redisKillAlways, redisKillEverysec];
