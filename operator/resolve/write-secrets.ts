// Does the writes of a resolution, several objects at a time, and those of each object in order.
// Where the API server refuses a write for good (a quota, a policy), or something else keeps
// changing the Secret, that object alone goes without its new credential. Any other failure ends
// the run, and is thrown once the writes that were under way have ended.

import { mapLimited } from "../../core/map-limited.ts";
import { type ApiFailure, isLastingRefusal } from "../kube/api.ts";
import { SecretContested } from "../kube/repairs.ts";
import { kindLabel, nameLabel } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import type { CredentialEvent } from "./credential-event.ts";
import type { ProjectResolution } from "./project.ts";
import type { SecretWrite } from "./resolution.ts";

export interface WriteSecretsDeps {
  readonly write: (write: SecretWrite) => Promise<void>;
  /** Called for objects whose writes are done, also where the run fails at another object. */
  readonly report: (event: CredentialEvent) => void;
}

export interface WrittenSecrets {
  /** Objects whose Secrets were refused have no credential, and nothing is recorded of them. */
  readonly resolved: ProjectResolution;
  /** Not empty: try again later. */
  readonly refused: readonly Refusal[];
}

type Refusal = ApiFailure | SecretContested;

interface Refused {
  readonly write: SecretWrite;
  readonly failure: Refusal;
}

/** More would take the connections that other Projects need. */
const writesAtATime = 8;

export async function writeSecrets(
  resolved: ProjectResolution,
  { write, report }: WriteSecretsDeps,
): Promise<WrittenSecrets> {
  const byOwner = Map.groupBy(resolved.writes, ownerOf);
  const incomplete = new Set(byOwner.keys());
  const refusals = new Map<string, Refused>();
  const failures: { readonly error: unknown }[] = [];
  const writeOne = async (owner: string, each: SecretWrite): Promise<boolean> => {
    if (failures.length > 0) return false;
    try {
      await write(each);
      return true;
    } catch (error) {
      if (isRefusal(error)) refusals.set(owner, { write: each, failure: error });
      else failures.push({ error });
      return false;
    }
  };
  await mapLimited([...byOwner], writesAtATime, async ([owner, writes]) => {
    for (const each of writes) if (!(await writeOne(owner, each))) return;
    incomplete.delete(owner);
  });
  for (const event of resolved.events) if (!incomplete.has(subjectOf(event))) report(event);
  const [failed] = failures;
  if (failed !== undefined) throw failed.error;
  if (refusals.size === 0) return { resolved, refused: [] };
  const refused = [...refusals.values()].map(({ failure }) => failure);
  const written = without(resolved, refusals);
  if (incomplete.size < byOwner.size) return { resolved: written, refused };
  // Nothing was written: another pass would come no further.
  const { hasLaterWrites: _, ...stuck } = written;
  return { resolved: stuck, refused };
}

/** `refusals`: by owner, `<kind>/<name>`. */
function without(resolved: ProjectResolution, refusals: ReadonlyMap<string, Refused>): ProjectResolution {
  const unlessRefused = <T>(owner: string, result: Result<T>): Result<T> => {
    const refused = refusals.get(owner);
    return refused === undefined ? result : notWritten(refused);
  };
  const { users, keys } = resolved.credentials;
  const isRefused = (event: CredentialEvent): boolean => refusals.has(subjectOf(event));
  // Every write of a user or key comes with an event. Its status would say that the credential
  // exists.
  const uids = new Set(resolved.events.filter(isRefused).map(({ subject }) => subject.uid));
  const [project] = [...refusals].flatMap(([owner, refused]) => (owner.startsWith("Project/") ? [refused] : []));
  return {
    ...resolved,
    ...(project !== undefined && { signing: notWritten(project), ringReplaced: false }),
    statuses: new Map([...resolved.statuses].filter(([uid]) => !uids.has(uid))),
    credentials: {
      users: new Map([...users].map(([name, user]) => [name, unlessRefused(`ProjectUser/${name}`, user)])),
      keys: new Map([...keys].map(([name, key]) => [name, unlessRefused(`ApiKey/${name}`, key)])),
    },
    events: resolved.events.filter((event) => !isRefused(event)),
  };
}

function isRefusal(error: unknown): error is Refusal {
  return error instanceof SecretContested || isLastingRefusal(error);
}

function notWritten({ write, failure }: Refused): ReturnType<typeof refuse> {
  if (failure instanceof SecretContested) return refuse("SecretNotWritten", failure.message);
  const { status, reason } = failure;
  const answer = reason === "" ? String(status) : `${status} ${reason}`;
  const message = `Secret "${write.name}" can't be written: the API server answered ${answer}; look for a quota or a policy of the namespace, or a right that jsonplane has lost`;
  return refuse("SecretNotWritten", message);
}

function ownerOf({ labels }: SecretWrite): string {
  return `${labels[kindLabel]}/${labels[nameLabel]}`;
}

function subjectOf({ subject }: CredentialEvent): string {
  return `${subject.kind}/${subject.name}`;
}
