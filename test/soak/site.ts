/** The target of a soak run: PostgreSQL, both planes with small heaps, honest upstreams and customers. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { ALLOCATOR } from '../../control-plane/local/variables.ts';
import { startModelServer } from '../chaos/model-server.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { HOSTILE_MODEL } from './attack.ts';
import type { Target } from './attack.ts';

export interface Site {
  house: House;
  /** Pays for the honest traffic. */
  honest: Customer;
  /** Use the console in turn: all queries of an hour would exceed the query budget of one account. */
  people: readonly Customer[];
  target: Target;
  /** Unrequested exits of planes. */
  deaths: string[];
  close(): Promise<void>;
}

const MUCH_MONEY = '100000';
const CONSOLE_USERS = 3;
/** The mock keeps every request; this is how often it forgets them, in ms. */
const FORGET_EVERY_MS = 5_000;
const AUDIO = Buffer.from('audio bytes of no meaning').toString('base64');

/** Starts everything. The heap of each plane is bounded, in MB. */
export async function startSite(heapMegabytes: number): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-soak-'));
  // Run as root, PostgreSQL runs as another user, who needs access through this folder.
  chmodSync(folder, 0o711);
  const postgres = await startPostgres({ dataDir: folder });
  const model = await startModelServer({ failureEvery: Infinity, slowEvery: Infinity });
  const sound = await startSound();
  const preloaded = join(import.meta.dirname, 'collect-garbage.ts');
  // All ways to start a plane set the allocator so (package.json, images, units).
  const env = { ...ALLOCATOR, NODE_OPTIONS: `--max-old-space-size=${heapMegabytes} --import ${preloaded}` };
  const house = await startHouse({ databaseUrl: postgres.url, controlEnv: env, nodeEnv: env });
  const deaths = watch(house);
  const hostilePort = await freePort();
  await addUpstreams(house, { chat: model.port, sound: sound.url, hostile: hostilePort });
  const honest = await addCustomer(house, MUCH_MONEY);
  const people: Customer[] = [];
  while (people.length < CONSOLE_USERS) people.push(await addCustomer(house, '0'));
  const broke = await addCustomer(house, '0');
  const paid = await addCustomer(house, MUCH_MONEY);
  const target: Target = {
    controlPort: house.control.port,
    nodePort: Number(new URL(house.url).port),
    brokeKey: broke.key,
    brokeCookie: broke.api.cookie(),
    paidKey: paid.key,
    paidCookie: paid.api.cookie(),
    hostilePort,
  };
  const forget = setInterval(() => sound.clearRequests(), FORGET_EVERY_MS);
  const close = async (): Promise<void> => {
    clearInterval(forget);
    deaths.end();
    await house.stop();
    await Promise.all([model.close(), sound.stop()]);
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { house, honest, people, target, deaths: deaths.list, close };
}

/** An upstream for uploads and realtime sessions. */
async function startSound(): Promise<LLMock> {
  const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', chunkSize: 5 });
  mock.onSpeech(/.*/s, { audio: AUDIO, format: 'mp3' });
  mock.onTranscription({ transcription: { text: 'Said.', language: 'english', duration: 1 } });
  mock.on({ predicate: () => true }, { content: 'Said.' });
  await mock.start();
  return mock;
}

async function addUpstreams(
  house: House,
  { chat, sound, hostile }: { chat: number; sound: string; hostile: number },
): Promise<void> {
  await addUpstream(house, { name: 'chat', baseUrl: `http://127.0.0.1:${chat}/v1`, models: ['budget'] });
  const families = ['AUDIO', 'REALTIME'];
  await addUpstream(house, { name: 'sound', baseUrl: `${sound}/v1`, models: ['swift'], families });
  const baseUrl = `http://127.0.0.1:${hostile}/v1`;
  await addUpstream(house, { name: 'hostile', baseUrl, models: [HOSTILE_MODEL] });
}

function watch(house: House): { list: string[]; end(): void } {
  const list: string[] = [];
  let isOver = false;
  const planes = [
    { name: 'control plane', child: house.control.child },
    { name: 'node', child: house.nodes[0]?.process.child },
  ];
  for (const { name, child } of planes)
    child?.on('exit', (code, signal) => {
      if (!isOver) list.push(`${name} exited with ${code ?? signal}`);
    });
  const end = (): void => {
    isOver = true;
  };
  return { list, end };
}

/** A port on which no process listens. The attacker takes it later. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
