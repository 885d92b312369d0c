// One vitest project per kind of test, so that each kind has its own command, time limits and real
// parts. Half of the cores run test files, two at least: the servers that the tests start want the
// others. Where files are many and start little, they share a worker's modules (isolate: false):
// importing has no effect and modules keep no state, and half a second per file is spared.

import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { countForTier } from "./test/support/time/test-tier.ts";
import { StartOrder } from "./tools/test-run/start-order.ts";

const realParts = "./test/support/redis/find-redis.ts";
const sharedRedis = "./test/support/redis/start-shared-redis.ts";
const sharedCluster = "./test/support/redis/start-shared-cluster.ts";
const realKubernetes = "./test/support/kubernetes/find-kubernetes.ts";
const images = "./test/support/chart/image-build.ts";
const sharedParts = "./test/support/fleet/start-shared-fleet.ts";
const sameCases = "./test/support/time/property-seed.ts";
const seconds = 1_000;

export default defineConfig({
  test: {
    environment: "node",
    maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
    allowOnly: false,
    passWithNoTests: true,
    sequence: { sequencer: StartOrder },
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          setupFiles: sameCases,
          // Files share their modules: loading those again for each file took as long as the tests
          // do. test/meta/unit-tests.test.ts keeps out what one file would leave to the next.
          isolate: false,
          testTimeout: countForTier(60) * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "meta",
          include: ["test/meta/**/*.test.ts"],
          isolate: false,
          testTimeout: 60 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "store",
          isolate: false,
          include: ["test/store/**/*.test.ts"],
          setupFiles: sameCases,
          globalSetup: [realParts, sharedRedis, sharedCluster],
          testTimeout: 300 * seconds,
          hookTimeout: 180 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "http",
          isolate: false,
          include: ["test/http/**/*.test.ts"],
          globalSetup: [realParts, sharedRedis, sharedCluster],
          testTimeout: 180 * seconds,
          hookTimeout: 180 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "operator",
          include: ["test/operator/**/*.test.ts"],
          globalSetup: [realParts, realKubernetes, sharedParts],
          testTimeout: 300 * seconds,
          hookTimeout: 240 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "chart",
          include: ["test/chart/**/*.test.ts"],
          globalSetup: [realKubernetes, sharedParts],
          testTimeout: 120 * seconds,
          hookTimeout: 240 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "image",
          include: ["test/image/**/*.test.ts"],
          globalSetup: images,
          testTimeout: 120 * seconds,
          hookTimeout: 300 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          tags: [{ name: "upgrade", description: "The way to this version from an earlier one, and back" }],
          globalSetup: "./test/e2e/needed-images.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "observability",
          include: ["test/observability/**/*.test.ts"],
          globalSetup: [realParts, realKubernetes, sharedParts],
          testTimeout: 120 * seconds,
          hookTimeout: 240 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "security",
          isolate: false,
          include: ["test/security/**/*.test.ts"],
          setupFiles: sameCases,
          globalSetup: [realParts, sharedRedis],
          testTimeout: 180 * seconds,
          hookTimeout: 180 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: "process",
          include: ["test/process/**/*.test.ts"],
          globalSetup: realParts,
          testTimeout: 300 * seconds,
          hookTimeout: 180 * seconds,
        },
      },
    ],
  },
});
