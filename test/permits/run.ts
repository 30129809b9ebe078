/**
 * The cap of a pool over three real nodes: clients that ask for twice as much, an upstream that notes when it
 * was asked, and a node and the control plane killed in the middle.
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
  /** Requests a minute over all nodes. */
  perMinute: number;
  /** How long each part takes, in ms; a part that is absent is left out. */
  steadyMs: number;
  nodeKilledMs?: number;
  controlAwayMs?: number;
  afterMs?: number;
}

/** One part of the run. */
export interface Part {
  name: string;
  minutes: number;
  /** Requests that reached the upstream. */
  reached: number;
  statuses: Record<number, number>;
}

export interface RunResult {
  parts: Part[];
  /** The most requests that reached the upstream in any 60 s of the whole run. */
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

/** Runs all parts one after the other and tells of each. */
export async function runPermits(
  options: RunOptions,
  tell: (part: Part) => void = () => undefined,
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
      tell(done);
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
): { name: string; ms: number; run(ask: Load): Promise<Record<number, number>> }[] {
  return [
    { name: 'steady', ms: steadyMs, run: (ask) => ask(steadyMs) },
    ...(nodeKilledMs === undefined
      ? []
      : [
          {
            name: 'a node killed and started again',
            ms: nodeKilledMs,
            run: async (ask: Load) => {
              const asked = ask(nodeKilledMs);
              await house.nodes[1]?.process.kill();
              await sleep(2_000);
              await house.nodes[1]?.restart();
              return asked;
            },
          },
        ]),
    ...(controlAwayMs === undefined
      ? []
      : [
          {
            name: 'the control plane killed',
            ms: controlAwayMs,
            run: async (ask: Load) => {
              await house.control.kill();
              return ask(controlAwayMs);
            },
          },
        ]),
    ...(afterMs === undefined
      ? []
      : [
          {
            name: 'the control plane back',
            ms: afterMs,
            run: async (ask: Load) => {
              const asked = ask(afterMs);
              await house.restartControl();
              return asked;
            },
          },
        ]),
  ];
}

/** Clients that ask one node after the other at an even rate, and take every answer as it is. */
function load(nodes: readonly HouseNode[], pool: HousePool, perMinute: number): Load {
  return async (ms) => {
    const statuses: Record<number, number> = {};
    const until = performance.now() + ms;
    const open = new Set<Promise<void>>();
    for (let number = 0; performance.now() < until; number += 1) {
      const url = nodes[number % nodes.length]?.url ?? '';
      const asked = ask(url, pool).then((status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        open.delete(asked);
      });
      open.add(asked);
      await sleep(60_000 / perMinute);
    }
    await Promise.all(open);
    return statuses;
  };
}

/** The status; 0 where the node is not there. */
function ask(url: string, { host, key }: HousePool): Promise<number> {
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
