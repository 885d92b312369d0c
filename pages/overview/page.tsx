// The overview of dev mode: follows its state and shows it.

import { render } from "preact";
import { App } from "./app.tsx";

const place = document.getElementById("overview");
if (place === null) throw new Error("The page has no #overview");
render(<App />, place);
