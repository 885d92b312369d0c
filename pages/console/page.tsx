// The console of a project: begins with who is signed in, then shows the app.

import { render } from "preact";
import { takeOneTimeToken } from "../sign-in/dev-mode.ts";
import { offeredIssuers, takeResponse } from "../sign-in/issuer-sign-in.ts";
import { SignIn } from "../sign-in/sign-in.ts";
import { App } from "./app.tsx";
import { UnsavedChanges } from "./unsaved.ts";

// First: it cleans the page's URL.
const response = takeResponse();
const oneTimeToken = takeOneTimeToken();
const signIn = new SignIn(new URL(".", location.href), offeredIssuers());
const unsaved = new UnsavedChanges();
const container = document.getElementById("console");
if (container === null) throw new Error("The page has no #console");
if (response !== undefined) render(<p class="notice">Signing in…</p>, container);
void signIn.begin(response, oneTimeToken).then(() => render(<App signIn={signIn} unsaved={unsaved} />, container));
