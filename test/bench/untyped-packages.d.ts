// The parts of two untyped packages that the benchmark uses.

declare module "autocannon" {
  interface Options {
    url: string;
    method?: "GET" | "PUT";
    headers?: Record<string, string>;
    body?: string;
    connections: number;
    /** Seconds. */
    duration: number;
    /** Seconds until a request without an answer is an error. */
    timeout?: number;
    requests?: { path: string; body: string }[];
  }
  interface Result {
    non2xx: number;
    errors: number;
    requests: { average: number; total: number };
    latency: { p50: number; p99: number };
  }
  function autocannon(options: Options): Promise<Result>;

  // biome-ignore lint/style/noDefaultExport: the package exports so
  export { autocannon as default };
}

declare module "json-server" {
  import type { RequestListener, Server } from "node:http";

  interface App {
    use(handler: RequestListener | RequestListener[]): void;
    listen(port: number, host: string, ready: () => void): Server;
  }
  const jsonServer: {
    create(): App;
    bodyParser: RequestListener[];
    router(data: object): RequestListener;
  };

  // biome-ignore lint/style/noDefaultExport: the package exports so
  export { jsonServer as default };
}
