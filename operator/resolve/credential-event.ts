// What happened to credentials, as Events of the object: one for each Secret that was written. A
// note contains no secret.

import type { EventNote } from "../events/event-recorder.ts";
import type { CustomResource } from "../model/objects.ts";
import type { Subject } from "../model/verdict.ts";
import type { AuditEntry, AuditedAction } from "../observe/audit-log.ts";

interface EventEntry {
  readonly type: EventNote["type"];
  readonly action: "Mint" | "Rotate" | "Repair" | "Adopt" | "Restore";
  readonly meaning: string;
  /** In the audit log, where a credential ends, is replaced or comes back. */
  readonly audited?: AuditedAction;
}

export const credentialEventCatalogue = {
  CredentialMinted: { type: "Normal", action: "Mint", meaning: "A first key or password was created" },
  CredentialRotated: {
    type: "Normal",
    action: "Rotate",
    meaning: "spec.rotation.id changed, or the Secret was deleted or edited: a new key or password was created",
    audited: "credential_rotated",
  },
  PasswordAdopted: {
    type: "Normal",
    action: "Adopt",
    meaning: "The password in the Secret was changed: it is valid now, and former sessions end",
    audited: "password_adopted",
  },
  SecretRepaired: {
    type: "Normal",
    action: "Repair",
    meaning: "A Secret was written again without a new credential",
  },
  CredentialRestored: {
    type: "Warning",
    action: "Restore",
    meaning:
      "The credential in a Secret that was not made for this object was taken over, as was asked for: it is valid now",
    audited: "credential_restored",
  },
  SigningKeyAdded: {
    type: "Normal",
    action: "Rotate",
    meaning: "A new signing key was created; it signs once every replica has it",
    audited: "signing_key_added",
  },
  SigningKeyRotated: {
    type: "Normal",
    action: "Rotate",
    meaning: "The new signing key signs; the former one verifies until its last token has expired",
    audited: "signing_key_rotated",
  },
  SigningKeyRetired: {
    type: "Normal",
    action: "Rotate",
    meaning: "A former signing key was removed: all its tokens have expired",
    audited: "signing_key_retired",
  },
  SigningRingReplaced: {
    type: "Warning",
    action: "Mint",
    meaning: "The signing keys were lost and created again: all sessions of the Project end",
    audited: "signing_keys_replaced",
  },
} as const satisfies Record<string, EventEntry>;

export type CredentialEventReason = keyof typeof credentialEventCatalogue;

/** To be recorded once its writes are done. */
export interface CredentialEvent {
  readonly subject: Subject;
  readonly note: EventNote;
}

export function credentialEvent(object: CustomResource, reason: CredentialEventReason, note: string): CredentialEvent {
  const { type, action } = credentialEventCatalogue[reason];
  const { namespace, name, uid } = object.metadata;
  return { subject: { kind: object.kind, namespace, name, uid }, note: { type, reason, action, note } };
}

/** Undefined for Events that the audit log doesn't list. */
export function auditOf({ subject, note }: CredentialEvent): AuditEntry | undefined {
  const entry: EventEntry | undefined = credentialEventCatalogue[note.reason as CredentialEventReason];
  if (entry?.audited === undefined) return undefined;
  const { kind, namespace, name, uid } = subject;
  return { action: entry.audited, facts: { kind, namespace, name, uid, why: note.note } };
}
