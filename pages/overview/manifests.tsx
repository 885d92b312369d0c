// All manifests of the folder, each with what has become of it.

import type { ManifestState, ShownManifest } from "./state.ts";
import { Subject } from "./subject.tsx";

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
