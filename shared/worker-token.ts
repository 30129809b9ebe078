/** The tokens by which the workers of a node identify themselves. All come from the node's token. */

/** Maximum number of workers of a node. */
export const WORKERS_MAX = 128;

const WORKER_TOKEN = /^(gnt_[0-9A-Za-z]+)-([1-9][0-9]{0,2})$/;

/** The token of a worker. Worker 1 has the node's token, as a node without workers has. */
export function workerToken(nodeToken: string, worker: number): string {
  return worker === 1 ? nodeToken : `${nodeToken}-${worker}`;
}

/** The node's token and the worker of a token. Worker numbers above WORKERS_MAX stay part of the token. */
export function splitWorkerToken(token: string): { nodeToken: string; worker: number } {
  const [, nodeToken, number] = WORKER_TOKEN.exec(token) ?? [];
  const worker = Number(number);
  return nodeToken && worker > 1 && worker <= WORKERS_MAX
    ? { nodeToken, worker }
    : { nodeToken: token, worker: 1 };
}
