/**
 * `npm run fidelity`: sends recorded traffic of all four wire formats through the whole gateway, every client
 * format over every upstream format, once as recorded and once cut into odd slices. The measuring tool is
 * next to the checkout; its reports are printed and written to `.bench/`. Further arguments go to the tool,
 * e.g. `--directions B`; `--only whole` or `--only odd` runs one of the two. `--clouds` sends the traffic to
 * upstreams that behave like Azure, Bedrock and Vertex AI; `--cloud NAME` to one of them.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import { cloudsAt, startFront } from './clouds.ts';
import type { Cloud } from './clouds.ts';
import type { House } from '../house.ts';
import { withPostgres } from '../with-postgres.ts';
import { describe, reaches, verdictOf } from './verdict.ts';
import type { Report, Shares } from './verdict.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TOOL = join(ROOT, '..', 'shared', 'fidelity');
const CASES = join(ROOT, '..', 'shared', 'corpus', 'dev');
const OUTPUT = join(ROOT, '.bench');
const STARTED_WITHIN_MS = 10_000;
/** Minimum of each share in percent. */
const REQUIRED: Shares = { fidelity: 99.8, requests: 99.8, streams: 100 };

/** The formats: name in the tool, name in the API, and path at the replaying upstream. */
const WIRES = [
  { wire: 'openai-chat', protocol: 'CHAT_COMPLETIONS', path: '/up/openai-chat/v1' },
  { wire: 'openai-responses', protocol: 'RESPONSES', path: '/up/openai-responses/v1' },
  { wire: 'anthropic-messages', protocol: 'MESSAGES', path: '/up/anthropic-messages/v1' },
  { wire: 'google-generate', protocol: 'GENERATIVE_LANGUAGE', path: '/up/google-generate/v1beta' },
];

/** The service tiers and other priced parts that occur in the recordings. */
const SOLD = [
  ...['auto', 'default', 'standard_only', 'priority', 'flex', 'provider'],
  ...['mcp', 'mcp_servers', 'mcpServers', 'image_generation', 'advisor'],
];

interface Run {
  name: 'whole' | 'odd';
  replayArguments: string[];
}
const RUNS: Run[] = [
  { name: 'whole', replayArguments: [] },
  { name: 'odd', replayArguments: ['--slice', 'odd'] },
];

