// `npm run trace -- METHOD URL`: prints the files and functions of the product that one warm
// request runs, in order, by room. A path alone is asked of dev mode with the examples, started for
// it; a whole URL of a running replica, whose inspector --inspector names. Without a request five
// usual ones, the first of which --write puts into docs/ARCHITECTURE.md. `npm run trace --
// operator`: likewise of a change of a ProjectUser.

import { readArguments, WrongArguments } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { formatTrace } from "./format-trace.ts";
import { connectInspector } from "./inspector.ts";
import { writeShown } from "./page.ts";
import { formatShown, formatTraces, traceShownRequests } from "./shown-requests.ts";
import { trace } from "./trace.ts";
import { formatChange, traceChange } from "./traced-change.ts";
import { startTracedDev } from "./traced-dev.ts";
import { senderOf, warmUpsOfRequest } from "./traced-request.ts";

startScript("npm run trace");
const { values, words } = readArguments(
  {
    header: { type: "string", short: "H", multiple: true },
    body: { type: "string" },
    key: { type: "string" },
    inspector: { type: "string" },
    write: { type: "boolean" },
  },
  ["[METHOD]", "[URL]"],
);
const [method, url] = words;
const defaultInspector = "127.0.0.1:9229";

if (method === undefined) await traceShown();
else if (method === "operator") await traceInOperator();
else if (url === undefined)
  throw new WrongArguments("It takes a method and a URL, as in `GET /default/bookshop/api/books`");
else if (url.startsWith("/")) await traceInDev(method, url);
else await traceIn(values.inspector ?? defaultInspector, { method, url, headers: sentHeaders() });

async function traceShown(): Promise<void> {
  const traces = await traceShownRequests();
  process.stdout.write(formatTraces(traces));
  if (values.write) await writeShown(formatShown(traces));
}

async function traceInOperator(): Promise<void> {
  process.stdout.write(formatChange(await traceChange()));
}

async function traceInDev(asked: string, path: string): Promise<void> {
  const dev = await startTracedDev();
  try {
    const headers = sentHeaders();
    if (values.key !== undefined) headers["authorization"] = `apikey ${await dev.apiKey(values.key)}`;
    await traceIn(dev.inspector, { method: asked, url: dev.url + path, headers });
  } finally {
    await dev.stop();
  }
}

async function traceIn(
  address: string,
  request: { readonly method: string; readonly url: string; readonly headers: Readonly<Record<string, string>> },
): Promise<void> {
  const inspector = await connectInspector(address);
  const traced = await trace(inspector, {
    ask: senderOf({ ...request, body: values.body }),
    warmUps: warmUpsOfRequest,
  });
  inspector.close();
  process.stdout.write(formatTrace(`${request.method} ${new URL(request.url).pathname}`, traced));
}

function sentHeaders(): Record<string, string> {
  const named = (values.header ?? []).map((line) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new WrongArguments(`-H is ${JSON.stringify(line)}: it takes a header, as in -H 'Accept: */*'`);
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { ...(values.body !== undefined && { "content-type": "application/json" }), ...Object.fromEntries(named) };
}
