// The operator's destructive actions, each as one log line of level info with `audit: true`: what
// was done to which object, by its uid, and why. No secret, no hash and no value is among the
// facts. docs/observability.md lists the messages.

import type { Fields, Logger } from "../../core/log/logger.ts";

export const auditMessages = {
  project_withdrawn: "Project withdrawn",
  resource_withdrawn: "Resource withdrawn",
  credential_revoked: "Credential revoked",
  issuer_withdrawn: "External issuer withdrawn",
  service_account_withdrawn: "ServiceAccount withdrawn",
  credential_rotated: "Credential rotated",
  credential_restored: "Credential restored",
  password_adopted: "Password adopted",
  signing_key_added: "Signing key added",
  signing_key_rotated: "Signing key rotated",
  signing_key_retired: "Signing key retired",
  signing_keys_replaced: "Signing keys replaced",
  secret_deleted: "Secret deleted",
  data_retained: "Data retained",
  data_adopted: "Data adopted",
  data_loss_accepted: "Data loss accepted",
  deletion_requested: "Deletion of kept data requested",
  purge_ordered: "Purge ordered",
  purge_done: "Purge done",
  fleet_ring_step: "Fleet key ring rotation step done",
  fleet_ring_adopted: "Fleet key ring adopted from its Secret",
  seal_key_written: "Seal key written",
  redis_taken_over: "Redis of another installation taken over",
} as const;

export type AuditedAction = keyof typeof auditMessages;

export interface AuditEntry {
  readonly action: AuditedAction;
  /** `namespace` and `name` of the object or of the data's Project, `uid`, `why`. */
  readonly facts: Fields;
}

export interface AuditLog {
  write(entry: AuditEntry): void;
}

export function createAuditLog(logger: Pick<Logger, "info">): AuditLog {
  return { write: ({ action, facts }) => logger.info(auditMessages[action], { audit: true, ...facts }) };
}
