/** The scripts that the console hands out run as they stand: with the real SDKs, over a whole house. */
import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRET_PLACE } from '@gateway/shared/secret-place';
import { snippetsOf } from '../control-plane/snippets/snippet.texts.ts';
import type { Client } from '../control-plane/snippets/snippet.texts.ts';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { Customer, House } from './house.ts';

const TEXT = 'The quick brown fox jumps over the lazy dog.';
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RUN_MS = 60_000;
const run = promisify(execFile);

let database: TestDatabase;
let house: House;
let customer: Customer;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: TEXT });
  await mock.start();
  database = await createEmptyDatabase();
  house = await startHouse({ databaseUrl: database.url });
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  customer = await addCustomer(house, '10');
});

afterAll(async () => {
  await house?.stop();
  await mock.stop();
  await database?.drop();
});

/** The files of a client for this house, with the key where its place was. */
function filesOf(client: Client) {
  const names = { model: 'budget', codingModel: 'budget', smallModel: 'budget' };
  const [snippet] = snippetsOf({ baseAddress: house.url, ...names }, [client]);
  const filled = (text: string): string => text.replaceAll(SECRET_PLACE, customer.key);
  const files = (snippet?.files ?? []).map((file) => ({ ...file, content: filled(file.content) }));
  return { files, verify: filled(snippet?.verifyCommand ?? '') };
}

const has = (command: string, ...parts: string[]): boolean => spawnSync(command, parts).status === 0;

describe('the script for', () => {
  it.each(['OPENAI_NODE', 'ANTHROPIC_NODE', 'GOOGLE_GENAI'] as const)(
    '%s in Node prints the answer',
    async (client) => {
      const script = filesOf(client).files.find(({ language }) => language === 'javascript');
      const parts = ['--input-type=module', '-e', script?.content ?? ''];
      const { stdout } = await run(process.execPath, parts, { cwd: ROOT, timeout: RUN_MS });
      expect(stdout.trim()).toBe(TEXT);
    },
    RUN_MS,
  );

  it.each([
    ['OPENAI_PYTHON', 'openai'],
    ['ANTHROPIC_PYTHON', 'anthropic'],
    ['GOOGLE_GENAI', 'google.genai'],
  ] as const)(
    '%s in Python prints the answer, where its package is installed',
    async (client, name) => {
      const script = filesOf(client).files.find(({ language }) => language === 'python');
      expect(script?.content).toContain(customer.key);
      if (!has('python3', '-c', `import ${name}`)) return;
      const { stdout } = await run('python3', ['-c', script?.content ?? ''], { timeout: RUN_MS });
      expect(stdout.trim()).toBe(TEXT);
    },
    RUN_MS,
  );

  it('curl gets the answer in each of its formats, and the list of models for nothing', async () => {
    const { files, verify } = filesOf('CURL');
    expect(files).toHaveLength(3);
    if (!has('curl', '--version')) return;
    for (const { content } of files) {
      const { stdout } = await run('sh', ['-c', content], { timeout: RUN_MS });
      expect(stdout).toContain(TEXT);
    }
    const { stdout } = await run('sh', ['-c', verify], { timeout: RUN_MS });
    expect(stdout).toContain('"budget"');
  });
});
