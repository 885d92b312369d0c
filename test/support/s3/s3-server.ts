// Starts an S3 server with one empty bucket for tests, in memory, on a free port of 127.0.0.1. It
// takes only what is signed with its credentials.

import { connect } from "node:net";
import { join } from "node:path";
import { requirePart } from "../../../tools/parts/part.ts";
import { s3Server } from "../../../tools/parts/s3.ts";
import { freePort } from "../process/free-port.ts";
import { startPart } from "../process/part-process.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

export interface TestS3 {
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

export async function startS3(): Promise<TestS3> {
  const credentials = { bucket: "backups", accessKeyId: "a-test", secretAccessKey: "of tests/+=" };
  const folder = temporaryFolder("jsonplane-s3-");
  const port = await freePort();
  const part = await startPart({
    name: "s3",
    program: await requirePart(process.env, s3Server),
    args: [String(port), ...Object.values(credentials)],
    log: join(folder.path, "s3.log"),
    temporary: folder.path,
    isUp: () => listens(port),
  });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    ...credentials,
    async stop() {
      await part.end("SIGKILL");
      await folder.remove();
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.unref().on("connect", () => socket.destroy());
  });
}
