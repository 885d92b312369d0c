// Decides what a Secret that has the name of an object's own may be used for, by who made it:
//
//   nobody: there is none                     nothing is known
//   this installation, for this object        used as it is
//   whoever, and a restore is asked for       used as it is; its credential may be that of an earlier object
//   this installation, for an earlier object  nothing of it is used, and it is written over
//   nobody knows, and it names this UID without a valid seal
//                                             where the object is served: used as far as it equals what is published
//   anything else                             refused with SecretConflict

import type { Secret } from "../../core/manifests/object.ts";
import type { CustomResource } from "../model/objects.ts";
import { adoptAnnotation } from "../model/project-objects.ts";
import { hasLabelsOf, kindLabel, nameLabel, ownerAnnotation } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import { type CredentialEvent, credentialEvent } from "./credential-event.ts";
import type { ResolveTools } from "./resolution.ts";
import { isOfFormerOwner, readSeal, type Sealing } from "./secret-seal.ts";
import type { SecretWrite } from "./secret-write.ts";

/** `own`: made here for this object, or nothing is used of what is there. */
export type Origin = "own" | "restored" | "unproved";

export interface UsableSecret {
  /** What a write replaces; undefined = there is none. */
  readonly found: Secret | undefined;
  /** What is read of it; undefined = nothing. */
  readonly content: Secret | undefined;
  readonly origin: Origin;
  /** False: it has to be written for its marks alone. */
  readonly isMarked: boolean;
}

export function sealingOf(owner: CustomResource, { sealKey }: Pick<ResolveTools, "sealKey">): Sealing {
  return { key: sealKey, owner };
}

export interface UseContext {
  readonly sealing: Sealing;
  readonly tools: Pick<ResolveTools, "findSecret" | "restore">;
  /** Whether a credential of this very object is published. */
  readonly isPublished: boolean;
}

export function usableSecret(name: string, { sealing, tools, isPublished }: UseContext): Result<UsableSecret> {
  const { owner } = sealing;
  const found = tools.findSecret(name);
  if (found === undefined) return usable({ found, content: undefined, origin: "own", isMarked: true });
  const conflict = foreignConflict(found, owner);
  if (conflict !== undefined) return refuse("SecretConflict", conflict);
  const { isValid, isMarked } = readSeal(found, sealing);
  if (isValid) return usable({ found, content: found, origin: "own", isMarked });
  // An annotation that was left behind changes nothing of what is served.
  if (tools.restore === "all" || (tools.restore === "asked" && !isPublished))
    return usable({ found, content: found, origin: "restored", isMarked: false });
  if (isOfFormerOwner(found, sealing)) return usable({ found, content: undefined, origin: "own", isMarked: false });
  const saysOwn = found.metadata.annotations?.[ownerAnnotation] === owner.metadata.uid;
  if (!saysOwn || !isPublished) return refuse("SecretConflict", notProved(name, owner, { ...tools, isPublished }));
  return usable({ found, content: found, origin: "unproved", isMarked: false });
}

function usable(value: UsableSecret): Result<UsableSecret> {
  return { ok: true, value };
}

/** What is told of Secrets that are written again with the credential that is in use. */
export function rewritten(
  object: CustomResource,
  writes: readonly SecretWrite[],
  origins: readonly Origin[],
): readonly CredentialEvent[] {
  if (writes.length === 0) return [];
  const names = writes.map(({ name }) => `"${name}"`).join(", ");
  return origins.includes("restored")
    ? [credentialEvent(object, "CredentialRestored", `Took over what was found in Secret ${names}`)]
    : [credentialEvent(object, "SecretRepaired", `Wrote Secret ${names} again, with the credential in use`)];
}

export function notProved(
  name: string,
  { kind }: CustomResource,
  { restore, isPublished }: Pick<ResolveTools, "restore"> & Pick<UseContext, "isPublished">,
): string {
  const what = `Nothing proves that this installation of jsonplane made Secret "${name}" for this ${kind}`;
  if (isPublished) {
    const remedy =
      kind === "Project" ? "it is written again" : "for a new key or password change spec.rotation.id, too";
    return `${what}, which goes on with what is served; delete the Secret, and ${remedy}`;
  }
  const advice =
    restore === "allowed"
      ? `to use what it holds, set the annotation ${adoptAnnotation}: "true" on the Project`
      : "to use what it holds, ask the platform, whose guard rail adoptData forbids it here, or which can start the operator with --adopt-data";
  return `${what}; delete the Secret, and a new one is made; ${advice}`;
}

function foreignConflict(secret: Secret, owner: CustomResource): string | undefined {
  if (hasLabelsOf(owner, secret)) return undefined;
  const { kind } = owner;
  const { name } = secret.metadata;
  const { [kindLabel]: otherKind, [nameLabel]: otherName } = secret.metadata.labels ?? {};
  const other = otherKind === undefined ? "" : `, but for ${otherKind} "${otherName}"`;
  const remedy = kind === "ApiKey" ? "delete it or choose another spec.secretName" : `delete it, or rename the ${kind}`;
  return `Secret "${name}" was not made for this ${kind}${other}; ${remedy}`;
}
