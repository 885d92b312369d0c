// The console of a project: begins with who is signed in, then shows the app.

import { render } from "preact";
import { SignIn } from "../sign-in/sign-in.ts";
import { App } from "./app.tsx";

const signIn = new SignIn(new URL(".", location.href));
const place = document.getElementById("console");
if (place === null) throw new Error("The page has no #console");
void signIn.askOtherPages().then(() => render(<App signIn={signIn} />, place));
