// Faults of the plans that are kept for later requests: each would let a request go by what is no longer true, or by what is another
// request's.

import type { Mutation } from "../mutation.ts";

const pipeline = "dataplane/pipeline.ts";
const keptPlans = "dataplane/operation/kept-plans.ts";
const target = "dataplane/route/request-target.ts";
const authentication = "dataplane/authenticate/create-authentication.ts";
const redisDirectory = "dataplane/config/redis-directory.ts";
const loadedProjects = "dataplane/config/loaded-projects.ts";
const histories = "test/http/kept-plans.test.ts";
const keptTests = "test/unit/dataplane/operation/kept-plans.test.ts";
const targetTests = "test/unit/dataplane/route/request-target.test.ts";
const followed = "test/store/plans-of-followed-projects.test.ts";

export const planMutations: readonly Mutation[] = [
  {
    name: "plans-outlive-a-revoked-key",
    harm: "An API key that was revoked goes on working on replicas where it was used",
    file: redisDirectory,
    find: "    listeners.report(name);\n",
    replace: "",
    caughtBy: [followed],
  },
  {
    name: "plans-outlive-a-change-in-dev-mode",
    harm: "A changed policy does not reach callers who asked before",
    file: "dataplane/config/memory-directory.ts",
    find: "for (const name of changed) listeners.report(name);",
    replace: "for (const name of changed) if (!next.entries.has(name)) listeners.report(name);",
    caughtBy: [histories],
  },
  {
    name: "plans-outlive-a-changed-project",
    harm: "A project's new configuration does not reach callers who asked before, and what left memory stays in it",
    file: loadedProjects,
    find: "(name) => deps.onChange(name)",
    replace: "() => undefined",
    caughtBy: [followed],
  },
  {
    name: "project-of-plans-leaves-memory",
    harm: "The project that is asked most is loaded again and again, because nobody looks it up",
    file: pipeline,
    find: "  deps.directory.noteUse(plan.project);\n",
    replace: "",
    caughtBy: [followed],
  },
  {
    name: "plans-of-all-projects-dropped",
    harm: "Each change of one tenant slows down all others",
    file: keptPlans,
    find: "for (const each of ofProject.get(project) ?? []) remove(each);",
    replace: "if (project !== undefined) for (const each of [...kept.values()]) remove(each);",
    caughtBy: [keptTests],
  },
  {
    name: "plans-kept-that-were-decided-before-a-change",
    harm: "A request that was under way while a key was revoked lets it work on",
    file: keptPlans,
    find: "if (before !== generation) return;",
    replace: "if (before > generation) return;",
    caughtBy: [keptTests],
  },
  {
    name: "expiry-ignored-by-plans",
    harm: "An API key or access token that was used works on after it has expired",
    file: authentication,
    find: "holds: (proof) => isInTime(proof) &&",
    replace: "holds: (proof) => proof.validFrom <= clock.now() &&",
    caughtBy: [histories],
  },
  {
    name: "clock-put-back-ignored-by-plans",
    harm: "A token of a clock that was ahead works until that time, where it was used",
    file: authentication,
    find: "holds: (proof) => isInTime(proof) &&",
    replace: "holds: (proof) => clock.now() < proof.validUntil &&",
    caughtBy: [histories],
  },
  {
    name: "ended-sessions-ignored-by-plans",
    harm: "The access token of a session that was ended works on where it was used",
    file: authentication,
    find: ' && !(proof.caller.kind === "user" && ended.has(proof.caller.sessionId)),',
    replace: ",",
    caughtBy: [histories],
  },
  {
    name: "plan-of-another-method",
    harm: "A write is carried out by the plan of a read, and HEAD is counted as GET",
    file: target,
    find: "{request.method}\\n",
    replace: '{"GET"}\\n',
    caughtBy: [targetTests, histories],
  },
  {
    name: "plan-of-another-host",
    harm: "Links lead to the host of another caller's request",
    file: target,
    find: "{host}\\n",
    replace: '{""}\\n',
    caughtBy: [targetTests, histories],
  },
  {
    name: "plan-of-another-scheme",
    harm: "Links behind a proxy lead to http where the client used https",
    file: target,
    find: 'request.protocol === "https" ? "https" : "http"',
    replace: 'request.protocol === "wss" ? "https" : "http"',
    caughtBy: [targetTests, histories],
  },
  {
    name: "plan-of-the-former-holder",
    harm: "A host that another project claimed is answered by the project that gave it up",
    file: target,
    find: '{holder ?? ""}',
    replace: '{""}',
    caughtBy: [targetTests],
  },
  {
    name: "plan-of-another-query",
    harm: "A list is answered by another query",
    file: target,
    find: "{query}`",
    replace: '{""}`',
    caughtBy: [targetTests, histories],
  },
  {
    name: "plan-of-another-caller",
    harm: "Every caller has the rights of the one that sent the first request",
    file: target,
    find: "{credential}\\n",
    replace: '{""}\\n',
    caughtBy: [targetTests, histories],
  },
  {
    name: "plan-of-nobody-for-an-empty-header",
    harm: "A request with an empty Authorization header is served where it is to be refused",
    file: target,
    find: 'authorization === undefined ? "" :',
    replace: '(authorization ?? "") === "" ? "" :',
    caughtBy: [targetTests],
  },
  {
    name: "plan-of-a-collection-for-an-object",
    harm: "A request for one object is answered by the list",
    file: target,
    find: 'subPath.length > 0 ? "/" : ""',
    replace: 'subPath.length < 0 ? "/" : ""',
    caughtBy: [targetTests, histories],
  },
  {
    name: "late-bodies-go-by-what-was",
    harm: "A client that sends its body slowly writes with a key that was revoked, and into data that were purged",
    file: pipeline,
    find: "  if (generation === deps.plans.generation() && (",
    replace: "  if (generation !== -1 && (",
    caughtBy: ["test/http/late-bodies.test.ts"],
  },
  {
    name: "late-bodies-of-ended-sessions",
    harm: "A client that sends its body slowly writes after its session was ended",
    file: pipeline,
    find: "deps.authentication.holds(proof))) return plan;",
    replace: "deps.plans !== undefined)) return plan;",
    caughtBy: ["test/http/late-bodies.test.ts"],
  },
  {
    name: "passwords-kept-in-plans",
    harm: "Authorization headers that were meant for a proxy, passwords among them, stay in memory",
    file: pipeline,
    find: "  if (!isProved && exchange.request.headers.authorization !== undefined) return plan;\n",
    replace: "  if (!isProved && exchange.request.method === undefined) return plan;\n",
    caughtBy: [histories],
  },
  {
    name: "floods-push-plans-out",
    harm: "Requests with made-up queries slow down everybody else",
    file: keptPlans,
    find: "if (each.isUsed) each.isUsed = false;",
    replace: "if (each.isUsed && bytes < 0) each.isUsed = false;",
    caughtBy: [keptTests],
  },
  {
    name: "plans-without-a-bound",
    harm: "Made-up queries fill a replica's memory",
    file: keptPlans,
    find: "    makeRoom(each.bytes);\n",
    replace: "",
    caughtBy: [keptTests],
  },
  {
    name: "signatures-checked-with-each-plan",
    harm: "Each change in a project has the signatures of all its tokens checked again",
    file: "dataplane/authenticate/tokens.ts",
    find: 'if (claims !== undefined && use === "access")',
    replace: 'if (claims !== undefined && use === "refresh")',
    caughtBy: ["test/unit/dataplane/authenticate/verify-access-token.test.ts"],
  },
];
