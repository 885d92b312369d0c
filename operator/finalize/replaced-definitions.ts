// Knows under which CustomResourceDefinition the objects of each kind were published, across restarts: it stands on the Secret of the
// fleet's key ring. Where another definition stands now, what is published and has no object went with the former one, and is held;
// stored data go to the objects that have the names now.

import type { ProjectParts, ProjectRef } from "../../core/config/types.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { isKind, type Kind, kinds } from "../../core/manifests/object.ts";
import { resourceNameOf, rootKeyOf, usernameOf } from "../model/claimed-name.ts";
import { type DataEntry, type DataRecord, kindOf } from "../model/data-record.ts";
import type { CustomResource } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { HeldKind } from "../watch/held-deletions.ts";

/** On the Secret of the fleet's key ring: JSON, UIDs by kind. */
export const definitionsAnnotation = "jsonplane.io/definitions";

export interface ReplacedDefinitions {
  /** Reads what is remembered; to be called before anything is published. */
  begin(): Promise<void>;
  isReplaced(kind: Kind): boolean;
  /** Whether the Project lacks an object that went with a former definition. `deleted` = UIDs whose deletion was seen. */
  lacks(objects: ProjectObjects, parts: ProjectParts | undefined, deleted: ReadonlySet<string>): boolean;
  /** As of the last look. */
  held(): readonly HeldKind[];
  /** Takes what went with this definition of the kind for deleted. */
  release(kind: Kind, definition: string): Promise<void>;
  /** Looks what is held, and remembers the present definitions of kinds of which nothing is. To be called every few seconds. */
  look(): Promise<void>;
}

export interface ReplacedDefinitionsDeps {
  /** UID of the definition that stands, as of the last look at it. */
  readonly currentDefinition: (kind: Kind) => string | undefined;
  /** Definitions with which objects went whose deletion this process has seen, and which are held; the first to go comes first. */
  readonly holding: (kind: Kind) => readonly string[];
  /** Take over what another installation, or an earlier cluster, left. */
  readonly adopt: boolean;
  readonly remembered: () => Promise<string | undefined>;
  /** False when the Secret was written meanwhile: the next check tries again. */
  readonly remember: (text: string) => Promise<boolean>;
  readonly publisher: () => Promise<Pick<Publisher, "published" | "load">>;
  readonly objectsOf: (ref: ProjectRef) => ProjectObjects;
}

export function createReplacedDefinitions(deps: ReplacedDefinitionsDeps): ReplacedDefinitions {
  const { currentDefinition, holding, adopt, remembered, remember, publisher, objectsOf } = deps;
  let known: ReadonlyMap<Kind, string> = new Map();
  /** What the Secret says: the next process holds by it what this one holds by what it has seen. */
  let noted: ReadonlyMap<Kind, string> = new Map();
  let held: readonly HeldKind[] = [];

  const isReplaced = (kind: Kind): boolean => {
    const [was, is] = [known.get(kind), currentDefinition(kind)];
    return was !== undefined && is !== undefined && was !== is;
  };
  const replaced = (): readonly Kind[] => kinds.filter(isReplaced);

  const presentOf = (sought: readonly Kind[]) =>
    sought.flatMap((kind) => {
      const uid = currentDefinition(kind);
      return uid === undefined ? [] : [[kind, uid] as const];
    });
  const note = async (changes: readonly (readonly [Kind, string])[]): Promise<boolean> => {
    const next = new Map([...noted, ...changes]);
    if (!(await remember(JSON.stringify(Object.fromEntries(next))))) return false;
    noted = next;
    return true;
  };
  const learn = async (learned: readonly Kind[]): Promise<void> => {
    const found = presentOf(learned).filter(([kind, uid]) => uid !== noted.get(kind) || uid !== known.get(kind));
    if (found.length > 0 && (await note(found))) known = new Map([...known, ...found]);
  };

  /** What this process holds the next one holds under the same name. */
  const noteHeld = async (sought: readonly Kind[]): Promise<void> => {
    const found = sought.flatMap((kind) => {
      const [first, ...others] = holding(kind);
      const isNoted = [first, ...others].includes(noted.get(kind));
      return first === undefined || isNoted ? [] : [[kind, first] as const];
    });
    if (found.length > 0) await note(found);
  };

  const publishedProjects = async (): Promise<readonly Found[]> => {
    const config = await publisher();
    const refs = (await config.published()).map(({ namespace, name }) => ({ namespace, name }));
    return await Promise.all(
      refs.map(async (ref) => ({ objects: objectsOf(ref), parts: (await config.load(ref)).parts })),
    );
  };

  return {
    async begin() {
      noted = definitionsIn(await remembered());
      known = noted;
      // A person says that what is here now is what there is, as after a restore into another cluster.
      if (adopt) await learn(kinds);
    },
    isReplaced,
    lacks: (objects, parts, deleted) =>
      replaced().some((kind) => absentOf(kind, objects, parts).some((uid) => !deleted.has(uid))),
    held: () => held,
    async release(kind, definition) {
      const [other] = holding(kind);
      if (other !== undefined && noted.get(kind) === definition && !(await note([[kind, other]]))) return;
      if (known.get(kind) !== definition) return;
      if (other === undefined) await learn([kind]);
      else known = new Map([...known, ...presentOf([kind])]);
      held = held.filter((each) => each.kind !== kind);
    },
    async look() {
      const sought = replaced();
      const found = sought.length === 0 ? [] : await publishedProjects();
      held = sought.flatMap((kind) => heldOf(kind, known.get(kind) ?? "", found));
      const orphaned = new Set(sought.filter((kind) => found.some((each) => hasOrphans(kind, each))));
      const decided = kinds.filter((kind) => !orphaned.has(kind));
      await learn(decided.filter((kind) => holding(kind).length === 0));
      await noteHeld(decided);
    },
  };
}

