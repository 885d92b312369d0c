// What a leader has open while Redis is there, for tests of its session: a publisher that keeps
// what it gets, and replicas that say what the test wants.

import { createHash, createSecretKey } from "node:crypto";
import { newKeyringText, parseKeyring } from "../../../../core/config/keyring.ts";
import type { CompiledProject } from "../../../../core/config/types.ts";
import type { Acknowledgements } from "../../../../operator/publish/acknowledgements.ts";
import type { PublishedEntry } from "../../../../operator/publish/publish-history.ts";
import type { Publisher } from "../../../../operator/publish/publisher.ts";
import type { LeaderRedis, OpenRedisDeps } from "../../../../operator/runtime/open-redis.ts";

export interface Opened {
  readonly published?: readonly PublishedEntry[];
  /** Keys of Projects that Redis lost steps of. */
  readonly lost?: readonly string[];
  readonly load?: Publisher["load"];
  readonly verify?: Publisher["verify"];
  /** Asked at each beginning; throws what keeps this one from writing. */
  readonly mayBegin?: () => void;
  readonly awaitRollout?: Acknowledgements["awaitRollout"];
  readonly rolloutOf?: Acknowledgements["rolloutOf"];
  /** Which installation writes; one for all by default. */
  readonly installation?: string;
}

export const oldRing = parseKeyring(newKeyringText());

/**
 * `configs` = what was published, by name; `loads` = what was looked at. What is begun, completed,
 * sealed again and closed goes into `events`.
 */
export function openedRedis(events: string[], options: Opened) {
  const { published = [], load = async () => ({ revision: 0 }), verify = async () => "writer" } = options;
  const { awaitRollout = async () => "programmed", rolloutOf = () => "programmed" } = options;
  const configs = new Map<string, CompiledProject>();
  const loads: string[] = [];
  const withdrawn: string[] = [];
  let writes = false;
  let ring = oldRing;
  let revision = 0;
  const next = (): number => {
    revision += 1;
    return revision;
  };
  const publisher: Partial<Publisher> = {
    async begin() {
      options.mayBegin?.();
      events.push("begin");
      writes = true;
    },
    isWriter: () => writes,
    dataLoss: () => undefined,
    hasOtherStore: () => false,
    async verify() {
      const found = await verify();
      if (found === "lost") writes = false;
      return found;
    },
    published: async () => published,
    lostFrom: () => options.lost ?? [],
    dataInventories: () => new Map(),
    restore: async () => undefined,
    lacks: async () => false,
    complete: async () => void events.push("complete"),
    newest: () => revision,
    async load(ref) {
      loads.push(ref.name);
      return await load(ref);
    },
    async publish(each) {
      configs.set(each.project.name, each);
      return { changed: 1, revision: next() };
    },
    async withdraw({ name }) {
      if (configs.delete(name)) withdrawn.push(name);
      return { changed: 0, revision: next() };
    },
    sealedWith: async () => new Set([oldRing.keys[0].kid]),
    async reseal({ name }) {
      events.push(`reseal ${name} with ${ring === oldRing ? "the old key" : "the new key"}`);
      return 1;
    },
  };
  const acknowledgements: Partial<Acknowledgements> = {
    awaitRollout,
    rolloutOf,
    availabilityOf: () => "served",
    liveness: () => "some",
    refusalsOf: () => [],
    buildingOf: () => new Map(),
    building: () => new Map(),
    quotaUsages: () => new Map(),
    quotaStates: () => new Map(),
    wantedKeys: () => [],
    refusedProjects: () => new Set(),
    figures: () => ({ live: 2, refusals: 1 }),
    stop: () => void events.push("stop listening"),
  };
  let acknowledged: () => void = () => undefined;
  return {
    configs,
    loads,
    withdrawn,
    acknowledged: () => acknowledged(),
    async open({ onAcknowledged }: OpenRedisDeps): Promise<LeaderRedis> {
      acknowledged = onAcknowledged;
      const { installation = "one" } = options;
      const config = {
        // Each installation has its own.
        hmacKey: createSecretKey(createHash("sha256").update(installation).digest()),
        store: {
          annotations: () => ({}),
          accepted: async () => undefined,
        },
        publisher,
        acknowledgements,
        redisClient: { disconnect: () => void events.push("disconnect"), read: async () => [] },
        purges: { ordered: async () => [], isOrdered: async () => false, isDone: async () => false },
        keyRing: {
          current: () => ring,
          adopt: (adopted: typeof ring) => {
            ring = adopted;
          },
        },
      };
      return config as unknown as LeaderRedis;
    },
  };
}
