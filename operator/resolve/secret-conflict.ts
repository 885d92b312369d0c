// Why a Secret that has a name of ours can't be used for an object: something else made it, or another installation of jsonplane.

import type { Installation } from "../model/installation.ts";
import type { CustomResource } from "../model/objects.ts";
import { isOwn, kindLabel, nameLabel } from "../model/secret-names.ts";
import type { FoundSecret } from "./resolution.ts";

/** Undefined = it can be used. */
export function secretConflict(secret: FoundSecret, owner: CustomResource): string | undefined {
  const { kind } = owner;
  const { name } = secret.metadata;
  if (!isOwn(secret, owner)) {
    const { [kindLabel]: otherKind, [nameLabel]: otherName } = secret.metadata.labels ?? {};
    const other = otherKind === undefined ? "" : `, but for ${otherKind} "${otherName}"`;
    const remedy =
      kind === "ApiKey" ? "delete it or choose another spec.secretName" : `delete it, or rename the ${kind}`;
    return `Secret "${name}" was not made for this ${kind}${other}; ${remedy}`;
  }
  return secret.heldBy === undefined ? undefined : heldElsewhere(name, secret.heldBy);
}

/** For a Secret that another installation keeps, or has to recreate. */
export function heldElsewhere(name: string, { namespace }: Installation): string {
  return `Secret "${name}" belongs to the installation of jsonplane in namespace "${namespace}"; give one of the two a class (--class-name), or take over from it with --adopt-data`;
}
