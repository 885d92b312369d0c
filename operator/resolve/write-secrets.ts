// Does the writes of a resolution in their order. What the API server refuses for good (a quota, a policy) costs the object it
// is about its new credential, and nobody else anything; everything else that goes wrong ends the run and is thrown.

import { ApiFailure } from "../kube/api.ts";
import { kindLabel, nameLabel } from "../secret-names.ts";
import { type Judged, refuse } from "../verdict.ts";
import type { CredentialEvent } from "./credential-event.ts";
import type { ProjectResolution } from "./resolve-project.ts";
import type { SecretWrite } from "./secret-write.ts";

export interface WrittenSecrets {
  /** What holds now: objects whose Secrets were refused have no credential, and nothing is told of them. */
  readonly resolved: ProjectResolution;
  /** Not empty: try again later. */
  readonly refused: readonly ApiFailure[];
}

interface Refused {
  readonly write: SecretWrite;
  readonly failure: ApiFailure;
}

/** By owner, `<kind>/<name>`. */
type Refusals = ReadonlyMap<string, Refused>;

export async function writeSecrets(
  resolved: ProjectResolution,
  write: (write: SecretWrite) => Promise<void>,
): Promise<WrittenSecrets> {
  const refusals = await writeInOrder(resolved.writes, write);
  if (refusals.size === 0) return { resolved, refused: [] };
  const refused = [...refusals.values()].map(({ failure }) => failure);
  const project = [...refusals].find(([owner]) => isProject(owner))?.[1];
  return { resolved: project === undefined ? without(resolved, refusals) : withoutAll(resolved, project), refused };
}

async function writeInOrder(
  writes: readonly SecretWrite[],
  write: (write: SecretWrite) => Promise<void>,
): Promise<Refusals> {
  const refusals = new Map<string, Refused>();
  for (const each of writes) {
    const owner = ownerOf(each);
    if (refusals.has(owner)) continue;
    try {
      await write(each);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusals.set(owner, { write: each, failure: error });
      // Records of the children are sealed with a key that only this Secret keeps.
      if (isProject(owner)) break;
    }
  }
  return refusals;
}

function without(resolved: ProjectResolution, refusals: Refusals): ProjectResolution {
  const judge = <T>(owner: string, judged: Judged<T>): Judged<T> => {
    const refused = refusals.get(owner);
    return refused === undefined ? judged : notWritten(refused);
  };
  const { users, keys } = resolved.credentials;
  const isRefused = ({ subject }: CredentialEvent): boolean => refusals.has(`${subject.kind}/${subject.name}`);
  // Every write comes with an event. A status would say of a credential that it exists, and hide that none was ever made.
  const uids = new Set(resolved.events.filter(isRefused).map(({ subject }) => subject.uid));
  return {
    ...resolved,
    statuses: new Map([...resolved.statuses].filter(([uid]) => !uids.has(uid))),
    credentials: {
      users: new Map([...users].map(([name, user]) => [name, judge(`ProjectUser/${name}`, user)])),
      keys: new Map([...keys].map(([name, key]) => [name, judge(`ApiKey/${name}`, key)])),
    },
    events: resolved.events.filter((event) => !isRefused(event)),
  };
}

function withoutAll(resolved: ProjectResolution, refused: Refused): ProjectResolution {
  const credentials = { users: new Map(), keys: new Map() };
  const rest = { credentials, statuses: new Map(), events: [], ringReplaced: false };
  return { ...resolved, ...rest, signing: notWritten(refused) };
}

/** 403 of a quota or of missing rights, 413 and 422 of a policy: the same request fails again until somebody acts. */
function isRefusal(error: unknown): error is ApiFailure {
  return error instanceof ApiFailure && [400, 403, 413, 422].includes(error.status);
}

function notWritten({ write, failure: { status, reason } }: Refused): ReturnType<typeof refuse> {
  const answer = reason === "" ? String(status) : `${status} ${reason}`;
  const message = `Secret "${write.name}" can't be written: the API server answered ${answer}; look for a quota or a policy of the namespace`;
  return refuse("SecretNotWritten", message);
}

function ownerOf({ labels }: SecretWrite): string {
  return `${labels[kindLabel]}/${labels[nameLabel]}`;
}

function isProject(owner: string): boolean {
  return owner.startsWith("Project/");
}
