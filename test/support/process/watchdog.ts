// Makes sure that a child process never outlives the process that started it, however that one
// ends: a small shell waits for the end of a pipe which only this process holds, then kills the
// child, with its group when it leads one, and removes its temporary folder.

import { type ChildProcess, spawn } from "node:child_process";

export function guard(child: ChildProcess, temporaryFolder?: string): void {
  if (child.pid === undefined) return;
  // A sibling that its own watchdog has not killed yet may still write into the folder, so that it
  // has to go more than once.
  const script =
    'read -r _; kill -KILL -- "-$1" 2>/dev/null || kill -KILL "$1" 2>/dev/null; for _ in 1 2 3 4 5 6 7 8 9 10; do [ -n "$2" ] || break; sleep 1; rm -rf -- "$2"; done';
  const dog = spawn("sh", ["-c", script, "watchdog", String(child.pid), temporaryFolder ?? ""], {
    // Its own group, so that Ctrl-C in a terminal, which goes to the whole group, leaves it alive
    // to do its work.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // An unwatched pipe and process don't keep a finished test run alive.
  dog.unref();
  if (dog.stdin && "unref" in dog.stdin && typeof dog.stdin.unref === "function") dog.stdin.unref();
  child.once("exit", () => dog.kill("SIGKILL"));
}
