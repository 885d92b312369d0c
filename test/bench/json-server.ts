// json-server, the peer that front-end developers start from, over a file of as many books as it is told. Prints its port.

import jsonServer from "json-server";
import { bookText } from "./subjects.ts";

const [count = "1000"] = process.argv.slice(2);
const books = Array.from({ length: Number(count) }, (_, index) => ({ id: index, ...JSON.parse(bookText(index)) }));
const app = jsonServer.create();
app.use(jsonServer.bodyParser);
app.use(jsonServer.router({ books }));
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${JSON.stringify({ port: typeof address === "object" ? address?.port : 0 })}\n`);
});
