/**
 * Runs a pool on three real nodes under double load, and records when requests reach the upstream. A node and
 * the control plane are killed during the run.
 */
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { addUpstream, startHouse } from '../house.ts';
import type { House, HouseNode } from '../house.ts';
import { addPool } from '../house/pool.ts';
import type { HousePool } from '../house/pool.ts';
import { startUpstream } from '../upstream.ts';
import { worstMinute } from './simulate.ts';

export interface RunOptions {
  databaseUrl: string;
  rpmCap: number;
  /** Requests per minute over all nodes. */
  perMinute: number;
  /** Duration of each part in ms; a part without one is skipped. */
  steadyMs: number;
  nodeKilledMs?: number;
  controlAwayMs?: number;
  afterMs?: number;
}

/** One part of the run. */
export interface Part {
  name: string;
  minutes: number;
  /** Number of requests that reached the upstream. */
  reached: number;
  statuses: Record<number, number>;
}

export interface RunResult {
  parts: Part[];
  /** Largest number of requests that reached the upstream in any 60 s of the run. */
  worst: number;
  reached: number;
}

const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'budget',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
});
const MODEL = 'budget';
const NODES = 3;

/** Runs all parts one after the other and calls `onPart` after each. */
export async function runPermits(
  options: RunOptions,
  onPart: (part: Part) => void = () => undefined,
): Promise<RunResult> {
  const times: number[] = [];
  const upstream = await startUpstream(() => {
    times.push(performance.now());
    return { chunks: [ANSWER] };
  });
  const house = await startHouse({ databaseUrl: options.databaseUrl, nodes: NODES });
  try {
    await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: [MODEL] });
    const pool = await addPool(house, { model: MODEL, rpmCap: options.rpmCap });
    const parts: Part[] = [];
    for (const part of partsOf(house, options)) {
      const before = times.length;
      const statuses = await part.run(load(house.nodes, pool, options.perMinute));
      const done = { name: part.name, minutes: part.ms / 60_000, reached: times.length - before, statuses };
      parts.push(done);
      onPart(done);
    }
    return { parts, worst: worstMinute(times), reached: times.length };
  } finally {
    await house.stop();
    await upstream.close();
  }
}

type Load = (ms: number) => Promise<Record<number, number>>;

function partsOf(
  house: House,
  { steadyMs, nodeKilledMs, controlAwayMs, afterMs }: RunOptions,
): { name: string; ms: number; run(sendRequest: Load): Promise<Record<number, number>> }[] {
  return [
    { name: 'steady', ms: steadyMs, run: (sendRequest) => sendRequest(steadyMs) },
    ...(nodeKilledMs === undefined
      ? []
      : [
          {
            name: 'a node killed and started again',
            ms: nodeKilledMs,
            run: async (sendRequest: Load) => {
              const sent = sendRequest(nodeKilledMs);
              await house.nodes[1]?.process.kill();
              await sleep(2_000);
              await house.nodes[1]?.restart();
              return sent;
            },
          },
        ]),
    ...(controlAwayMs === undefined
      ? []
      : [
          {
            name: 'the control plane killed',
            ms: controlAwayMs,
            run: async (sendRequest: Load) => {
              await house.control.kill();
              return sendRequest(controlAwayMs);
            },
          },
        ]),
    ...(afterMs === undefined
      ? []
      : [
          {
            name: 'the control plane back',
            ms: afterMs,
            run: async (sendRequest: Load) => {
              const sent = sendRequest(afterMs);
              await house.restartControl();
              return sent;
            },
          },
        ]),
  ];
}

/** Sends requests to the nodes in turn at an even rate. Counts the answers by status. */
function load(nodes: readonly HouseNode[], pool: HousePool, perMinute: number): Load {
  return async (ms) => {
    const statuses: Record<number, number> = {};
    const until = performance.now() + ms;
    const open = new Set<Promise<void>>();
    for (let number = 0; performance.now() < until; number += 1) {
      const url = nodes[number % nodes.length]?.url ?? '';
      const sent = sendRequest(url, pool).then((status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        open.delete(sent);
      });
      open.add(sent);
      await sleep(60_000 / perMinute);
    }
    await Promise.all(open);
    return statuses;
  };
}

/** Sends one request. Returns its status, or 0 if the node cannot be reached. */
function sendRequest(url: string, { host, key }: HousePool): Promise<number> {
  const headers = { host, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve) => {
    const request = httpRequest(`${url}/v1/chat/completions`, { method: 'POST', headers }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', () => resolve(0));
    request.end(JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] }));
  });
}
