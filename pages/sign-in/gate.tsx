// The form by which a person signs in: at an external issuer, with an API key, or with a user's
// name and password. Says why that failed.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { leaveForIssuer } from "./issuer-sign-in.ts";
import type { OfferedIssuer } from "./offered-issuer.ts";
import { describeRefusal, type Problem } from "./problem.ts";
import type { SignIn } from "./sign-in.ts";

export interface GateProps {
  readonly signIn: SignIn;
  /** The page's title for as long as it is shown. */
  readonly title: string;
  /** Why it is shown. */
  readonly why: string;
  /** Away from the form without signing in; absent where nothing else may be shown. */
  readonly wayBack?: WayBack;
  /** The page holds something unsaved, which would be lost on the way to an issuer. */
  readonly holdsText?: boolean;
  /** Who probably signs in. */
  readonly userName?: string;
}

export interface WayBack {
  readonly label: string;
  readonly onClick: () => void;
}

export function Gate({ signIn, title, why, wayBack, holdsText = false, userName }: GateProps) {
  const [fault, setFault] = useState(signIn.fault ?? "");
  const container = useRef<HTMLElement>(null);
  const key = useRef<HTMLInputElement>(null);
  const name = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const before = document.title;
    document.title = title;
    return () => {
      if (document.title === title) document.title = before;
    };
  }, [title]);
  useEffect(() => {
    const start =
      userName === undefined ? container.current?.querySelector<HTMLElement>("button, input, a") : undefined;
    (start ?? password.current)?.focus();
    // It is said once.
    signIn.forgetFault();
  }, []);

  const attempt = async (event: SubmitEvent, use: () => Promise<Problem | undefined>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setFault("");
    try {
      const problem = await use();
      if (problem !== undefined) setFault(wordsFor(problem));
      // It may still be shown, where somebody else should have signed in.
      else form.reset();
    } catch {
      setFault("The server can't be reached.");
    }
  };
  const leaveFor = async (issuer: OfferedIssuer): Promise<void> => {
    setFault("");
    setFault((await leaveForIssuer(issuer)) ?? "");
  };
  return (
    <main id="gate" ref={container}>
      <h1>Sign in to {signIn.project}</h1>
      <p id="why">{why}</p>
      <p id="fault" class="fault" role="alert">
        {fault}
      </p>
      {signIn.issuers.length > 0 && <Issuers issuers={signIn.issuers} holdsText={holdsText} onChoose={leaveFor} />}
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
        <input
          id="username"
          ref={name}
          required
          {...(userName !== undefined && { defaultValue: userName })}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
        />
        <label for="password">Password</label>
        <input id="password" ref={password} type="password" required autocomplete="off" />
        <button type="submit" class="main">
          Log in
        </button>
      </form>
      <p class="note">
        What you enter stays in the memory of this project's open pages until you close them, and goes to this API only.
      </p>
      {wayBack !== undefined && (
        <button type="button" id="back" onClick={wayBack.onClick}>
          {wayBack.label}
        </button>
      )}
    </main>
  );
}

interface IssuersProps {
  readonly issuers: readonly OfferedIssuer[];
  readonly holdsText: boolean;
  readonly onChoose: (issuer: OfferedIssuer) => Promise<void>;
}

function Issuers({ issuers, holdsText, onChoose }: IssuersProps) {
  const names = issuers.map(({ name }) => name).join(" or ");
  return (
    <>
      <div class="issuers">
        {holdsText ? (
          <>
            <p>
              Signing in with {names} leaves this page and loses what you entered. Sign in on another page of this
              project instead; this one then goes on.
            </p>
            <a class="button main" href={location.pathname} target="_blank" rel="noopener">
              Open another page
            </a>
          </>
        ) : (
          issuers.map((issuer) => (
            <button key={issuer.name} type="button" class="main" onClick={() => void onChoose(issuer)}>
              Sign in with {issuer.name}
            </button>
          ))
        )}
        <p class="note">When you sign out here, you stay signed in at {names}.</p>
      </div>
      <p class="or">or</p>
    </>
  );
}

/** The detail of a 401 is for programs: how to write the header. */
function wordsFor(problem: Problem): string {
  return problem.status === 401 ? "These credentials were not accepted." : describeRefusal(problem);
}
