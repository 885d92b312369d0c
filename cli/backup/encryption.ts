// Encrypts and decrypts files as age does (age-encryption.org/v1), so that the program `age` can,
// too. A backup needs recipients only, which are public.

import { readFile } from "node:fs/promises";
import { ReadableStream as NodeReadableStream } from "node:stream/web";
import { Decrypter, Encrypter } from "age-encryption";
import { StartRefused } from "../start-refused.ts";

type Bytes = AsyncIterable<Uint8Array>;
type Transform = (content: Bytes) => Bytes;

/** Throws StartRefused for what is no recipient. */
export function encryptionTo(recipients: readonly string[]): Transform {
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (cause) {
      throw new StartRefused(
        `${JSON.stringify(recipient)} is no recipient: name the public key that age-keygen prints, age1…`,
        {
          cause,
        },
      );
    }
  }
  return async function* (content) {
    yield* chunksOf(await encrypter.encrypt(streamOf(content)));
  };
}

/** `file` as age-keygen writes it. Throws StartRefused. */
export async function decryptionWith(file: string): Promise<Transform> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new StartRefused(`The identity file ${file} can't be read`, { cause });
  });
  const decrypter = new Decrypter();
  const lines = text.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
  try {
    for (const line of lines) decrypter.addIdentity(line);
  } catch (cause) {
    throw new StartRefused(`The identity file ${file} holds something else than lines AGE-SECRET-KEY-1…`, { cause });
  }
  return async function* (content) {
    yield* chunksOf(await decrypter.decrypt(streamOf(content)));
  };
}

/** The same classes, of which Node's types know more than those of browsers. */
function streamOf(content: Bytes): ReadableStream<Uint8Array> {
  return NodeReadableStream.from(content) as unknown as ReadableStream<Uint8Array>;
}

function chunksOf(stream: ReadableStream<Uint8Array>): Bytes {
  return stream as unknown as NodeReadableStream<Uint8Array>;
}
