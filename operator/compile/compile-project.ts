// Turns one Project with its children into the configuration that the data plane serves, and says
// of every object whether it is accepted. Pure: what is read elsewhere (Secrets, hosts, the
// published version) comes in, nothing goes out.

import type { CompiledProject, ProjectRef, ProjectSettings } from "../../core/config/types.ts";
import { type Credentials, type Resolved, unresolved } from "../model/credentials.ts";
import { resourceNameOf, rootKeyOf, usernameOf } from "../model/kinds.ts";
import type { Child, Project } from "../model/objects.ts";
import { childrenOf, isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import type { Reason } from "../model/reasons.ts";
import { type Refusal, refuse, type Verdict } from "../model/verdict.ts";
import { checkProject, foreignDataRefusal, lastGoodProject, type ProjectContext } from "./check-project.ts";
import { compileKey, compileResource, compileRootKey, compileUser, type ResourceContext } from "./child-configs.ts";
import { compileChildren, refused, subjectOf } from "./compile-children.ts";
import { suspendedIssuers } from "./issuers.ts";
import type { CheckResource } from "./resource-check.ts";

/**
 * `signing` and `credentials` come from the resolve stage, `hosts` from grantFor, keys in `issuers`
 * from whoever fetches them. `published` is what is published now: incumbents and last good
 * versions come from it.
 */
export interface CompileInput extends ProjectObjects, ProjectContext {
  readonly credentials: Credentials;
  readonly checkResource: CheckResource;
  readonly heldSchemas?: ResourceContext["heldSchemas"];
  /**
   * `resource:<name>` and `rootkey:<name>` whose former data are still to be deleted: nothing may
   * write there.
   */
  readonly openPurges?: ReadonlySet<string>;
}

export interface CompileResult {
  /** Absent = nothing of this project may be served. */
  readonly config?: CompiledProject;
  /** The Project's first, then its children's by kind and name. */
  readonly verdicts: readonly Verdict[];
}

export function compileProject(input: CompileInput): CompileResult {
  const { project } = input;
  if (project === undefined) return withoutProject(input, missingProject(input.ref));
  if (isDeleting(project)) return deletingProject(input, project);
  if (input.foreignData === true) return foreignData(input, project);
  if (project.spec.suspend) return suspendedProject(input, project);

  const { live, verdict } = checkProject(project, input);
  if (live === undefined) {
    const reason = verdict.accepted ? undefined : verdict.reason;
    return { verdicts: [verdict, ...withoutProject(input, unacceptedProject(input.ref, reason)).verdicts] };
  }
  const children = compileAllChildren(input, live.project);
  return { config: { ...live, ...children.config }, verdicts: [verdict, ...children.verdicts] };
}

const noUids: ReadonlySet<string> = new Set();

interface CompiledChildren {
  readonly config: Pick<CompiledProject, "resources" | "rootKeys" | "users" | "keys">;
  readonly verdicts: readonly Verdict[];
}

function compileAllChildren(input: CompileInput, settings: ProjectSettings): CompiledChildren {
  const { published, credentials, openPurges = noUids, notAllowed } = input;
  const resources = compileChildren(input.resources, {
    nameOf: resourceNameOf,
    nameField: "resourceName",
    isBeingPurged: (name) => openPurges.has(`resource:${name}`),
    notAllowed,
    compile: (resource, lastGood) => compileResource(resource, input, lastGood),
    keyOf: (resource) => resource.name,
    published: published?.resources ?? new Map(),
  });
  const rootKeys = compileChildren(input.rootKeys, {
    nameOf: rootKeyOf,
    nameField: "key",
    isBeingPurged: (name) => openPurges.has(`rootkey:${name}`),
    notAllowed,
    compile: (rootKey) => compileRootKey(rootKey, settings.limits.maxDocumentBytes),
    keyOf: (rootKey) => rootKey.key,
    published: published?.rootKeys ?? new Map(),
  });
  const users = compileChildren(input.users, {
    nameOf: usernameOf,
    nameField: "username",
    compile: (user, lastGood) => compileUser(user, credentialOf(user, credentials.users), lastGood),
    keyOf: (user) => user.username,
    published: published?.users ?? new Map(),
  });
  const keys = compileChildren(input.keys, {
    nameOf: (key) => key.metadata.name,
    nameField: "name",
    compile: (key, lastGood) => compileKey(key, credentialOf(key, credentials.keys), lastGood),
    keyOf: (key) => key.sha256,
    published: published?.keys ?? new Map(),
  });
  return {
    config: { resources: resources.entries, rootKeys: rootKeys.entries, users: users.entries, keys: keys.entries },
    verdicts: [...resources.verdicts, ...rootKeys.verdicts, ...users.verdicts, ...keys.verdicts],
  };
}

function credentialOf<T>({ kind, metadata }: Child, resolved: ReadonlyMap<string, Resolved<T>>): Resolved<T> {
  return resolved.get(metadata.name) ?? unresolved(kind);
}

function missingProject(ref: ProjectRef): Refusal {
  const message = `Namespace "${ref.namespace}" has no Project "${ref.name}"; create it, or recreate this object with another projectRef`;
  return refuse("ProjectNotFound", message, "/spec/projectRef/name").refusal;
}

function unacceptedProject(ref: ProjectRef, reason: Reason | undefined): Refusal {
  const why = reason === undefined ? "" : ` (${reason})`;
  return refuse("ProjectNotFound", `Project "${ref.name}" is not accepted yet${why}; see its own status`).refusal;
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
  const refusal = foreignDataRefusal(project, input.mayAdopt === true);
  const children = withoutProject(input, unacceptedProject(input.ref, refusal.reason));
  return { verdicts: [refused(subjectOf(project), refusal, false), ...children.verdicts] };
}

/**
 * What was published before, whatever was applied since. A deleted object is withdrawn: a deleted
 * login must end at once.
 */
function suspendedProject(input: CompileInput, project: Project): CompileResult {
  const { refusal } = refuse("Suspended", "The Project is suspended: changes wait until spec.suspend is false");
  const { published } = input;
  const settings = lastGoodProject(project, input);
  const subject = subjectOf(project);
  if (published === undefined || settings === undefined) {
    return { verdicts: [refused(subject, refusal, false), ...refuseChildren(input, refusal, noUids)] };
  }
  const present = childrenOf(input).filter((child) => !isDeleting(child));
  const uids = new Set(present.map(({ metadata }) => metadata.uid));
  const stay = <C extends { readonly uid: string }>(configs: ReadonlyMap<string, C>): ReadonlyMap<string, C> =>
    new Map([...configs].filter(([, { uid }]) => uids.has(uid)));
  const children = {
    resources: stay(published.resources),
    rootKeys: stay(published.rootKeys),
    users: stay(published.users),
    keys: stay(published.keys),
  };
  const issuers = suspendedIssuers(project, published.issuers, input.issuers);
  const served = Object.values(children).flatMap((configs: ReadonlyMap<string, { readonly uid: string }>) =>
    Array.from(configs.values(), ({ uid }) => uid),
  );
  return {
    config: { project: settings, issuers, signing: published.signing, ...children },
    verdicts: [refused(subject, refusal, true), ...refuseChildren(input, refusal, new Set(served))],
  };
}
