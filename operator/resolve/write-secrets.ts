// Does the writes of a resolution: the Project's own first, then those of its children, each child's in their order and several
// children at once. Where the API server refuses a write for good (a quota, a policy), or something else keeps changing the Secret,
// only that object goes without its new credential. Any other failure ends the run, and is thrown once the writes under way have ended.

import { mapLimited } from "../../core/map-limited.ts";
import { type ApiFailure, isLastingRefusal } from "../kube/api.ts";
import { SecretContested } from "../kube/repairs.ts";
import { kindLabel, nameLabel } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import type { CredentialEvent } from "./credential-event.ts";
import type { ProjectResolution } from "./resolve-project.ts";
import type { SecretWrite } from "./secret-write.ts";

export interface WriteSecretsDeps {
  readonly write: (write: SecretWrite) => Promise<void>;
  /** Called for objects whose writes are done, even if the run fails at another object: the next run finds nothing to record for them. */
  readonly report: (event: CredentialEvent) => void;
}

export interface WrittenSecrets {
  /** What holds now: objects whose Secrets were refused have no credential, and nothing is recorded of them. */
  readonly resolved: ProjectResolution;
  /** Not empty: try again later. */
  readonly refused: readonly Refusal[];
}

type Refusal = ApiFailure | SecretContested;

interface Refused {
  readonly write: SecretWrite;
  readonly failure: Refusal;
}

/** By owner, `<kind>/<name>`. */
type Refusals = ReadonlyMap<string, Refused>;

/** A thousand new keys must be written in seconds; more at once would take the connections that other Projects need. */
const writesAtATime = 8;

export async function writeSecrets(
  resolved: ProjectResolution,
  { write, report }: WriteSecretsDeps,
): Promise<WrittenSecrets> {
  const byOwner = Map.groupBy(resolved.writes, ownerOf);
  const { incomplete, refusals, failures } = await writeAll(byOwner, write);
  for (const event of resolved.events) if (!incomplete.has(subjectOf(event))) report(event);
  const [failed] = failures;
  if (failed !== undefined) throw failed.error;
  if (refusals.size === 0) return { resolved, refused: [] };
  const refused = [...refusals.values()].map(({ failure }) => failure);
  const project = [...refusals].find(([owner]) => isProject(owner))?.[1];
  const written = project === undefined ? without(resolved, refusals) : withoutAll(resolved, project);
  if (incomplete.size < byOwner.size) return { resolved: written, refused };
  // Nothing has changed: what was left for later is no nearer.
  const { hasLaterWrites: _, ...stuck } = written;
  return { resolved: stuck, refused };
}

interface WriteResults {
  /** Owners with a write that was not done. */
  readonly incomplete: ReadonlySet<string>;
  readonly refusals: Refusals;
  /** In the order in which they came; no write started after the first. */
  readonly failures: readonly { readonly error: unknown }[];
}

/** `byOwner` = the writes of each object, in their order. Never rejects. */
async function writeAll(
  byOwner: ReadonlyMap<string, readonly SecretWrite[]>,
  write: (write: SecretWrite) => Promise<void>,
): Promise<WriteResults> {
  const incomplete = new Set(byOwner.keys());
  const refusals = new Map<string, Refused>();
  const failures: { readonly error: unknown }[] = [];

  const writeOne = async (each: SecretWrite): Promise<boolean> => {
    if (failures.length > 0) return false;
    try {
      await write(each);
      return true;
    } catch (error) {
      if (isRefusal(error)) refusals.set(ownerOf(each), { write: each, failure: error });
      else failures.push({ error });
      return false;
    }
  };
  const writeOwn = async (owner: string): Promise<void> => {
    let done = true;
    for (const each of byOwner.get(owner) ?? []) done &&= await writeOne(each);
    if (done) incomplete.delete(owner);
  };

  const { projects = [], children = [] } = Object.groupBy(byOwner.keys(), (owner) =>
    isProject(owner) ? "projects" : "children",
  );
  for (const project of projects) await writeOwn(project);
  // The Project's own first: MACs of passwords in its children's records are made with its projectKey.
  if (refusals.size > 0) return { incomplete, refusals, failures };
  await mapLimited(children, writesAtATime, writeOwn);
  return { incomplete, refusals, failures };
}

function without(resolved: ProjectResolution, refusals: Refusals): ProjectResolution {
  const unlessUnwritten = <T>(owner: string, result: Result<T>): Result<T> => {
    const refused = refusals.get(owner);
    return refused === undefined ? result : notWritten(refused);
  };
  const { users, keys } = resolved.credentials;
  const isRefused = (event: CredentialEvent): boolean => refusals.has(subjectOf(event));
  // Every write comes with an event. A status would say of a credential that it exists, and hide that none was ever made.
  const uids = new Set(resolved.events.filter(isRefused).map(({ subject }) => subject.uid));
  return {
    ...resolved,
    statuses: new Map([...resolved.statuses].filter(([uid]) => !uids.has(uid))),
    credentials: {
      users: new Map([...users].map(([name, user]) => [name, unlessUnwritten(`ProjectUser/${name}`, user)])),
      keys: new Map([...keys].map(([name, key]) => [name, unlessUnwritten(`ApiKey/${name}`, key)])),
    },
    events: resolved.events.filter((event) => !isRefused(event)),
  };
}

function withoutAll(resolved: ProjectResolution, refused: Refused): ProjectResolution {
  const credentials = { users: new Map(), keys: new Map() };
  const rest = { credentials, statuses: new Map(), events: [], ringReplaced: false };
  return { ...resolved, ...rest, signing: notWritten(refused) };
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

function isProject(owner: string): boolean {
  return owner.startsWith("Project/");
}
