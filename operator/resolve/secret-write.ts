// What the resolve stage wants written, before anything that depends on it is published: whole Secrets, in order.

import type { Secret } from "../../core/manifests/object.ts";
import type { CustomResource } from "../objects.ts";
import { ownLabels } from "../secret-names.ts";

export interface SecretWrite {
  /** `create` must fail where a Secret of that name exists; `replace` must fail where it has changed since it was read. */
  readonly mode: "create" | "replace";
  readonly namespace: string;
  readonly name: string;
  readonly type: "Opaque" | "kubernetes.io/basic-auth";
  readonly labels: Readonly<Record<string, string>>;
  readonly entries: Readonly<Record<string, string>>;
}

export interface SecretContent {
  readonly name: string;
  readonly type?: SecretWrite["type"];
  readonly entries: Readonly<Record<string, string>>;
}

/** A write of a Secret of `owner`; `found` is the one that is there now. */
export function writeOf(owner: CustomResource, found: Secret | undefined, content: SecretContent): SecretWrite {
  return {
    mode: found === undefined ? "create" : "replace",
    namespace: owner.metadata.namespace,
    name: content.name,
    type: content.type ?? "Opaque",
    labels: ownLabels(owner),
    entries: content.entries,
  };
}

/** The text of an entry, or undefined when it is absent or empty. */
export function entryText(secret: Secret | undefined, entry: string): string | undefined {
  const bytes = secret?.data.get(entry);
  return bytes === undefined || bytes.length === 0 ? undefined : Buffer.from(bytes).toString("utf8");
}
