// The form by which a person signs in: with an API key, or with a user's name and password. Says why a credential was not accepted.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "./problem.ts";
import type { SignIn } from "./sign-in.ts";

export interface GateProps {
  readonly signIn: SignIn;
  /** Why it is shown. */
  readonly why: string;
  /** Called to go back to what is shown without credentials; absent where there is nothing. */
  readonly onBack?: () => void;
}

export function Gate({ signIn, why, onBack }: GateProps) {
  const [fault, setFault] = useState("");
  const key = useRef<HTMLInputElement>(null);
  const name = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => key.current?.focus(), []);

  const attempt = async (event: SubmitEvent, use: () => Promise<Problem | undefined>): Promise<void> => {
    event.preventDefault();
    setFault("");
    try {
      const problem = await use();
      if (problem !== undefined) setFault(wordsFor(problem));
    } catch {
      setFault("The server can't be reached.");
    }
  };
  return (
    <main id="gate">
      <h1>Sign in</h1>
      <p id="why">{why}</p>
      <p id="fault" class="fault" role="alert">
        {fault}
      </p>
      <form
        id="with-key"
        autocomplete="off"
        onSubmit={(event) => void attempt(event, () => signIn.withKey(key.current?.value.trim() ?? ""))}
      >
        <label for="key">API key</label>
        <input id="key" ref={key} type="password" required autocomplete="off" spellcheck={false} />
        <button type="submit" class="main">
          Use this key
        </button>
      </form>
      <p class="or">or</p>
      <form
        id="with-password"
        autocomplete="off"
        onSubmit={(event) =>
          void attempt(event, () => signIn.withPassword(name.current?.value ?? "", password.current?.value ?? ""))
        }
      >
        <label for="username">User name</label>
        <input id="username" ref={name} required autocomplete="off" autocapitalize="none" spellcheck={false} />
        <label for="password">Password</label>
        <input id="password" ref={password} type="password" required autocomplete="off" />
        <button type="submit" class="main">
          Log in
        </button>
      </form>
      <p class="note">
        What you enter stays in the memory of this project's open pages until you close them, and goes to this API only.
      </p>
      {onBack !== undefined && (
        <button type="button" id="back" onClick={onBack}>
          Back
        </button>
      )}
    </main>
  );
}

/** The detail of a 401 is for programs: how to write the header. */
function wordsFor({ status, title, detail }: Problem): string {
  if (status === 401) return "These credentials were not accepted.";
  return detail === undefined ? `${title}.` : `${title}. ${detail}`;
}
