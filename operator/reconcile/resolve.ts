// The step of a reconcile that resolves credentials: Secrets are read, minted and repaired, and
// written before anything that depends on them is published. Rejects where the API server does not
// answer, or a Secret was changed meanwhile.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import { auditOf } from "../resolve/credential-event.ts";
import { resolveProject } from "../resolve/project.ts";
import { writeSecrets } from "../resolve/write-secrets.ts";
import type { ResolvedProject } from "../status/outcomes.ts";
import type { Pass } from "./pass.ts";

/**
 * What objects lose is published after the Secrets of a pass are written: more would keep it
 * waiting.
 */
const maxWritten = 32;

export async function resolveStep(pass: Pass): Promise<ResolvedProject> {
  const { published, redis, deps } = pass;
  const { parts, revision } = published;
  const objects = objectsWithSecrets(pass);
  const { find, ...trust } = await deps.secrets.prepare(objects);
  const hashes = deps.hashesOf(keyOfProject(objects.ref));
  const resolved = await resolveProject(objects, parts, {
    findSecret: find,
    random: deps.random,
    now: deps.clock.now(),
    hashPassword: hashes.hashPassword,
    baseUrl: deps.baseUrlOf(objects.ref),
    ...trust,
    ringAcknowledged: redis.acknowledgements.rolloutOf(revision) === "programmed",
    maxWritten,
  });
  const hashingMs = hashes.end();
  const written = await writeSecrets(resolved, {
    write: deps.secrets.write,
    report(event) {
      deps.recorder.record(event.subject, event.note);
      const entry = auditOf(event);
      if (entry !== undefined) deps.audit.record(entry);
    },
  });
  const isComplete = written.refused.length === 0;
  return { ...written.resolved, isComplete, ...(hashingMs !== undefined && { hashingMs }) };
}

/**
 * A Project whose deletion waits may outlive its namespace: no Secret can be made there any more,
 * and it is withdrawn like one that has gone.
 */
function objectsWithSecrets({ objects, namespaceUid }: Pass): ProjectObjects {
  const { project: _, ...others } = objects;
  return namespaceUid === undefined ? others : objects;
}
