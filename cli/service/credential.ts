// Reads the credential that requests send from its file, each time: what mounts or renews tokens
// writes new ones there. Refuses with ServiceRefused a file that has none at the start.

import { readFile } from "node:fs/promises";
import { ServiceRefused } from "./service.ts";

export interface CredentialFiles {
  readonly apiKeyFile?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** Returns what reads the value of the Authorization header. */
export function credentialFrom({ apiKeyFile, tokenFile }: CredentialFiles): () => Promise<string | undefined> {
  if (apiKeyFile !== undefined && tokenFile !== undefined) {
    throw new ServiceRefused("--api-key-file and --token-file can't be used together");
  }
  if (apiKeyFile !== undefined) return followed("--api-key-file", apiKeyFile, "apikey");
  if (tokenFile !== undefined) return followed("--token-file", tokenFile, "bearer");
  return async () => undefined;
}

function followed(flag: string, file: string, scheme: string): () => Promise<string> {
  let last: string | undefined;
  return async () => {
    try {
      last = `${scheme} ${await readCredential(file)}`;
    } catch (cause) {
      // A pipe can be read once, and a file may be in the middle of being replaced.
      if (last === undefined) {
        throw new ServiceRefused(`${flag} ${file} can't be used: ${(cause as Error).message}`, { cause });
      }
    }
    return last;
  };
}

/** Without white space around it; its message says nothing of what is in the file. */
async function readCredential(file: string): Promise<string> {
  const text = (await readFile(file, "utf8")).trim();
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new Error(text === "" ? "it is empty" : "it has more than one word, which no key or token has");
}
