/** What the console shows for a client works as it stands: with the real one, for one charge. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../control-plane/snippets/snippet.texts.ts';
import { AGENTS } from './clients/agents.ts';
import { ifInstalled, installPrograms, installPythonPackages } from './clients/install.ts';
import { chargesOf, layOut, setUpsOfKey, setUpsOfModel, type } from './clients/setup.ts';
import type { Printed, SetUp } from './clients/setup.ts';
import { startWitness } from './clients/witness.ts';
import type { Witness } from './clients/witness.ts';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { Customer, House } from './house.ts';
import { addPool } from './house/pool.ts';

const TEXT = 'The quick brown fox jumps over the lazy dog.';
const PACKAGES = join(import.meta.dirname, '..', 'node_modules');
const RUN_MS = 60_000;
/** Packages of other registries come over the network, once on a machine. */
const INSTALL_MS = 300_000;

let database: TestDatabase;
let witness: Witness;
let house: House;
let customer: Customer;
let shown: ReadonlyMap<Client, SetUp>;
let home: string;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: TEXT });
  await mock.start();
  witness = await startWitness();
  database = await createEmptyDatabase();
  house = await startHouse({ databaseUrl: database.url, controlEnv: { PUBLIC_URL: witness.url } });
  witness.passTo(house.url);
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['swift', 'coder'] });
  customer = await addCustomer(house, '100');
  shown = await setUpsOfKey(customer.api, customer);
});

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gateway-client-'));
  witness.seen.length = 0;
  return () => rmSync(home, { recursive: true, force: true });
});

afterAll(async () => {
  await house?.stop();
  witness?.stop();
  await mock.stop();
  await database?.drop();
});

function contentOf(client: Client, path: string, from = shown): string {
  return from.get(client)?.files.find((file) => file.path === path)?.content ?? '';
}

/** Runs it; besides what it printed, how many requests came, and that the books charged as many. */
async function tried(run: () => Promise<Printed>): Promise<Printed & { requests: number }> {
  const before = await chargesOf(house, customer.keyId);
  const printed = await run();
  const requests = witness.seen.filter(({ method, status }) => method === 'POST' && status === 200).length;
  await expect.poll(() => chargesOf(house, customer.keyId), { timeout: RUN_MS }).toBe(before + requests);
  return { ...printed, requests };
}

describe('the script for', () => {
  it.each(['OPENAI_NODE', 'ANTHROPIC_NODE', 'GOOGLE_GENAI'] as const)(
    '%s in Node prints the answer, for one charge',
    async (client) => {
      symlinkSync(PACKAGES, join(home, 'node_modules'));
      writeFileSync(join(home, 'main.mjs'), contentOf(client, 'main.mjs'));
      const printed = await tried(() => type({ text: 'node main.mjs', home, timeout: RUN_MS }));
      expect(printed).toMatchObject({ code: 0, all: `${TEXT}\n`, requests: 1 });
    },
    RUN_MS,
  );

  it.for(['OPENAI_PYTHON', 'ANTHROPIC_PYTHON', 'GOOGLE_GENAI'] as const)(
    '%s in Python prints the answer, for one charge',
    { timeout: INSTALL_MS },
    async (client, { skip }) => {
      const packages = await ifInstalled('The packages for Python', installPythonPackages());
      if (packages === undefined) return skip('There is no Python with pip, or no network.');
      writeFileSync(join(home, 'main.py'), contentOf(client, 'main.py'));
      const env = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
      const printed = await tried(() => type({ text: 'python3 main.py', home, env, timeout: RUN_MS }));
      expect(printed).toMatchObject({ code: 0, out: `${TEXT}\n`, requests: 1 });
    },
  );
});

describe('what is typed for', () => {
  it(
    'curl gets the answer in each of its formats for one charge, and the list of models for nothing',
    async () => {
      const { files, verifyCommand } = shown.get('CURL') ?? { files: [], verifyCommand: '' };
      expect(files).toHaveLength(3);
      for (const { content } of files) {
        const printed = await tried(() => type({ text: content, home, timeout: RUN_MS }));
        expect(printed.out).toContain(TEXT);
        expect(printed.requests).toBe(1);
        witness.seen.length = 0;
      }
      const listed = await tried(() => type({ text: verifyCommand, home, timeout: RUN_MS }));
      expect(listed.out).toContain('"swift"');
      expect(listed.requests).toBe(0);
    },
    RUN_MS,
  );

  it(
    'a pool key reaches the pool by its own address, and costs nothing more there',
    async () => {
      const pool = await addPool(house, { model: 'swift', rpmCap: 60 });
      const ofPool = await setUpsOfKey(pool.owner.api, pool);
      const address = `http://${pool.host}`;
      for (const { client, files, verifyCommand } of ofPool.values()) {
        expect(files.map(({ content }) => content).join('\n'), client).toContain(address);
        expect(verifyCommand, client).toContain(`${address}/v1/models`);
      }
      const text = contentOf('CURL', 'Chat completions', ofPool);
      const { out } = await type({ text, home, timeout: RUN_MS });
      expect(out).toContain(TEXT);
      const sql = 'select model_name, cost::text from usage_entry where key_id = $1';
      await expect
        .poll(async () => (await house.database.query(sql, [pool.keyId])).rows, { timeout: RUN_MS })
        .toEqual([{ model_name: 'swift', cost: '0' }]);
    },
    RUN_MS,
  );
});

describe('of the agents', () => {
  it('every text says with which version it was tried', () => {
    for (const { client, package: name } of AGENTS) {
      const version = name.slice(name.lastIndexOf('@') + 1);
      expect(shown.get(client)?.notes.join(' '), client).toContain(`Tested with ${version}.`);
    }
  });

  it(
    'Gemini CLI answers in an empty home folder with the files of a key and of a model, for one charge',
    { timeout: INSTALL_MS },
    async ({ skip }) => {
      const agent = AGENTS.find(({ client }) => client === 'GEMINI_CLI');
      if (!agent) throw new Error('Gemini CLI is none of the agents.');
      const programs = await ifInstalled(agent.name, installPrograms(agent.package));
      if (programs === undefined) return skip('There is no network.');
      const { key } = customer;
      for (const texts of [shown, await setUpsOfModel(customer.api, { model: 'swift', key })]) {
        rmSync(home, { recursive: true });
        witness.seen.length = 0;
        const text = layOut(texts.get(agent.client)?.files ?? [], home);
        const ask = { prompt: 'Say something.', isFollowUp: false, compactAfterTokens: 100_000 };
        const given = { arguments: agent.arguments(ask), env: agent.env ?? {}, timeout: RUN_MS };
        const printed = await tried(() => type({ text, home, programs, ...given }));
        expect(agent.answerIn(printed.out), printed.all).toBe(TEXT);
        expect(printed).toMatchObject({ code: 0, requests: agent.requests });
      }
    },
  );
});
