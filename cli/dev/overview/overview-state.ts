// Turns the result of a pass into what the overview shows: Projects, files of their credentials,
// problems of manifests, and messages. Never a secret, nor anything made of one.

import type { CompiledProject } from "../../../core/config/types.ts";
import type {
  Level,
  OverviewState,
  ShownCredential,
  ShownFile,
  ShownManifest,
  ShownMessage,
  ShownProject,
} from "../../../pages/overview/state.ts";
import type { SourceProblem } from "../../manifests/source.ts";
import { shellWord } from "../../shell-words.ts";
import type { DevOperatorView } from "../apply/dev-operator.ts";
import type { LocatedCredential } from "../report/credentials.ts";
import type { MessageLog } from "../report/messages.ts";
import { type Snapshot, sentenceOf, unreadableSentence } from "../report/report.ts";

export interface OverviewFacts {
  readonly view: DevOperatorView;
  readonly credentials: readonly LocatedCredential[];
  readonly folder: string;
  /** What clients reach the API by, without a trailing slash. */
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly log: Pick<MessageLog, "current">;
  /** Why the last pass failed, as the terminal says it. */
  readonly failure: string | undefined;
  /** What to do while no project is served; undefined once one is. */
  readonly advice: string | undefined;
  /** Whether the page may get passwords and keys. */
  readonly givesSecrets: boolean;
}

export function overviewState(facts: OverviewFacts): OverviewState {
  const { view, folder, adminUrl, failure, advice, givesSecrets } = facts;
  const { snapshot = nothingRead } = view;
  const messages = [
    ...snapshot.problems.map((problem) => [problem, messageOf("problem", problem)] as const),
    ...snapshot.notes.map((note) => [note, messageOf(note.isWarning ? "warning" : "note", note)] as const),
  ];
  const projects = [...view.published].map(([name, parts]) => projectOf(name, parts, facts));
  return {
    folder,
    isRead: view.snapshot !== undefined,
    ...(failure !== undefined && { failure }),
    ...(advice !== undefined && { advice }),
    usage: `${adminUrl}/usage`,
    givesSecrets,
    projects,
    files: filesOf(messages, snapshot),
    manifests: manifestsOf(messages, snapshot),
    news: facts.log.current(view),
  };
}

const nothingRead: Snapshot = { problems: [], notes: [], objects: new Map(), unreadable: [] };

type Located = readonly [SourceProblem, ShownMessage];

function messageOf(level: Level, { file, line, column, pointer, message }: SourceProblem): ShownMessage {
  return { level, position: `${file}:${line}:${column}`, pointer, text: message.replaceAll(/[\r\n]+/g, " ") };
}

function projectOf(name: string, parts: CompiledProject, facts: OverviewFacts): ShownProject {
  const { project, resources, rootKeys } = parts;
  const described = project.openapi === "Nobody" ? [] : (["docs", "openapi.json"] as const);
  return {
    name,
    url: `${facts.publicUrl}/${name}`,
    serving: project.serving,
    hosts: project.hosts,
    pages: [...(project.console === "Nobody" ? [] : (["console"] as const)), ...described],
    usage: `${facts.adminUrl}/usage/${name}`,
    resources: [...resources.keys()].sort(),
    rootKeys: [...rootKeys.keys()].sort(),
    credentials: facts.credentials
      .filter((credential) => credential.project === name)
      .toSorted(byKindAndName)
      .map(credentialOf),
  };
}

/** Users first: a person opens the console as one. */
function byKindAndName(one: LocatedCredential, other: LocatedCredential): number {
  if (one.kind !== other.kind) return one.kind === "login" ? -1 : 1;
  return one.name < other.name ? -1 : 1;
}

/** Member by member, so that nothing else of it is sent. */
function credentialOf({ subject, kind, name, role, access, file }: LocatedCredential): ShownCredential {
  return { subject, kind, name, role, access, command: `cat ${shellWord(file)}` };
}

function filesOf(messages: readonly Located[], { unreadable }: Snapshot): readonly ShownFile[] {
  const found = new Map<string, ShownMessage[]>(unreadable.map((file) => [file, []]));
  for (const [{ file, subject }, message] of messages) {
    if (subject === undefined) found.set(file, [...(found.get(file) ?? []), message]);
  }
  return [...found].map(([file, own]) => ({
    file,
    ...(unreadable.includes(file) && { outcome: unreadableSentence }),
    messages: own,
  }));
}

/** All objects, and what is refused before it is one. */
function manifestsOf(messages: readonly Located[], { objects }: Snapshot): readonly ShownManifest[] {
  const own = new Map<string, Located[]>();
  for (const located of messages) {
    const [{ subject }] = located;
    if (subject !== undefined) own.set(subject, [...(own.get(subject) ?? []), located]);
  }
  const subjects = [...new Set([...objects.keys(), ...own.keys()])].sort();
  return subjects.map((subject) => {
    const object = objects.get(subject);
    const located = own.get(subject) ?? [];
    const isRefused = located.some(([problem, { level }]) => level === "problem" && !problem.isAbsent);
    const state = object?.state ?? (isRefused ? "refused" : undefined);
    const hasNoOutcome = state === undefined || state === "live" || object?.isAwaitingProject;
    const outcome = hasNoOutcome ? undefined : sentenceOf(state);
    return {
      subject,
      ...(state !== undefined && { state }),
      ...(outcome !== undefined && { outcome }),
      file: object?.file ?? located[0]?.[0].file ?? "",
      messages: located.map(([, message]) => message),
    };
  });
}
