// Why a request was refused, in a box that screen readers read out. Errors of single members are shown at their lines, by the editor.

import { useEffect, useRef } from "preact/hooks";
import type { Problem } from "../sign-in/problem.ts";
import { ActionButton } from "./action-button.tsx";
import { useConsole } from "./console-context.ts";
import { describeProblem } from "./describe-problem.ts";

/** What a project answers to what it offered before its schema, its rules or its resources changed. */
const statusesOfChange: ReadonlySet<number> = new Set([400, 403, 404, 405]);

export function ProblemMessage({ problem }: { readonly problem: Problem | undefined }) {
  const { signIn, onSignIn, onRefused } = useConsole();
  const { credential } = signIn;
  const refused = useRef({ problem, credential });
  if (refused.current.problem !== problem) refused.current = { problem, credential };
  useEffect(() => {
    if (problem !== undefined && statusesOfChange.has(problem.status)) onRefused();
  }, [problem]);
  if (problem === undefined) return null;
  const isSignedIn = credential !== undefined;
  // Somebody has signed in since.
  if (problem.status === 401 && isSignedIn && credential !== refused.current.credential) return null;
  return (
    <div class="fault" role="alert">
      <p>{describeProblem(problem, isSignedIn)}</p>
      {problem.status === 401 && (
        <ActionButton onClick={onSignIn}>{isSignedIn ? "Sign in again" : "Sign in"}</ActionButton>
      )}
    </div>
  );
}
