// Turns an object of a seed into one to store: as POST would make it, but with the id and the
// _metadata that the seed gives, if any.

import { randomBytes } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import { membersOf, withoutMembers } from "../../../core/json/members.ts";
import { createObjectIds, isObjectId, type ObjectIds, secondOf } from "../../../dataplane/objects/object-ids.ts";
import { type Metadata, maxCreator } from "../../../dataplane/objects/stored-metadata.ts";
import { type ObjectRules, serviceMembers, validateNew } from "../../../dataplane/objects/validate-object.ts";
import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import { type SeedEntry, SeedFault } from "./read-seed.ts";

export type SeededObjects = (entry: SeedEntry) => NewObject;

const creatorTypes: ReadonlySet<string> = new Set(["user", "apikey", "external", "anonymous"]);
const metadataMembers: ReadonlySet<string> = new Set(["created", "creator", "creator_type"]);
/** The last second that an id can say. */
const maxSeconds = Math.floor((2 ** 48 - 1) / 1_000);

/** Throws SeedFault, which names no file, and a Problem for what POST would refuse. */
export function createSeededObjects(rules: ObjectRules, clock: Clock): SeededObjects {
  const newIds = { now: createObjectIds(clock), at: createIdsOfSeconds(clock) };
  return (entry) => {
    const given = serviceMembersOf(entry);
    const id = idOf(given, newIds);
    const metadata: Metadata = {
      created: secondOf(id),
      creator: given.creator ?? "anonymous",
      creator_type: given.creator_type ?? (given.creator === undefined ? "anonymous" : "user"),
    };
    const body = { ...entry.json, text: withoutMembers(entry.json.text, serviceMembers) };
    return { id, owner: `${metadata.creator_type}:${metadata.creator}`, text: validateNew(rules, body, id, metadata) };
  };
}

interface Given extends Partial<Metadata> {
  readonly id?: string;
}

function serviceMembersOf({ json }: SeedEntry): Given {
  if (json.kind !== "object") throw new SeedFault(`must be an object with the resource's fields, not ${json.kind}`);
  const members = membersOf(json.text).filter(({ name }) => serviceMembers.has(name));
  const values = new Map(
    members.map(({ name, valueStart, valueEnd }) => [
      name,
      JSON.parse(json.text.slice(valueStart, valueEnd)) as unknown,
    ]),
  );
  const id = values.get("id");
  if (id !== undefined && !(typeof id === "string" && isObjectId(id))) {
    throw new SeedFault(
      "/id: must be an id as the service makes them, a UUIDv7 in lower case: leave it out to get one",
    );
  }
  return { ...(id !== undefined && { id }), ...metadataIn(values.get("_metadata")) };
}

function metadataIn(value: unknown): Partial<Metadata> {
  if (value === undefined) return {};
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new SeedFault("/_metadata: must be an object with created, creator and creator_type, or left out");
  }
  const { created, creator, creator_type } = value as Readonly<Record<string, unknown>>;
  requireCreator(creator, creator_type);
  const unknown = Object.keys(value).find((name) => !metadataMembers.has(name));
  if (unknown !== undefined) throw new SeedFault(`/_metadata/${unknown}: is no member of it: leave it out`);
  const isSecond = Number.isInteger(created) && (created as number) >= 0 && (created as number) <= maxSeconds;
  if (created !== undefined && !isSecond)
    throw new SeedFault("/_metadata/created: must be a whole number of Unix seconds");
  if (creator_type !== undefined && !creatorTypes.has(creator_type as string)) {
    throw new SeedFault(`/_metadata/creator_type: must be one of ${[...creatorTypes].join(", ")}`);
  }
  return value as Partial<Metadata>;
}

function requireCreator(creator: unknown, type: unknown): void {
  const max = type === "external" ? maxCreator.ofExternal : maxCreator.ofOthers;
  const isName = typeof creator === "string" && creator !== "" && creator.length <= max;
  if (creator !== undefined && !isName) {
    throw new SeedFault("/_metadata/creator: must be the name of a user or an ApiKey, or <issuer>/<username>");
  }
  if (type === "anonymous" && creator !== undefined && creator !== "anonymous") {
    throw new SeedFault("/_metadata/creator: must be left out with the creator_type anonymous");
  }
  if (type === "external" && !(typeof creator === "string" && /^[^/]+\/./.test(creator))) {
    throw new SeedFault("/_metadata/creator: must be <issuer>/<username> with the creator_type external");
  }
  if ((type === "user" || type === "apikey") && creator === undefined) {
    throw new SeedFault(`/_metadata/creator: must name the creator with the creator_type ${type}`);
  }
}

interface NewIds {
  readonly now: ObjectIds;
  readonly at: (seconds: number) => string;
}

/** Ids sort by creation, and `created` is the second in the id. */
function idOf({ id, created }: Given, newIds: NewIds): string {
  if (id === undefined) return created === undefined ? newIds.now().id : newIds.at(created);
  if (created === undefined || created === secondOf(id)) return id;
  throw new SeedFault(`/_metadata/created: must be ${secondOf(id)}, the second in the id, or be left out`);
}

/** Objects of one second keep the order of the file, up to a thousand of them. */
function createIdsOfSeconds(clock: Clock): NewIds["at"] {
  let second = -1;
  let made = 0;
  return (seconds) => {
    made = seconds === second ? made + 1 : 0;
    second = seconds;
    const milliseconds = seconds * 1_000 + Math.min(made, 999);
    return createObjectIds({ ...clock, now: () => milliseconds }, randomBytesOfOneId)().id;
  };
}

/** In place of a pool for thousands of ids. */
function randomBytesOfOneId(): Buffer {
  return randomBytes(8);
}
