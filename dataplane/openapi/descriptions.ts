// Makes the OpenAPI documents of projects whenever their configuration changes. Caches documents
// for the projects asked for last, and responses for the addresses.

import { setImmediate as otherWork } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { Json } from "../../core/config/types.ts";
import type { ProjectLimiter } from "../admission/fair-share.ts";
import type { LiveProject } from "../config/directory.ts";
import { entityTag } from "../http/conditional-requests.ts";
import { describeProject } from "./describe/describe-project.ts";

interface Description {
  /** JSON text. Shared by all responses. */
  readonly bytes: Uint8Array;
  readonly tag: string;
}

export interface Descriptions {
  /** `base` = the project's URL as the request named it. `limiter` = the project's. */
  of(project: LiveProject, base: string, limiter: Pick<ProjectLimiter, "runFairly">): Promise<Description>;
}

interface Described {
  readonly project: LiveProject;
  /** From the comma before the first member. */
  readonly rest: string;
}

interface Addressed extends Description {
  readonly project: LiveProject;
}

/** Of each cache: characters of `kept`, bytes of `addressed`. */
const maxKeptLength = 32 * 1024 * 1024;
/** Milliseconds of one step; then other requests are served. */
const stepMs = 5;

export function createDescriptions(): Descriptions {
  const kept = new LRUCache<string, Described>({
    maxSize: maxKeptLength,
    sizeCalculation: ({ rest }) => rest.length,
  });
  const addressed = new LRUCache<string, Addressed>({
    maxSize: maxKeptLength,
    sizeCalculation: ({ bytes }) => bytes.length,
  });
  /** However many ask at once, it is made once. */
  const making = new WeakMap<LiveProject, Promise<string>>();

  const restOf = (project: LiveProject): Promise<string> | string => {
    const known = kept.get(keyOfProject(project.config));
    if (known?.project === project) return known.rest;
    let made = making.get(project);
    if (made === undefined) {
      made = make(project).finally(() => making.delete(project));
      making.set(project, made);
    }
    return made;
  };

  const make = async (project: LiveProject): Promise<string> => {
    const rest = `,${(await inSteps(textOf(project))).slice(1)}`;
    kept.set(keyOfProject(project.config), { project, rest });
    return rest;
  };

  return {
    async of(project, base, limiter) {
      const key = `${keyOfProject(project.config)} ${base}`;
      const find = (): Description | undefined => {
        const known = addressed.get(key);
        return known?.project === project ? known : undefined;
      };
      const known = find();
      if (known !== undefined) return known;
      const rest = await restOf(project);
      return await limiter.runFairly(() => {
        // Another request may have made it during the wait.
        const other = find();
        if (other !== undefined) return other;
        const text = `{"openapi":"3.1.0","servers":${JSON.stringify([{ url: base }])}${rest}`;
        const made = { project, bytes: Buffer.from(text), tag: entityTag(text) };
        addressed.set(key, made);
        return made;
      });
    },
  };
}

function* textOf(project: LiveProject): Generator<void, string> {
  return yield* jsonInSteps(yield* describeProject(project), stringifiedDepth);
}

/** Paths, and components of each section, are small enough to be written at once. */
const stringifiedDepth = 3;

function* jsonInSteps(value: Json, depth: number): Generator<void, string> {
  if (depth === 0 || typeof value !== "object" || value === null || Array.isArray(value)) {
    yield;
    return JSON.stringify(value);
  }
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    members.push(`${JSON.stringify(name)}:${yield* jsonInSteps(member, depth - 1)}`);
  }
  return `{${members.join(",")}}`;
}

async function inSteps<T>(steps: Generator<void, T>): Promise<T> {
  let until = performance.now() + stepMs;
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() < until) continue;
    await otherWork();
    until = performance.now() + stepMs;
  }
}