interface Replay {
  url: string;
  stop(): void;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

async function startReplay(run: Run): Promise<Replay> {
  const port = await freePort();
  const script = join(TOOL, 'replay-upstream.mjs');
  const child = spawn(
    process.execPath,
    [script, '--cases', CASES, '--port', String(port), ...run.replayArguments],
    { stdio: 'ignore' },
  );
  const url = `http://127.0.0.1:${port}`;
  const until = Date.now() + STARTED_WITHIN_MS;
  while (!(await answers(url))) {
    if (Date.now() > until) throw new Error('The replaying upstream did not start in time.');
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  return { url, stop: () => void child.kill() };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}

/** Adds a model per format, with limits that permit every recorded request. Returns the names by format. */
async function addModels(house: House, prefix: string, wires: string[]): Promise<Record<string, string>> {
  const names: Record<string, string> = {};
  for (const wire of wires) {
    const name = `${prefix}-${wire}`;
    const { model } = await house.admin.mutate<{ model: { id: string } }>(
      'adminModelUpsert',
      {
        name,
        displayName: name,
        description: 'Recorded traffic.',
        tier: 'BALANCED',
        traits: ['BALANCED'],
        contextTokens: 1_000_000,
        families: ['CHAT_COMPLETIONS', 'MESSAGES', 'RESPONSES', 'GENERATIVE_LANGUAGE'],
        groups: ['DEFAULT'],
        pricePerRequest: '0.000001',
        limits: { maxChoices: 8, serviceTiers: SOLD },
        reason: 'test',
      },
      'model { id }',
    );
    await house.admin.mutate(
      'adminModelSetState',
      { id: model.id, state: 'PUBLISHED', reason: 'test' },
      'model { id }',
    );
    names[wire] = name;
  }
  return names;
}

async function measure(house: House, run: Run, further: string[]): Promise<number> {
  const replay = await startReplay(run);
  try {
    const upstreams = WIRES.map((each) => ({ ...each, base: replay.url }));
    return await measureUpstreams(house, { name: run.name, replay: replay.url, upstreams, further });
  } finally {
    replay.stop();
  }
}

/** Measures each cloud that is chosen; all of them without a name. */
async function measureClouds(house: House, run: Run, { cloud, further }: Chosen): Promise<number> {
  const replay = await startReplay(run);
  const front = await startFront(replay.url, run.name === 'odd');
  try {
    const clouds = cloudsAt(front.url).filter(({ name }) => cloud === 'all' || name === cloud);
    let code = 0;
    for (const { name, required, upstreams } of clouds) {
      const at = upstreams.map((each) => ({ ...each, base: front.url }));
      const options = { name: `${run.name}-${name}`, replay: replay.url, upstreams: at, required, further };
      code = Math.max(code, await measureUpstreams(house, options));
    }
    process.stdout.write(
      `clouds: ${front.refused()} requests without valid authentication, ${front.issued()} tokens issued\n`,
    );
    return code;
  } finally {
    await front.stop();
    replay.stop();
  }
}

interface Measured {
  name: string;
  replay: string;
  upstreams: (Omit<Cloud['upstreams'][number], 'access' | 'secret'> & {
    base: string;
    access?: object;
    secret?: string;
  })[];
  /** Minimum of each share in percent, if it differs from the usual one. */
  required?: Shares | undefined;
  further: string[];
}

async function measureUpstreams(
  house: House,
  { name, replay, upstreams, required = REQUIRED, further }: Measured,
): Promise<number> {
  const wires = upstreams.map(({ wire }) => wire);
  const models = await addModels(house, name, wires);
  for (const { wire, path, base, ...rest } of upstreams) {
    const upstream = { ...rest, name: `${name}-${wire}`, baseUrl: `${base}${path}` };
    await addUpstream(house, { ...upstream, families: ['CHAT_COMPLETIONS'], models: [models[wire] ?? ''] });
  }
  const reportFile = join(OUTPUT, `fidelity-${name}.json`);
  const { key } = await addCustomer(house, '1000');
  process.stdout.write(`\n=== ${name} ===\n`);
  const code = await runTool([
    ...['--gateway', house.url, '--key', key, '--models', JSON.stringify(models)],
    ...['--upstream', replay, '--cases', CASES],
    ...['--json', reportFile, ...further],
  ]);
  if (code !== 0) return code;
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  const verdict = verdictOf(report);
  process.stdout.write(`\n${describe(name, verdict)}\n`);
  return reaches(verdict, required) ? 0 : 1;
}

function runTool(toolArguments: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(TOOL, 'fidelity.mjs'), ...toolArguments], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

interface Chosen {
  /** The cloud; `all` for every one, undefined for none. */
  cloud: string | undefined;
  /** Arguments of the tool. */
  further: string[];
}

function chosenBy(given: string[]): Chosen & { only: string | undefined } {
  const further = [...given];
  const taken = (option: string): string | undefined => {
    const at = further.indexOf(option);
    return at < 0 ? undefined : further.splice(at, 2)[1];
  };
  const only = taken('--only');
  const cloud = taken('--cloud');
  const all = further.indexOf('--clouds');
  if (all >= 0) further.splice(all, 1);
  return { only, cloud: all >= 0 ? 'all' : cloud, further };
}

async function main(): Promise<number> {
  if (!existsSync(TOOL) || !existsSync(CASES)) {
    process.stdout.write('Skipped: recorded traffic and the measuring tool are not next to this checkout.\n');
    return 0;
  }
  const { only, ...chosen } = chosenBy(process.argv.slice(2));
  mkdirSync(OUTPUT, { recursive: true });
  return withPostgres('fidelity', async (databaseUrl) => {
    const house = await startHouse({ databaseUrl });
    let code = 0;
    try {
      for (const run of RUNS) {
        if (only !== undefined && only !== run.name) continue;
        const measured = chosen.cloud
          ? measureClouds(house, run, chosen)
          : measure(house, run, chosen.further);
        code = Math.max(code, await measured);
      }
    } finally {
      await house.stop();
    }
    return code;
  });
}

process.exitCode = await main();