/** A Project that is published. */
interface Found {
  readonly objects: ProjectObjects;
  readonly parts: ProjectParts | undefined;
}

function heldOf(kind: Kind, definition: string, found: readonly Found[]): readonly HeldKind[] {
  const projects = found.flatMap(({ objects, parts }) => absentOf(kind, objects, parts).map(() => objects.ref));
  return projects.length === 0 ? [] : [{ kind, definition, projects }];
}

/** Something that is published is not of an object that there is now. */
function hasOrphans(kind: Kind, { objects, parts }: Found): boolean {
  if (parts === undefined) return false;
  const [published, present] = {
    Project: [[parts.project], [objects.project]] as const,
    ApiResource: [parts.resources.values(), objects.resources] as const,
    RootKey: [parts.rootKeys.values(), objects.rootKeys] as const,
    ProjectUser: [parts.users.values(), objects.users] as const,
    ApiKey: [parts.keys.values(), objects.keys] as const,
  }[kind];
  const uids = new Set(present.map((object) => object?.metadata.uid));
  return [...published].some(({ uid }) => !uids.has(uid));
}

/** UIDs of what is published of a kind and has no object, not even another one that takes its place. */
function absentOf(kind: Kind, objects: ProjectObjects, parts: ProjectParts | undefined): readonly string[] {
  if (parts === undefined) return [];
  const { project, resources, rootKeys, users, keys } = objects;
  switch (kind) {
    case "Project":
      return project === undefined ? [parts.project.uid] : [];
    case "ApiResource":
      return without(parts.resources, ({ name }) => name, resources.map(resourceNameOf));
    case "RootKey":
      return without(parts.rootKeys, ({ key }) => key, rootKeys.map(rootKeyOf));
    case "ProjectUser":
      return without(parts.users, ({ username }) => username, users.map(usernameOf));
    case "ApiKey":
      return without(
        parts.keys,
        ({ name }) => name,
        keys.map(({ metadata }) => metadata.name),
      );
  }
}

function without<P extends { readonly uid: string }>(
  served: ReadonlyMap<string, P>,
  nameOf: (part: P) => string,
  declared: readonly string[],
): readonly string[] {
  const names = new Set(declared);
  return [...served.values()].filter((part) => !names.has(nameOf(part))).map(({ uid }) => uid);
}

/** An annotation that was overwritten with something else counts as none. */
function definitionsIn(text: string | undefined): ReadonlyMap<Kind, string> {
  const entries = Object.entries((parseOrUndefined(text ?? "{}") ?? {}) as Readonly<Record<string, unknown>>);
  return new Map(entries.flatMap(([kind, uid]) => (isKind(kind) && typeof uid === "string" ? [[kind, uid]] : [])));
}

interface Succession {
  readonly objects: ProjectObjects;
  /** Objects whose DELETED event came, as they were last seen. */
  readonly deleted: readonly CustomResource[];
  /** Missing objects of this kind were deleted with a former definition, unless they are among `deleted`. */
  readonly isReplaced: (kind: Kind) => boolean;
}

export function withSuccessors(record: DataRecord, succession: Succession): DataRecord {
  const { objects, deleted, isReplaced } = succession;
  const { project } = objects;
  const isDeleted = (uid: string): boolean => deleted.some(({ metadata }) => metadata.uid === uid);
  const isSucceeded = project !== undefined && isReplaced("Project") && !isDeleted(record.projectUid);
  const entries = record.entries.map((entry): DataEntry => {
    if (entry.purgeFromRevision !== undefined || !isReplaced(kindOf(entry)) || isDeleted(entry.uid)) return entry;
    const uids = uidsOf(entry, objects);
    const [successor] = uids;
    // Without one nobody has decided over the data, and they stay.
    if (successor === undefined) return { ...entry, retained: true };
    if (uids.includes(entry.uid)) return entry;
    // It takes up what its predecessor stored.
    const { beganEmpty: _, ...taken } = entry;
    return { ...taken, uid: successor };
  });
  return { ...record, ...(isSucceeded && { projectUid: project.metadata.uid }), entries };
}

/** UIDs of the objects that claim its name. */
function uidsOf({ what, name }: DataEntry, { resources, rootKeys }: ProjectObjects): readonly string[] {
  const claimants =
    what === "resource"
      ? resources.filter((each) => resourceNameOf(each) === name)
      : rootKeys.filter((each) => rootKeyOf(each) === name);
  return claimants.map(({ metadata }) => metadata.uid);
}
