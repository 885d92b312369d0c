// Every scenario, in the order of the report.

import type { Scenario } from "./scenario.ts";
import { changesFollowed, changesTrimmed } from "./scenarios/changes.ts";
import { clockJumps } from "./scenarios/clocks.ts";
import { configAge, ringRotation, signingRotation, streamTrim } from "./scenarios/configuration.ts";
import { objectsExpire } from "./scenarios/expiry.ts";
import { clusterKill, sentinelKill, sentinelPause, slotMigration } from "./scenarios/failovers.ts";
import { fullDiskAlways, fullDiskEverysec } from "./scenarios/full-disk.ts";
import { redisKillAlways, redisKillEverysec, replicaKill, replicaKillUnheard } from "./scenarios/kills.ts";
import { connectionCuts, halfOpen, stalls } from "./scenarios/network.ts";
import { operatorDown, staleLeader } from "./scenarios/operator.ts";
import { pausedPurge } from "./scenarios/purges.ts";
import { outOfMemory, readOnly } from "./scenarios/refusals.ts";
import { schemaChanges } from "./scenarios/schema-changes.ts";

export const scenarios: readonly Scenario[] = [
  replicaKill,
  replicaKillUnheard,
  redisKillAlways,
  redisKillEverysec,
  sentinelKill,
  sentinelPause,
  clusterKill,
  slotMigration,
  connectionCuts,
  stalls,
  halfOpen,
  outOfMemory,
  readOnly,
  fullDiskEverysec,
  fullDiskAlways,
  clockJumps,
  pausedPurge,
  objectsExpire,
  schemaChanges,
  ringRotation,
  signingRotation,
  streamTrim,
  changesFollowed,
  changesTrimmed,
  configAge,
  operatorDown,
  staleLeader,
];
