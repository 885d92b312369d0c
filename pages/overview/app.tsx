// The overview as a person sees it: messages, projects, and the state of each manifest.

import { useEffect } from "preact/hooks";
import { type Followed, useDevState } from "./follow-state.ts";
import { Messages, Subject } from "./messages.tsx";
import { Project } from "./project.tsx";
import type { ManifestState, OverviewState, ShownManifest } from "./state.ts";

const name = "jsonplane dev";

export function App() {
  const followed = useDevState();
  const { state, error } = followed;
  const { tone, text } = summaryOf(followed);
  useEffect(() => {
    document.title = tone === "good" ? name : `${text} – ${name}`;
  }, [tone, text]);
  return (
    <>
      <header class="bar">
        <strong>{name}</strong>
        <span class={`summary ${tone}`} role="status">
          {text}
        </span>
      </header>
      <main class="overview">
        <h1>Overview</h1>
        {error !== undefined && (
          <p class="fault" role="alert">
            {error} {state !== undefined && "Below is what was last known. This page keeps trying."}
          </p>
        )}
        {state !== undefined && <Shown state={state} hasTrouble={tone === "bad" || tone === "warned"} />}
      </main>
    </>
  );
}

interface ShownProps {
  readonly state: OverviewState;
  /** Then messages come first. */
  readonly hasTrouble: boolean;
}

function Shown({ state, hasTrouble }: ShownProps) {
  const { folder, failure, advice, usage, projects, givesSecrets } = state;
  return (
    <>
      <p class="quiet">
        Serves the manifests in <code>{folder}</code>. Changes are live as soon as you save them.{" "}
        {projects.some(({ rootKeys }) => rootKeys.length > 0) && (
          <a href={usage} target="_blank" rel="noopener">
            Requests to root keys
          </a>
        )}
      </p>
      {failure !== undefined && (
        <p class="fault" role="alert">
          {failure}
        </p>
      )}
      {hasTrouble && <Messages state={state} />}
      <section aria-labelledby="projects">
        <h2 id="projects">Projects</h2>
        {advice !== undefined && <p class="advice">{advice}</p>}
        {projects.map((project) => (
          <Project key={project.name} project={project} givesSecrets={givesSecrets} />
        ))}
      </section>
      {!hasTrouble && <Messages state={state} />}
      <Manifests manifests={state.manifests} />
    </>
  );
}

interface Summary {
  readonly tone: "good" | "quiet" | "warned" | "bad";
  readonly text: string;
}

function summaryOf({ state, error }: Followed): Summary {
  if (error !== undefined) return { tone: "bad", text: "Not connected" };
  if (state === undefined || !state.isRead) return { tone: "warned", text: "Reading the folder…" };
  const messages = [...[...state.files, ...state.manifests].flatMap((each) => each.messages), ...state.news];
  const problems = messages.filter(({ level }) => level === "problem").length;
  const warnings = messages.filter(({ level }) => level === "warning").length;
  if (problems > 0) return { tone: "bad", text: counted(problems, "problem") };
  if (state.failure !== undefined) return { tone: "bad", text: "The last change failed" };
  if (warnings > 0) return { tone: "warned", text: counted(warnings, "warning") };
  if (state.projects.length === 0) return { tone: "quiet", text: "No project yet" };
  return { tone: "good", text: "No problems" };
}

function counted(count: number, what: string): string {
  return `${count} ${count === 1 ? what : `${what}s`}`;
}

const words: Readonly<Record<ManifestState, string>> = {
  live: "Ready",
  partly: "Served in part",
  lastGood: "Served as before",
  refused: "Not served",
  waiting: "Suspended",
  unreadable: "Served as before",
};

export function Manifests({ manifests }: { readonly manifests: readonly ShownManifest[] }) {
  const shown = manifests.filter(({ state }) => state !== undefined);
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby="manifests">
      <h2 id="manifests">Manifests</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Manifest</th>
            <th scope="col">State</th>
            <th scope="col">File</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ subject, state = "live", file }) => (
            <tr key={subject}>
              <th scope="row">
                <Subject subject={subject} />
              </th>
              <td class={`state ${state}`}>{words[state]}</td>
              <td>
                <code>{file}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
