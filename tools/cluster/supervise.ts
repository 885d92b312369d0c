// `node supervise.ts NUMBER`: the process behind a cluster of our own, for as long as it is up. It
// sets the machine up, starts the node in namespaces of its own, and passes connections from
// 127.0.0.1 on to its API server. On a signal it kills the node, which takes every process, mount
// and rule of it along. When it is killed itself, the node dies too.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { linkTo, setUp, tearDown } from "./host-setup.ts";
import { apiPort, type ClusterLayout, clusterLayout, nodeName, podNetwork, serviceNetwork } from "./layout.ts";

function startNode(layout: ClusterLayout): ChildProcess {
  // Who dies first takes the next one along: this process, unshare, the node.
  const die = ["--pdeathsig", "KILL"];
  const alone = ["unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child"];
  const script = fileURLToPath(new URL("node.sh", import.meta.url));
  return spawn("setpriv", [...die, ...alone, "sh", script], {
    stdio: ["ignore", "inherit", "inherit"],
    cwd: "/",
    env: {
      ...process.env,
      FOLDER: layout.folder,
      HOST_ADDRESS: layout.hostAddress,
      NODE_ADDRESS: layout.nodeAddress,
      NODE_NAME: nodeName,
      API_PORT: String(apiPort),
      POD_NETWORK: podNetwork,
      SERVICE_NETWORK: serviceNetwork,
    },
  });
}

async function forward(layout: ClusterLayout): Promise<Server> {
  const server = createServer((near: Socket) => {
    const far = connect(apiPort, layout.nodeAddress);
    // A connection that breaks on one side ends on the other; nobody else has to know.
    const end = () => {
      near.destroy();
      far.destroy();
    };
    near.on("error", end).on("close", end);
    far.on("error", end).on("close", end);
    near.pipe(far).pipe(near);
  });
  server.listen(layout.port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function supervise(layout: ClusterLayout): Promise<void> {
  for (const path of ["/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers"]) {
    await mkdir(join(layout.folder, "node", path), { recursive: true });
  }
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
  const server = await forward(layout);
  try {
    await setUp(layout);
    const node = startNode(layout);
    const ended = once(node, "exit");
    try {
      await once(node, "spawn");
      await linkTo(layout, node.pid ?? 0);
      await Promise.race([signalled, ended]);
    } finally {
      node.kill("SIGKILL");
      await ended;
    }
  } finally {
    server.close();
    await tearDown(layout);
  }
}

await supervise(clusterLayout(process.env, Number(process.argv[2])));
process.exit();
