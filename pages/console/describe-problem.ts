// From a refused request to words for a person. The details of some statuses are for programs, so
// other words are here.

import type { Problem, ProblemItem } from "../sign-in/problem.ts";
import type { Field } from "./fields.ts";

/** No server answered. */
export const unreachable: Problem = { status: 0, title: "The server can't be reached" };

export function describeProblem(problem: Problem, isSignedIn: boolean): string {
  const { status, code, title, detail = "", errors = [] } = problem;
  if (code === "idempotency_key_reused") {
    return "An earlier attempt has created the object, with another text. Look for it in the list; Create adds a second one.";
  }
  // The form and the editor show each of them.
  if (code === "not_unique" && errors.length > 0) return "Another object has this already. It is marked below.";
  if (code === "validation_failed" && errors.length > 0) return "Some fields are not right yet. They are marked below.";
  switch (status) {
    case 0:
      return `${title}. Try again.`;
    case 401:
      if (code === "token_expired") return "Your sign-in has expired.";
      return isSignedIn ? "Your credentials are no longer accepted." : "You have to sign in for this.";
    case 403:
      return withDetail("You may not do this", detail);
    case 404:
      return "This does not exist, or it was deleted.";
    default:
      return withDetail(title, detail);
  }
}

/** What is wrong with one value, for who doesn't know its schema. */
export function describeFault({ control, description }: Field, { keyword, message }: ProblemItem): string {
  if (keyword === "unique") return `${message}.`;
  if (control.kind === "choice") return "Choose one.";
  if (keyword === "required") return "Fill this in.";
  return keyword === "pattern" ? (description ?? "This does not have the right form.") : `${message}.`;
}

function withDetail(title: string, detail: string): string {
  // Code in the detail is marked as in Markdown.
  return detail === "" ? `${title}.` : `${title}. ${detail.replaceAll("`", "")}`;
}
