// `npm run bare-machine [-- --whole] [-- --warm-go]`: the two commands as on a machine that has
// nothing of ours. A fresh clone of HEAD, an empty HOME, empty caches, no environment, and a PATH
// of this system's own programs without any that a part could be. It runs `make run` and asks the
// API, then brings the parts and runs a few test files on each kind of them; --whole runs all of
// `make test` instead. --warm-go lets Go keep what it compiled before, which saves some ten
// minutes. Prints each command with its time; exits 1 when one fails.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onPath } from "../../tools/parts/programs.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { readArguments } from "../../tools/script-arguments.ts";
import { ScriptFailed, startScript } from "../../tools/start-script.ts";
import { send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Debian's own programs; /usr/local and whatever a person added are left out. */
const systemFolders = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
/** Programs that a part would be found as, which a bare machine doesn't have. */
const hidden = [
  ...["redis-*", "kube*", "etcd*", "helm", "glua", "coredns", "metrics-server", "prometheus", "promtool"],
  ...["openapi-typescript", "schemathesis", "kind", "docker"],
];
const hiddenNames = new RegExp(`^(${hidden.join("|").replaceAll("*", ".*")})$`);
/** How this machine reaches package registries is no part of what is tried. */
const kept =
  /^((https?|all|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_.*|.*_CA_BUNDLE|PIP_.*|GO(PROXY|SUMDB|NOSUMDB|PRIVATE)|LANG)$/i;
/**
 * One file of each kind of part: Redis, a Kubernetes fleet, Helm and Lua, Prometheus, a browser.
 */
const someFiles: readonly (readonly [group: string, file: string])[] = [
  ["store", "test/store/lua"],
  ["operator", "test/operator/journey.test.ts"],
  ["chart", "test/chart/notes.test.ts"],
  ["chart", "test/chart/gitops-health.test.ts"],
  ["observability", "test/observability/rules.test.ts"],
  ["process", "test/process/docs-page.test.ts"],
];

const script = startScript("npm run bare-machine");
const { values: options } = readArguments({ whole: { type: "boolean" }, "warm-go": { type: "boolean" } });

interface BareMachine {
  readonly clone: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

async function bareMachine(): Promise<BareMachine> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-bare-"));
  const clone = join(folder, "jsonplane");
  const bin = join(folder, "bin");
  const home = join(folder, "home");
  await mkdir(bin);
  await mkdir(home);
  await requireSuccess("git", ["clone", "--quiet", root, clone]);
  for (const path of systemFolders) await linkPrograms(path, bin);
  await writeAptGet(bin);
  for (const name of ["go", "node", "npm"]) await linkProgram(onPath(name, process.env), join(bin, name));
  const goCaches = options["warm-go"] ? await goFolders() : {};
  return {
    clone,
    env: { ...keptVariables(), ...goCaches, HOME: home, PATH: bin, TMPDIR: tmpdir() },
    // Go makes its modules read-only.
    async remove() {
      await runCommand("chmod", ["-R", "u+w", folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function linkPrograms(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (hiddenNames.test(name) || name === "go") continue;
    await linkProgram(join(from, name), join(to, name));
  }
}

async function linkProgram(from: string | undefined, to: string): Promise<void> {
  if (from === undefined) return;
  await symlink(from, to).catch((error: NodeJS.ErrnoException) => {
    // An earlier folder of the PATH has it.
    if (error.code !== "EEXIST") throw error;
  });
}

/** Replaces apt-get by a script that runs it, and then links the programs that it brought. */
async function writeAptGet(bin: string): Promise<void> {
  const aptGet = join(bin, "apt-get");
  await rm(aptGet, { force: true });
  const script = `#!/bin/sh
/usr/bin/apt-get "$@"
code=$?
for program in ${systemFolders.map((folder) => `${folder}/*`).join(" ")}; do
  name=\${program##*/}
  case "$name" in ${hidden.join("|")}|go) continue ;; esac
  [ -e "${bin}/$name" ] || ln -sf "$program" "${bin}/$name"
done
exit $code
`;
  await writeFile(aptGet, script, { mode: 0o755 });
}

async function goFolders(): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await runCommand("go", ["env", "-json", "GOCACHE", "GOMODCACHE"]);
  return JSON.parse(stdout) as Readonly<Record<string, string>>;
}

function keptVariables(): Readonly<Record<string, string>> {
  const entries = Object.entries(process.env).filter(([name]) => kept.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? ""]));
}

async function requireSuccess(command: string, args: readonly string[]): Promise<void> {
  const done = await runCommand(command, args);
  if (done.code !== 0) throw new ScriptFailed(`${command} ${args.join(" ")}: ${done.stderr}`);
}

/** Runs a command in the clone, shows what it prints, and throws when it fails. */
async function run({ clone, env }: BareMachine, command: string, ...args: readonly string[]): Promise<void> {
  const started = performance.now();
  console.log(`\n$ ${command} ${args.join(" ")}`);
  const child = spawn(command, args, { cwd: clone, env, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "close");
  console.log(`(${((performance.now() - started) / 60_000).toFixed(1)} min)`);
  if (code !== 0) throw new ScriptFailed(`${command} ${args.join(" ")} ended with ${code}`);
}

/** `make run` serves the examples, and Ctrl-C ends it with 0. */
async function serveExamples({ clone, env }: BareMachine): Promise<void> {
  console.log("\n$ make run");
  const ports = { JSONPLANE_PORT: String(await freePort()), JSONPLANE_ADMIN_PORT: String(await freePort()) };
  const child = spawn("make", ["run"], {
    cwd: clone,
    env: { ...env, ...ports },
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  try {
    await answers(`http://127.0.0.1:${ports.JSONPLANE_PORT}`, child);
  } finally {
    // The whole group, as a terminal's Ctrl-C does.
    process.kill(-(child.pid ?? 0), "SIGINT");
  }
  if (child.exitCode === null) await once(child, "exit");
}

async function answers(origin: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + 15 * 60_000;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new ScriptFailed(`make run ended with ${child.exitCode}`);
    const reply = await send(origin, "/default/bookshop/api/books").catch(() => undefined);
    if (reply?.status === 200) {
      console.log(`GET /default/bookshop/api/books: 200 ${reply.text}`);
      return;
    }
    await sleep(500);
  }
  throw new ScriptFailed("make run did not serve the examples within 15 minutes");
}

const machine = await bareMachine();
script.onInterrupt(() => machine.remove());
try {
  await serveExamples(machine);
  if (options.whole) await run(machine, "make", "test");
  else {
    await run(machine, "make", "parts");
    for (const [group, file] of someFiles) await run(machine, "npm", "run", "--silent", "test", "--", group, file);
  }
  console.log("\nA bare machine runs both commands");
} finally {
  await machine.remove();
}
