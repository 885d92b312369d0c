#!/usr/bin/env node
// The program's entry: checks that this Node can run it, then hands the command line over.

const oldest = 24;
const endOfUnread = 141;
const major = Number(process.versions.node.split(".", 1)[0]);

// Output that nobody reads any more, as after `| head`, ends it as SIGPIPE would.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(endOfUnread);
  });
}

if (major < oldest) {
  process.stderr.write(
    `jsonplane needs Node ${oldest} or newer, this is ${process.version}: https://nodejs.org/en/download has it\n`,
  );
  process.exitCode = 1;
} else {
  const [{ runCommandLine }, { commands }] = await Promise.all([import("./command-line.ts"), import("./commands.ts")]);
  process.exitCode = await runCommandLine(commands, process.argv.slice(2), {
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
    environment: process.env,
  });
}

// What a command that failed half-way has left open must not keep the program alive.
setTimeout(() => process.exit(), 1_000).unref();

export {};
