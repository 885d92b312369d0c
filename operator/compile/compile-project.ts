// Turns one Project with its children into the configuration that the data plane serves, and says of every object whether
// it is accepted. Pure: what is read elsewhere (Secrets, hosts, the published version) comes in, nothing goes out.

import type { ProjectConfig, ProjectParts, ProjectRef } from "../../core/config/types.ts";
import { type Credentials, type Resolved, unresolved } from "../model/credentials.ts";
import { resourceNameOf, rootKeyOf, usernameOf } from "../model/kinds.ts";
import type { Child, Project } from "../model/objects.ts";
import { childrenOf, isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import { type Refusal, type Result, refuse, type Verdict } from "../model/verdict.ts";
import { checkProject, foreignDataRefusal, lastGoodProject, type ProjectContext } from "./check-project.ts";
import { compileChildren, refused, subjectOf } from "./compile-children.ts";
import { compileKey } from "./compile-key.ts";
import { compileResource } from "./compile-resource.ts";
import { compileRootKey } from "./compile-root-key.ts";
import { compileUser } from "./compile-user.ts";
import { servedSources } from "./declared-issuers.ts";
import { keepSuspended, servedUids } from "./keep-suspended.ts";
import { stillAllowed, withNewestKeys } from "./kept-issuers.ts";
import type { CheckResource } from "./resource-check.ts";

/**
 * `signing` and `credentials` come from the resolve stage, `hosts` from grantFor, keys in `issuers` from whoever fetches them. `published` is what is
 * published now: incumbents and last good versions come from it.
 */
export interface CompileInput extends ProjectObjects, ProjectContext {
  readonly credentials: Credentials;
  readonly checkResource: CheckResource;
  /** `resource:<name>` and `rootkey:<name>` whose former data are still to be deleted: nothing may write there. */
  readonly openPurges?: ReadonlySet<string>;
}

export interface CompileResult {
  /** Absent = nothing of this project may be served. */
  readonly parts?: ProjectParts;
  /** The Project's first, then its children's by kind and name. */
  readonly verdicts: readonly Verdict[];
  /** The keys of some issuers are being fetched for the first time: the verdict of the Project is about to be another one. */
  readonly awaitsIssuers?: true;
}

export function compileProject(input: CompileInput): CompileResult {
  const { project } = input;
  if (project === undefined) return withoutProject(input, missingProject(input.ref));
  if (isDeleting(project)) return deletingProject(input, project);
  if (input.foreignData === true) return foreignData(input, project);
  if (project.spec.suspend) return suspendedProject(input, project);

  const { live, verdict, ...pending } = checkProject(project, input);
  if (live === undefined)
    return { verdicts: [verdict, ...withoutProject(input, unacceptedProject(input.ref)).verdicts] };
  const children = compileAllChildren(input, live.project);
  return { parts: { ...live, ...children.parts }, verdicts: [verdict, ...children.verdicts], ...pending };
}

const noUids: ReadonlySet<string> = new Set();

interface CompiledProjectChildren {
  readonly parts: Pick<ProjectParts, "resources" | "rootKeys" | "users" | "keys">;
  readonly verdicts: readonly Verdict[];
}

function compileAllChildren(input: CompileInput, config: ProjectConfig): CompiledProjectChildren {
  const { published, credentials, checkResource, openPurges = noUids, notAllowed } = input;
  const resources = compileChildren(input.resources, {
    nameOf: resourceNameOf,
    nameField: "resourceName",
    isBeingPurged: (name) => openPurges.has(`resource:${name}`),
    notAllowed,
    compile: (resource) => single(compileResource(resource, checkResource)),
    keyOf: (resource) => resource.name,
    published: published?.resources ?? new Map(),
  });
  const rootKeys = compileChildren(input.rootKeys, {
    nameOf: rootKeyOf,
    nameField: "key",
    isBeingPurged: (name) => openPurges.has(`rootkey:${name}`),
    notAllowed,
    compile: (rootKey) => single(compileRootKey(rootKey, config.limits)),
    keyOf: (rootKey) => rootKey.key,
    published: published?.rootKeys ?? new Map(),
  });
  const users = compileChildren(input.users, {
    nameOf: usernameOf,
    nameField: "username",
    compile: (user, lastGood) => compileUser(user, credentialOf(user, credentials.users, notAllowed), lastGood),
    keyOf: (user) => user.username,
    published: published?.users ?? new Map(),
  });
  const keys = compileChildren(input.keys, {
    nameOf: (key) => key.metadata.name,
    nameField: "name",
    compile: (key, lastGood) => compileKey(key, credentialOf(key, credentials.keys, notAllowed), lastGood),
    keyOf: (key) => key.sha256,
    published: published?.keys ?? new Map(),
  });
  return {
    parts: { resources: resources.entries, rootKeys: rootKeys.entries, users: users.entries, keys: keys.entries },
    verdicts: [...resources.verdicts, ...rootKeys.verdicts, ...users.verdicts, ...keys.verdicts],
  };
}

/** What worked of a user or key that is not allowed any more goes on working, with the rights that its spec says now. */
function credentialOf<T>(
  { kind, metadata }: Child,
  resolved: ReadonlyMap<string, Resolved<T>>,
  notAllowed: CompileInput["notAllowed"],
): Resolved<T> {
  const refusal = notAllowed?.get(metadata.uid);
  return refusal === undefined ? (resolved.get(metadata.name) ?? unresolved(kind)) : { ok: false, refusal };
}

function single<C>(result: Result<C>): Result<readonly C[]> {
  return result.ok ? { ...result, value: [result.value] } : result;
}

function missingProject(ref: ProjectRef): Refusal {
  const message = `Namespace "${ref.namespace}" has no Project "${ref.name}"; create it, or recreate this object with another projectRef`;
  return refuse("ProjectNotFound", message, "/spec/projectRef/name").refusal;
}

function unacceptedProject(ref: ProjectRef): Refusal {
  return refuse("ProjectNotFound", `Project "${ref.name}" is not accepted yet; see its own status`).refusal;
}

function withoutProject(objects: ProjectObjects, refusal: Refusal): CompileResult {
  return { verdicts: refuseChildren(objects, refusal, noUids) };
}

function refuseChildren(objects: ProjectObjects, refusal: Refusal, live: ReadonlySet<string>): readonly Verdict[] {
  return childrenOf(objects).map((child) => refused(subjectOf(child), refusal, live.has(child.metadata.uid)));
}

function deletingProject(input: ProjectObjects, project: Project): CompileResult {
  const { refusal } = refuse("Deleting", "The Project is being deleted and is no longer served");
  const children = withoutProject(input, missingProject(input.ref));
  return { verdicts: [refused(subjectOf(project), refusal, false), ...children.verdicts] };
}

function foreignData(input: ProjectObjects, project: Project): CompileResult {
  const children = withoutProject(input, unacceptedProject(input.ref));
  return {
    verdicts: [
      refused(subjectOf(project), foreignDataRefusal(project, input.mayAdopt === true), false),
      ...children.verdicts,
    ],
  };
}

function suspendedProject(input: CompileInput, project: Project): CompileResult {
  const { refusal } = refuse("Suspended", "The Project is suspended: changes wait until spec.suspend is false");
  const config = lastGoodProject(project, input);
  const subject = subjectOf(project);
  if (input.published === undefined || config === undefined) {
    return { verdicts: [refused(subject, refusal, false), ...refuseChildren(input, refusal, noUids)] };
  }
  const { isAllowed } = input.issuers;
  const kept = stillAllowed(input.published.issuers, isAllowed);
  const issuers = withNewestKeys(kept, servedSources(project, kept, isAllowed), input.issuers);
  const parts = keepSuspended(input, input.published, { project: config, issuers });
  return { parts, verdicts: [refused(subject, refusal, true), ...refuseChildren(input, refusal, servedUids(parts))] };
}
