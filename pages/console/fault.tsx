// What the server said against a request, in a box that screen readers read out.

import type { Problem } from "../sign-in/sign-in.ts";

/** Nobody answered. */
export const unreachable: Problem = { status: 0, title: "The server can't be reached" };

/** The errors of single members are shown beside their lines, by the editor. */
export function Fault({ problem }: { readonly problem: Problem }) {
  const { title, detail } = problem;
  return (
    <p class="fault" role="alert">
      <strong>{title}.</strong> {detail}
    </p>
  );
}
