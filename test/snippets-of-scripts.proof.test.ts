/** Runs the console's texts for clients as they are shown: official SDKs for Node, and curl. */
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { curlOf, typescriptOf } from '../console/pages/playground/request-code.ts';
import { AGENTS } from './clients/agents.ts';
import { setUpsOfKey, runInShell } from './clients/setup.ts';
import { chatOf, contentOf, RUN_MS, TEXT, useSnippets } from './clients/snippets.ts';
import { addPool } from './house/pool.ts';

const PACKAGES = join(import.meta.dirname, '..', 'node_modules');

const snippets = useSnippets();

describe('the script for', () => {
  it.each(['OPENAI_NODE', 'ANTHROPIC_NODE', 'GOOGLE_GENAI'] as const)(
    '%s in Node prints the answer and is charged once',
    async (client) => {
      const { home, shown } = snippets;
      symlinkSync(PACKAGES, join(home, 'node_modules'));
      writeFileSync(join(home, 'main.mjs'), contentOf(shown, client, 'main.mjs'));
      const printed = await snippets.run(() => runInShell({ text: 'node main.mjs', home, timeout: RUN_MS }));
      expect(printed).toMatchObject({ code: 0, all: `${TEXT}\n`, requests: 1 });
    },
    RUN_MS,
  );
});

describe('the examples for the AI SDK', () => {
  it(
    'print the answer with each provider package and are charged once each',
    async () => {
      const { home, shown } = snippets;
      symlinkSync(PACKAGES, join(home, 'node_modules'));
      const files = shown.get('AI_SDK')?.files ?? [];
      expect(files.map(({ path }) => path)).toEqual([
        '@ai-sdk/openai-compatible',
        '@ai-sdk/openai',
        '@ai-sdk/anthropic',
        '@ai-sdk/google',
      ]);
      for (const { content } of files) {
        writeFileSync(join(home, 'main.mjs'), content);
        const printed = await snippets.run(() =>
          runInShell({ text: 'node main.mjs', home, timeout: RUN_MS }),
        );
        expect(printed).toMatchObject({ code: 0, out: `${TEXT}\n`, requests: 1 });
      }
    },
    RUN_MS,
  );
});

describe('the commands for curl', () => {
  it(
    'print the answer in each format for one charge, and list the models for free',
    async () => {
      const { home, shown } = snippets;
      const { files, verifyCommand } = shown.get('CURL') ?? { files: [], verifyCommand: '' };
      expect(files).toHaveLength(3);
      for (const { content } of files) {
        const printed = await snippets.run(() => runInShell({ text: content, home, timeout: RUN_MS }));
        expect(printed.out).toContain(TEXT);
        expect(printed.requests).toBe(1);
      }
      const listed = await snippets.run(() => runInShell({ text: verifyCommand, home, timeout: RUN_MS }));
      expect(listed.out).toContain('"swift"');
      expect(listed.requests).toBe(0);
    },
    RUN_MS,
  );

  it(
    'reach a pool at its own address with the key of the pool, at no cost',
    async () => {
      const { house, home } = snippets;
      const pool = await addPool(house, { model: 'swift', rpmCap: 60 });
      const ofPool = await setUpsOfKey(pool.owner.api, pool);
      const address = `http://${pool.host}`;
      for (const { client, files, verifyCommand } of ofPool.values()) {
        expect(files.map(({ content }) => content).join('\n'), client).toContain(address);
        expect(verifyCommand, client).toContain(`${address}/v1/models`);
      }
      const text = contentOf(ofPool, 'CURL', 'Chat completions');
      const { out } = await runInShell({ text, home, timeout: RUN_MS });
      expect(out).toContain(TEXT);
      const sql = 'select model_name, cost::text from usage_entry where key_id = $1';
      await expect
        .poll(async () => (await house.database.query(sql, [pool.keyId])).rows, { timeout: RUN_MS })
        .toEqual([{ model_name: 'swift', cost: '0' }]);
    },
    RUN_MS,
  );
});

describe("the Playground's chat as an API call", () => {
  it(
    'answers as a curl command and as a program in TypeScript, for one charge each',
    async () => {
      const { home, customer } = snippets;
      const run = { home, env: { GATEWAY_KEY: customer.key }, timeout: RUN_MS };
      const printed = await snippets.run(() => runInShell({ text: curlOf(chatOf(snippets.house)), ...run }));
      expect(printed.out).toContain('data: [DONE]');
      expect(printed).toMatchObject({ code: 0, requests: 1 });
      symlinkSync(PACKAGES, join(home, 'node_modules'));
      writeFileSync(join(home, 'main.mjs'), typescriptOf(chatOf(snippets.house)));
      const answered = await snippets.run(() => runInShell({ text: 'node main.mjs', ...run }));
      expect(answered).toMatchObject({ code: 0, out: TEXT, requests: 1 });
    },
    RUN_MS,
  );
});

describe('the text for an agent', () => {
  it.each(AGENTS)('$name names the version with which it was tested', ({ client, package: name }) => {
    const version = name.slice(name.lastIndexOf('@') + 1);
    expect(snippets.shown.get(client)?.notes.join(' ')).toContain(`Tested with ${version}.`);
  });
});
