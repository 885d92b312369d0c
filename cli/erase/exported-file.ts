// The file of --export, which is there only once it is complete. Throws ServiceRefused where it
// exists already or can't be written.

import { type FileHandle, open, rm } from "node:fs/promises";
import { ServiceRefused } from "../service/service.ts";

export class ExportedFile {
  readonly #path: string;
  readonly #file: FileHandle;
  #size = 0;
  #isComplete = false;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Nobody else may read it: it has personal data. */
  static async create(path: string): Promise<ExportedFile> {
    return new ExportedFile(path, await orRefused(path, open(path, "wx", 0o600)));
  }

  /** Whatever was written before is dropped. */
  async begin(): Promise<void> {
    this.#size = 0;
    await orRefused(this.#path, this.#file.truncate());
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await orRefused(this.#path, this.#file.write(bytes, at, undefined, this.#size));
      at += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  /** On the disk: what is in it may be deleted next. */
  async complete(): Promise<void> {
    await orRefused(this.#path, this.#file.sync());
    this.#isComplete = true;
  }

  async close(): Promise<void> {
    await this.#file.close();
    if (!this.#isComplete) await rm(this.#path, { force: true });
  }
}

async function orRefused<T>(path: string, doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (cause) {
    throw new ServiceRefused(`--export ${path} can't be written: ${(cause as Error).message}`, { cause });
  }
}
