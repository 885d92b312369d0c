// Why a request was refused, in a box that screen readers read out. The editor shows errors of
// single members at their lines.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { canonicalJson } from "../../core/json/canonical.ts";
import type { Problem } from "../sign-in/problem.ts";
import { ActionButton } from "./action-button.tsx";
import { useConsole } from "./console-context.ts";
import { describeProblem } from "./describe-problem.ts";
import { maxStoredDepth } from "./editor/pretty.ts";

/** Answers of a project to requests for what it offered before it changed. */
const statusesOfChange: ReadonlySet<number> = new Set([400, 403, 404, 405]);

export interface ProblemMessageProps {
  readonly problem: Problem | undefined;
  /** What is in the editor now: that it isn't JSON is said until it is. */
  readonly text?: string;
}

export function ProblemMessage({ problem, text = "" }: ProblemMessageProps) {
  const { signIn, onSignIn, onRefused } = useConsole();
  const { credential } = signIn;
  const refused = useRef({ problem, credential });
  if (refused.current.problem !== problem) refused.current = { problem, credential };
  useEffect(() => {
    if (problem !== undefined && statusesOfChange.has(problem.status)) onRefused();
  }, [problem]);
  const isMended = useMemo(
    () => problem?.code === "malformed_json" && canonicalJson(text, maxStoredDepth).ok,
    [problem, text],
  );
  if (problem === undefined || isMended) return null;
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
