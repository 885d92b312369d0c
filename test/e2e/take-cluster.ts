// Which cluster it is: the one that KUBECONFIG names together with JSONPLANE_IMAGE, an image that its nodes have or can pull; else one
// of our own.

export interface ClusterInHand {
  readonly kubeconfig: string;
  readonly images: {
    readonly current: string;
    /** What is upgraded to: another name, which need not be another content. */
    readonly next: string;
    readonly redis: string;
  };
  stop(): Promise<void>;
}

export async function takeCluster(env: NodeJS.ProcessEnv): Promise<ClusterInHand> {
  const kubeconfig = env["KUBECONFIG"];
  const current = env["JSONPLANE_IMAGE"];
  if (kubeconfig === undefined || current === undefined) throw new Error("set KUBECONFIG and JSONPLANE_IMAGE");
  return {
    kubeconfig,
    images: {
      current,
      next: env["JSONPLANE_NEXT_IMAGE"] ?? current,
      redis: env["JSONPLANE_REDIS_IMAGE"] ?? "redis:8.6",
    },
    stop: async () => undefined,
  };
}
