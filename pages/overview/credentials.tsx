// Users and API keys of a project: opens the console as one, copies a password or key, and names
// the command that shows it.

import { useState } from "preact/hooks";
import { consoleUrlFor } from "../sign-in/dev-mode.ts";
import type { ShownCredential } from "./state.ts";

export interface CredentialsProps {
  readonly credentials: readonly ShownCredential[];
  /** `<namespace>/<name>` of the project, where its console can be opened. */
  readonly console: string | undefined;
  readonly givesSecrets: boolean;
}

export function Credentials({ credentials, console, givesSecrets }: CredentialsProps) {
  return (
    <table class="credentials">
      <caption>
        Users and API keys. A command shows the password or key, in the folder where you started jsonplane dev.
      </caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Kind</th>
          <th scope="col">Role</th>
          <th scope="col">Access</th>
          <th scope="col">Use</th>
        </tr>
      </thead>
      <tbody>
        {credentials.map((credential) => (
          <tr key={credential.subject}>
            <th scope="row">{credential.name}</th>
            <td>{credential.kind === "login" ? "User" : credential.kind}</td>
            <td>{credential.role}</td>
            <td>{credential.access}</td>
            <td>
              {givesSecrets && <Use credential={credential} console={console} />}
              <details>
                <summary>Show the command</summary>
                <code>{credential.command}</code>
              </details>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface UseProps {
  readonly credential: ShownCredential;
  readonly console: string | undefined;
}

function Use({ credential: { subject, kind, name }, console }: UseProps) {
  const [said, say] = useState("");
  const what = kind === "login" ? "password" : "key";
  const attempt = async (action: () => Promise<string>): Promise<void> => {
    say(await action().catch((error: unknown) => (error instanceof Error ? `${error.message}.` : String(error))));
  };
  const open = async (project: string): Promise<string> => {
    location.assign(consoleUrlFor(project, await oneTimeToken(subject)));
    return "";
  };
  const copy = async (): Promise<string> => {
    const secret = await secretOf(subject);
    const isCopied = await navigator.clipboard.writeText(secret).then(
      () => true,
      () => false,
    );
    return isCopied ? "Copied" : "Copying was refused; use the command.";
  };
  return (
    <span class="use">
      {console !== undefined && (
        <button type="button" onClick={() => void attempt(() => open(console))}>
          Open the console as {name}
        </button>
      )}
      <button type="button" aria-label={`Copy ${what} of ${name}`} onClick={() => void attempt(copy)}>
        Copy {what}
      </button>
      <span role="status">{said}</span>
    </span>
  );
}

async function post<T>(target: string, headers: Readonly<Record<string, string>> = {}): Promise<T> {
  const response = await fetch(`-/overview/${target}`, { method: "POST", headers, credentials: "omit" });
  if (!response.ok) throw new Error(`The server answers ${response.status}`);
  return (await response.json()) as T;
}

async function oneTimeToken(subject: string): Promise<string> {
  const { token } = await post<{ readonly token: string }>(`token?of=${encodeURIComponent(subject)}`);
  return token;
}

async function secretOf(subject: string): Promise<string> {
  const headers = { Authorization: `Bearer ${await oneTimeToken(subject)}` };
  const { secret } = await post<{ readonly secret: string }>("credential", headers);
  return secret;
}
