// Runs in the browser: gets the project's openapi.json, asks for credentials where it needs some, and hands it to the viewer. Whatever a
// person enters stays in this script's variables; it goes to this project's own address and nowhere else.

/** @type {{ scheme: "apikey" | "bearer", authorization: string, name: string, refreshToken?: string, session?: string } | undefined} */
let credential;
/** What the viewer shows, and for which credential. */
let shown;

/** Without it a browser answers a Basic challenge with a dialog of its own, and remembers what is entered there. */
const omit = { credentials: "omit" };
const here = new URL(".", location.href);
const element = (id) => document.getElementById(id);

/** Adds the credential to what goes to this project, unless the request has one of its own; an expired token is replaced once. */
async function send(input, init) {
  const request = new Request(input, { ...init, ...omit });
  // The viewer sends what its examples show: the name of a scheme, with a placeholder or alone.
  const isEmpty = /^\s*\w*\s*(YOUR_\w+)?\s*$/.test(request.headers.get("Authorization") ?? "");
  if (isEmpty) request.headers.delete("Authorization");
  const isOwn = request.url.startsWith(here.href) && isEmpty;
  if (!isOwn || credential === undefined) return fetch(request);
  const again = request.clone();
  request.headers.set("Authorization", credential.authorization);
  const answer = await fetch(request);
  if (answer.status !== 401 || !(await refreshed())) return answer;
  again.headers.set("Authorization", credential.authorization);
  return fetch(again);
}

async function refreshed() {
  const { refreshToken } = credential;
  if (refreshToken === undefined) return false;
  const answer = await fetch("sessions/refresh", {
    ...omit,
    method: "POST",
    headers: { Authorization: `bearer ${refreshToken}` },
  });
  if (!answer.ok) return false;
  credential.authorization = `bearer ${(await answer.json()).access_token}`;
  return true;
}

/** Shows the reference, or asks for credentials; `problem` is what was wrong with the last ones. */
async function open() {
  say("");
  const answer = await send("openapi.json");
  if (answer.ok) {
    await show(await answer.json());
    return true;
  }
  const { status, title, detail } = await answer.json().catch(() => ({ status: answer.status, title: "No answer" }));
  if (status === 401) ask("The description of this API is for its users and keys.");
  else say(`${title}. ${detail ?? ""}`);
  return false;
}

async function show(description) {
  await viewer();
  element("gate").hidden = true;
  element("reference").hidden = false;
  element("who").textContent = credential === undefined ? "Not signed in" : credential.name;
  element("sign-in").hidden = credential !== undefined;
  element("sign-out").hidden = credential === undefined;
  document.title = `${description.info.title}: API reference`;
  if (shown !== undefined && shown.credential === credential) return;
  const configuration = {
    content: asSignedIn(description),
    authentication: { securitySchemes: placeholders },
    customFetch: sendAndShow,
    persistAuth: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    withDefaultFonts: false,
    hideClientButton: true,
    showDeveloperTools: "never",
    documentDownloadType: "json",
    hideModels: false,
    defaultOpenFirstTag: true,
    metaData: { title: `${description.info.title}: API reference` },
  };
  const made = shown?.viewer ?? globalThis.Scalar.createApiReference("#reference", configuration);
  if (shown !== undefined) made.updateConfiguration(configuration);
  shown = { viewer: made, credential, description };
}

/** What examples show in place of a secret: the viewer never has one, and page.css hides its own fields for them. */
const placeholders = {
  apikey: { value: "apikey YOUR_API_KEY" },
  bearer: { token: "YOUR_ACCESS_TOKEN" },
  refresh: { token: "YOUR_REFRESH_TOKEN" },
};

/** The description with one way to show who calls, the one signed in with: the viewer's examples take the first, or none where that may be. */
function asSignedIn(description) {
  const copy = structuredClone(description);
  if (credential === undefined) return copy;
  for (const operations of Object.values(copy.paths)) {
    for (const operation of Object.values(operations)) {
      const own = operation.security?.filter((each) => credential.scheme in each) ?? [];
      if (own.length > 0) operation.security = own;
    }
  }
  return copy;
}

/** On a narrow screen the answer is below all parameters: without this, nothing shows that it came. */
async function sendAndShow(input, init) {
  const answer = await send(input, init);
  setTimeout(() => {
    if (!matchMedia("(width < 1280px)").matches) return;
    document.querySelector("[role=dialog] section[aria-label=Response]")?.scrollIntoView({ block: "start" });
  }, 100);
  return answer;
}

/** The viewer would save what it was shown; a person wants the description as it is served. */
function saveDescription(event) {
  if (event.target.closest(".download-container") === null) return;
  event.preventDefault();
  event.stopPropagation();
  const link = document.createElement("a");
  link.download = "openapi.json";
  link.href = URL.createObjectURL(new Blob([JSON.stringify(shown.description, null, 2)], { type: "application/json" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Loaded when there is something to show: it is large. */
function viewer() {
  if (globalThis.Scalar !== undefined) return Promise.resolve();
  const script = document.createElement("script");
  script.src = document.querySelector("meta[name=viewer]").content;
  const loaded = new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error("The viewer could not be loaded")));
  });
  document.head.append(script);
  return loaded;
}

function ask(why) {
  element("why").textContent = why;
  element("gate").hidden = false;
  element("back").hidden = shown === undefined;
  element("reference").hidden = true;
  element("sign-in").hidden = true;
  element("key").focus();
}

function say(text) {
  element("message").textContent = text;
}

/** Keeps a credential only when it opens the reference. */
async function use(made) {
  credential = made;
  if (await open()) for (const form of document.forms) form.reset();
  else {
    credential = undefined;
    say("These credentials were not accepted.");
  }
}

element("with-key").addEventListener("submit", (event) => {
  event.preventDefault();
  void use({ scheme: "apikey", authorization: `apikey ${element("key").value.trim()}`, name: "Signed in with a key" });
});

element("with-password").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = element("username").value;
  const bytes = new TextEncoder().encode(`${name}:${element("password").value}`);
  const basic = btoa(String.fromCharCode(...bytes));
  const headers = { Authorization: `Basic ${basic}` };
  const answer = await fetch("sessions", { ...omit, method: "POST", headers });
  const reply = await answer.json();
  if (!answer.ok) {
    // The detail of a 401 is for programs: how to write the header.
    say(answer.status === 401 ? "User name or password is wrong." : `${reply.title}. ${reply.detail}`);
    return;
  }
  const { access_token, refresh_token, session_id } = reply;
  await use({
    scheme: "bearer",
    authorization: `bearer ${access_token}`,
    name,
    refreshToken: refresh_token,
    session: session_id,
  });
});

element("reference").addEventListener("click", saveDescription, { capture: true });
element("sign-in").addEventListener("click", () => ask("Requests that you try are sent with what you enter here."));
element("back").addEventListener("click", () => void open());
element("sign-out").addEventListener("click", async () => {
  const { session } = credential;
  if (session !== undefined) await send(`sessions/${session}`, { method: "DELETE" });
  credential = undefined;
  // The viewer remembers what it was shown; a new page does not.
  location.reload();
});

void open();
