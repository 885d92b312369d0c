// The console of a project: begins with who is signed in, then shows the app.

import { render } from "preact";
import { SignIn } from "../sign-in/sign-in.ts";
import { App } from "./app.tsx";
import { UnsavedChanges } from "./unsaved.ts";

const signIn = new SignIn(new URL(".", location.href));
const unsaved = new UnsavedChanges();
const container = document.getElementById("console");
if (container === null) throw new Error("The page has no #console");
void signIn.askOtherPages().then(() => render(<App signIn={signIn} unsaved={unsaved} />, container));
