// Tells whether a Docker daemon answers: the program alone builds nothing.

import { runCommand } from "../parts/run-command.ts";

export async function dockerAnswers(): Promise<boolean> {
  return (await runCommand("docker", ["version", "--format", "{{.Server.Version}}"], { timeout: 20_000 })).code === 0;
}
