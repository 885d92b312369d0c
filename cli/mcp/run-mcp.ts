// Runs `jsonplane mcp` until its standard input ends, as hosts end it, or a signal comes. Standard
// output has nothing but messages of the protocol. Exit code 1 where there is no URL or credential
// to begin with; whether the project answers, the tools say.

import { version } from "../command-line.ts";
import { runProgram } from "../run-program.ts";
import { type CredentialFiles, credentialFrom } from "../service/credential.ts";
import { note } from "../service/notes.ts";
import { serviceProgram } from "../service/refusal.ts";
import { baseUrlOf, ServiceRefused } from "../service/service.ts";

export async function runMcp(
  text: string,
  { allowWrites, ...files }: CredentialFiles & { readonly allowWrites: boolean },
): Promise<number> {
  return await runProgram(serviceProgram, async (cleanup) => {
    const url = baseUrlOf(text);
    const authorization = credentialFrom(files);
    await authorization();
    const [{ createMcpServer }, { serveStdio, StdioServerTransport }] = await Promise.all([
      import("./server.ts"),
      import("@modelcontextprotocol/server/stdio"),
    ]).catch(refuseWithoutPackages);
    const server = () => createMcpServer({ url, authorization, allowWrites, version: version() });
    const closed = Promise.withResolvers<void>();
    const transport = new (class extends StdioServerTransport {
      override async close(): Promise<void> {
        await super.close();
        closed.resolve();
      }
    })();
    const serving = serveStdio(server, { transport, onerror: ({ message }) => note(shortened(message)) });
    cleanup.add(() => serving.close());
    note(`Serving ${url} to an MCP client on standard input and output${allowWrites ? "" : ", for reading only"}`);
    return { ended: closed.promise.then(() => 0) };
  });
}

/** They are optional, and the image leaves them out. */
function refuseWithoutPackages(cause: unknown): never {
  if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
  throw new ServiceRefused(
    "The packages of `jsonplane mcp` are not installed here: the npm package jsonplane brings them, the image does not",
    { cause },
  );
}

const maxNote = 200;

/** What is wrong with a message is a page of JSON. */
function shortened(message: string): string {
  return message.replaceAll(/\s+/g, " ").slice(0, maxNote);
}
