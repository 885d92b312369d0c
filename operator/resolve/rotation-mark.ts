// The mark beside a key or password in its Secret: for which rotation the value was made, and after which one, sealed together with the
// value. The Secret is written before the record. After an interruption between the two, the mark shows that the new value exists, and
// no second one is made. If the mark or the value was edited, the mark counts as none.

import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { rotationAnnotation } from "../model/secret-names.ts";
import { type Sealing, sameText, sealOf } from "./secret-seal.ts";

export interface RotationMark {
  /** `rotation.id` of the spec that it was made for; absent = the spec had none. */
  readonly id?: string;
  /** What names the credential that it takes the place of: no secret. Absent = it is the first one. */
  readonly after?: string;
}

/** The annotations of a Secret that holds `value`. */
export function markOf(mark: RotationMark, value: string, sealing: Sealing): Readonly<Record<string, string>> {
  return { [rotationAnnotation]: JSON.stringify({ ...mark, seal: sealOfMark(mark, value, sealing) }) };
}

/** The mark of `value`, if the Secret has one that can be trusted. */
export function readMark(secret: Secret | undefined, value: string, sealing: Sealing): RotationMark | undefined {
  const found = parsed(secret?.metadata.annotations?.[rotationAnnotation]);
  if (found === undefined || !sameText(found.seal, sealOfMark(found.mark, value, sealing))) return undefined;
  return found.mark;
}

/** The wanted rotation has been made already, in the place of the credential `after`. */
export function isMarkedFor(mark: RotationMark | undefined, id: string | undefined, after: string): boolean {
  return mark !== undefined && mark.id === id && mark.after === after;
}

/** As `rotation.id` of a spec; absent = there is none. */
export function isRotationId(id: unknown): boolean {
  return id === undefined || (typeof id === "string" && id.length <= maxRotationId);
}

/** Of the CRDs, which their statuses have to keep. */
const maxRotationId = 64;

function sealOfMark({ id, after }: RotationMark, value: string, sealing: Sealing): string {
  return sealOf("rotation", [JSON.stringify([id ?? null, after ?? null]), value], sealing);
}

function parsed(text: string | undefined): { readonly mark: RotationMark; readonly seal: string } | undefined {
  if (text === undefined) return undefined;
  const value = parseOrUndefined(text) as Readonly<Record<string, unknown>> | null | undefined;
  const [id, after, seal] = [value?.["id"], value?.["after"], value?.["seal"]];
  if (typeof seal !== "string") return undefined;
  return { mark: { ...(typeof id === "string" && { id }), ...(typeof after === "string" && { after }) }, seal };
}
