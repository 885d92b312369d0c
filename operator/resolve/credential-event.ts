// What happened to credentials that people should be told of, as Events beside the object: one entry per thing that was
// written. No secret stands in a note.

import type { CustomResource } from "../objects.ts";
import type { EventNote } from "../record/event-recorder.ts";
import type { Subject } from "../verdict.ts";

interface EventEntry {
  readonly type: EventNote["type"];
  readonly action: "Mint" | "Rotate" | "Repair" | "Adopt";
  readonly meaning: string;
}

export const credentialEventCatalogue = {
  CredentialMinted: { type: "Normal", action: "Mint", meaning: "A first key or password was made" },
  CredentialRotated: {
    type: "Normal",
    action: "Rotate",
    meaning: "spec.rotation.id changed: a new key or password was made",
  },
  PasswordAdopted: {
    type: "Normal",
    action: "Adopt",
    meaning: "The password in the Secret is another one: it is in force, and former sessions end",
  },
  SecretRepaired: {
    type: "Normal",
    action: "Repair",
    meaning: "A Secret was gone, or edited, and was made again without a new credential",
  },
  SigningKeyAdded: {
    type: "Normal",
    action: "Rotate",
    meaning: "A new signing key was made; it signs once every replica knows it",
  },
  SigningKeyRotated: {
    type: "Normal",
    action: "Rotate",
    meaning: "The new signing key signs; the former one verifies until its last token has expired",
  },
  SigningKeyRetired: {
    type: "Normal",
    action: "Rotate",
    meaning: "A former signing key was taken away: no token of it is left",
  },
  SigningRingReplaced: {
    type: "Warning",
    action: "Mint",
    meaning: "The signing keys were lost and made anew: all sessions of the Project end",
  },
} as const satisfies Record<string, EventEntry>;

export type CredentialEventReason = keyof typeof credentialEventCatalogue;

/** True once the writes that came with it are done. */
export interface CredentialEvent {
  readonly subject: Subject;
  readonly note: EventNote;
}

export function credentialEvent(object: CustomResource, reason: CredentialEventReason, note: string): CredentialEvent {
  const { type, action } = credentialEventCatalogue[reason];
  const { namespace, name, uid } = object.metadata;
  return { subject: { kind: object.kind, namespace, name, uid }, note: { type, reason, action, note } };
}
