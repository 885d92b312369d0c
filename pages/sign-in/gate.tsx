// The form by which a person signs in: with a user's name and password, with an API key, or at an
// external issuer. Says why that failed.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isDevMode } from "./dev-mode.ts";
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
  const [asksForKey, setAsksForKey] = useState(false);
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
    const first = userName === undefined ? name : password;
    (asksForKey ? key : first).current?.focus();
  }, [asksForKey]);
  // It is said once.
  useEffect(() => signIn.forgetFault(), []);

  const askFor = (keyInstead: boolean): void => {
    setFault("");
    setAsksForKey(keyInstead);
  };
  const attempt = async (event: SubmitEvent, use: () => Promise<Problem | undefined>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setFault("");
    try {
      const problem = await use();
      if (problem !== undefined) setFault(wordsFor(problem, asksForKey ? "key" : "password"));
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
    <main id="gate">
      <h1>Sign in to {signIn.project}</h1>
      <p id="why">{why}</p>
      <p id="fault" class="fault" role="alert">
        {fault}
      </p>
      {asksForKey ? (
        <form
          id="with-key"
          autocomplete="off"
          onSubmit={(event) => void attempt(event, () => signIn.withKey(key.current?.value.trim() ?? ""))}
        >
          <label for="key">API key</label>
          <input id="key" ref={key} type="password" required autocomplete="off" spellcheck={false} />
          <button type="submit" class="main">
            Sign in
          </button>
        </form>
      ) : (
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
            Sign in
          </button>
        </form>
      )}
      <p>
        <button type="button" id="other-way" class="link" onClick={() => askFor(!asksForKey)}>
          {asksForKey ? "Use a password instead" : "Use an API key instead"}
        </button>
      </p>
      {signIn.issuers.length > 0 && <Issuers issuers={signIn.issuers} holdsText={holdsText} onChoose={leaveFor} />}
      <p class="note">
        {isDevMode()
          ? "Dev mode keeps your sign-in in the session storage of this project's open tabs until you sign out or close them, and sends it to this API only."
          : "What you enter stays in the memory of this project's open pages until you close them, and goes to this API only."}
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
      <p class="or">or</p>
      <div class="issuers">
        {holdsText ? (
          <>
            <p>
              Signing in with {names} leaves this page, and what you entered would be lost. Open another page of this
              project and sign in there: this page will then be signed in, too.
            </p>
            <a class="button" href={location.pathname} target="_blank" rel="noopener">
              Open another page
            </a>
          </>
        ) : (
          issuers.map((issuer) => (
            <button key={issuer.name} type="button" onClick={() => void onChoose(issuer)}>
              Sign in with {issuer.name}
            </button>
          ))
        )}
        <p class="note">When you sign out here, you stay signed in at {names}.</p>
      </div>
    </>
  );
}

const rejected = {
  key: "This API key was not accepted.",
  password: "The user name or the password is wrong.",
} as const;

/** The detail of a 401 is for programs: how to write the header. */
function wordsFor(problem: Problem, what: keyof typeof rejected): string {
  return problem.status === 401 ? rejected[what] : describeRefusal(problem);
}
