// Who is signed in, in the bar of each page. On a phone only the name is shown (look.css); screen
// readers read all of it.

import type { Credential } from "./sign-in.ts";

export function SignedInAs({ credential }: { readonly credential: Credential | undefined }) {
  if (credential === undefined) return <>Not signed in</>;
  return (
    <>
      <span>Signed in as </span>
      {credential.caller.name}
    </>
  );
}
