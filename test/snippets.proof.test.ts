/** Runs the console's texts for clients that have to be installed: the SDKs for Python, and an agent. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pythonOf } from '../console/pages/playground/request-code.ts';
import { AGENTS } from './clients/agents.ts';
import { ifInstalled, installPrograms, installPythonPackages } from './clients/install.ts';
import { writeSetUp, setUpsOfModel, runInShell } from './clients/setup.ts';
import { chatOf, contentOf, INSTALL_MS, RUN_MS, TEXT, useSnippets } from './clients/snippets.ts';

const snippets = useSnippets();

describe('the script for', () => {
  it.for(['OPENAI_PYTHON', 'ANTHROPIC_PYTHON', 'GOOGLE_GENAI'] as const)(
    '%s in Python prints the answer and is charged once',
    { timeout: INSTALL_MS },
    async (client, { skip }) => {
      const packages = await ifInstalled('The packages for Python', installPythonPackages());
      if (packages === undefined) return skip('There is no Python with pip, or no network.');
      const { home, shown } = snippets;
      writeFileSync(join(home, 'main.py'), contentOf(shown, client, 'main.py'));
      const env = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
      const printed = await snippets.run(() =>
        runInShell({ text: 'python3 main.py', home, env, timeout: RUN_MS }),
      );
      expect(printed).toMatchObject({ code: 0, out: `${TEXT}\n`, requests: 1 });
    },
  );
});

describe("the Playground's chat as an API call", () => {
  it('answers as a program in Python, for one charge', { timeout: INSTALL_MS }, async ({ skip }) => {
    const packages = await ifInstalled('The packages for Python', installPythonPackages());
    if (packages === undefined) return skip('There is no Python with pip, or no network.');
    const { home, house, customer } = snippets;
    writeFileSync(join(home, 'main.py'), pythonOf(chatOf(house)));
    const env = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1', GATEWAY_KEY: customer.key };
    const printed = await snippets.run(() =>
      runInShell({ text: 'python3 main.py', home, env, timeout: RUN_MS }),
    );
    expect(printed).toMatchObject({ code: 0, out: TEXT, requests: 1 });
  });
});

describe('the texts for Gemini CLI', () => {
  it(
    'work for a key and for a model in an empty home folder, with one charge',
    { timeout: INSTALL_MS },
    async ({ skip }) => {
      const agent = AGENTS.find(({ client }) => client === 'GEMINI_CLI');
      if (!agent) throw new Error('Gemini CLI is not in the list of agents.');
      const programs = await ifInstalled(agent.name, installPrograms(agent.package));
      if (programs === undefined) return skip('There is no network.');
      const { customer, home, shown } = snippets;
      const { key } = customer;
      for (const texts of [shown, await setUpsOfModel(customer.api, { model: 'swift', key })]) {
        rmSync(home, { recursive: true });
        const text = writeSetUp(texts.get(agent.client)?.files ?? [], home);
        const ask = { prompt: 'Say something.', isFollowUp: false, compactAfterTokens: 100_000 };
        const given = { arguments: agent.arguments(ask), env: agent.env ?? {}, timeout: RUN_MS };
        const printed = await snippets.run(() => runInShell({ text, home, programs, ...given }));
        expect(agent.answerIn(printed.out), printed.all).toBe(TEXT);
        expect(printed).toMatchObject({ code: 0, requests: agent.requests });
      }
    },
  );
});
