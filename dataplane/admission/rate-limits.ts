// Limits a project and each of its callers to the rates that the Project names, over all replicas.
// Refuses with 429 `rate_limited`. Every response has RateLimit headers
// (draft-ietf-httpapi-ratelimit-headers-10).

import type { Clock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRates, ProjectRef, ProjectSettings, Rate } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import { type Caller, ownerOf } from "../authenticate/caller.ts";
import type { TokenBuckets } from "../store/ports/limits.ts";
import { addressGroup } from "./client-address.ts";
import { type BucketPolicy, type LocalBuckets, SharedBucket } from "./shared-bucket.ts";

export interface RateLimits {
  /** The buckets that a request takes from, the caller's first. */
  of(project: ProjectRef, rates: ProjectRates, requester: Requester): readonly SharedBucket[];
  /** Takes from each bucket or from none. Throws `rate_limited`, or what the store raises. */
  take(project: ProjectRef, buckets: readonly SharedBucket[]): Promise<void>;
}

interface Requester {
  readonly caller: Caller;
  /** The client's address, trusted proxies resolved. Reading it costs time, so it is a function. */
  readonly address: () => string;
}

export type ObserveLimited = (project: ProjectRef, limit: BucketPolicy["name"]) => void;

/** Buckets that a replica remembers. It asks the store about others. */
const maxRemembered = 20_000;

export function createRateLimits(buckets: TokenBuckets, clock: Clock, observe: ObserveLimited): RateLimits {
  const known = recentlyUsed<SharedBucket>(maxRemembered);

  const bucketOf = (limit: BucketPolicy["name"], name: string, { requestsPerSecond, burst }: Rate): SharedBucket => {
    // The figures are part of the key: a changed rate has a new bucket here. The store keeps its
    // count.
    const key = `${requestsPerSecond} ${burst} ${name}`;
    let bucket = known.get(key);
    if (bucket === undefined) {
      const policy = { name: limit, bucket: { name, perSecond: requestsPerSecond, burst } };
      bucket = new SharedBucket(policy, buckets, clock);
      known.set(key, bucket);
    }
    return bucket;
  };

  return {
    of(project, rates, { caller, address }) {
      const key = keyOfProject(project);
      const who = caller.kind === "anonymous" ? `address:${addressGroup(address())}` : ownerOf(caller);
      return [
        ...(rates.caller ? [bucketOf("caller", `rate-of:${key}:${who}`, rates.caller)] : []),
        ...(rates.project ? [bucketOf("project", `rate:${key}`, rates.project)] : []),
      ];
    },
    async take(project, buckets) {
      const refusal = await takeFromAll(buckets);
      if (refusal === undefined) return;
      observe(project, refusal.bucket.policy.name);
      throw limited(refusal.bucket.policy, refusal.waitMs);
    },
  };
}

interface Refusal {
  readonly bucket: SharedBucket;
  readonly waitMs: number;
}

/** Takes a token from each bucket, or from none if one is empty or the store fails. */
async function takeFromAll(buckets: readonly SharedBucket[]): Promise<Refusal | undefined> {
  const paying: SharedBucket[] = [];
  try {
    for (const bucket of buckets) {
      const taken = bucket.take();
      const waitMs = typeof taken === "number" ? taken : await taken.catch(nothingDone);
      if (waitMs > 0) return { bucket, waitMs };
      paying.push(bucket);
    }
    return undefined;
  } finally {
    if (paying.length < buckets.length) for (const bucket of paying) bucket.refund();
  }
}

/** Whether tokens were drawn or not, the request itself did nothing yet. */
function nothingDone(error: unknown): never {
  if (error instanceof OutcomeUnknown) throw new StoreUnavailable("The rates could not be asked", { cause: error });
  throw error;
}

/** Headers of every answer to a request that was counted. */
export function rateHeaders(buckets: readonly SharedBucket[]): Readonly<Record<string, string>> {
  const policies = buckets.map(({ policy: { name, bucket } }) => `"${name}";q=${bucket.burst};w=${windowOf(bucket)}`);
  const states = buckets.map((each) => {
    const remaining = each.remaining();
    const { name, bucket } = each.policy;
    return `"${name}";r=${remaining};t=${Math.ceil((bucket.burst - remaining) / bucket.perSecond)}`;
  });
  return { "RateLimit-Policy": policies.join(", "), RateLimit: states.join(", ") };
}

/** Seconds in which an empty bucket fills. */
function windowOf({ burst, perSecond }: BucketPolicy["bucket"]): number {
  return Math.ceil(burst / perSecond);
}

function limited({ name, bucket }: BucketPolicy, waitMs: number): Problem {
  const whose = name === "project" ? "This project answers" : "This project answers each caller";
  const detail = `${whose} ${bucket.perSecond} requests a second, and up to ${bucket.burst} at once after a pause`;
  return new Problem("rate_limited", detail, { headers: { "Retry-After": String(Math.ceil(waitMs / 1_000)) } });
}

export interface AnonymousWrites {
  /** Throws Problem `write_throttled`. */
  spend(project: ProjectSettings, address: string): Promise<void>;
}

const windowSeconds = 60;

export function createAnonymousWrites(buckets: Pick<LocalBuckets, "spend">): AnonymousWrites {
  return {
    async spend(project, address) {
      // With authentication Disabled everyone is anonymous, and the platform's own limits apply.
      if (project.authentication === "Disabled") return;
      const limit = project.limits.anonymousWritesPerMinute;
      const name = `writes:${project.namespace}/${project.name}:${addressGroup(address)}`;
      const result = await buckets.spend({ name, limit, windowSeconds });
      if (result.outcome === "exhausted") {
        throw new Problem(
          "write_throttled",
          `Without credentials, an address may write at most ${limit} times a minute`,
          {
            headers: { "Retry-After": String(result.retryAfterSeconds) },
          },
        );
      }
    },
  };
}
