// The overview of dev mode: follows its state and shows it.

import { render } from "preact";
import { App } from "./app.tsx";

const container = document.getElementById("overview");
if (container === null) throw new Error("The page has no #overview");
render(<App />, container);
