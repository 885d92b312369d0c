// Asks for a part that files of a run share, over the socket of their vitest's global set-up: each
// file runs in a process of its own.

import { request } from "node:http";

/** Of the environment: the path of the socket. */
export const partsVariable = "JSONPLANE_TEST_PARTS";

/** Resolves once the part is up; rejects with the reason when it can't be. */
export function askParts<Answer>(path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: process.env[partsVariable], path }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as Answer);
        else reject(new Error(`The shared part ${path} could not be had: ${text}`));
      });
    });
    asked.on("error", reject);
    asked.end();
  });
}
