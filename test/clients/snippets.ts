/**
 * For tests that run the console's texts for clients: a customer of a shared house, and what its key's page
 * shows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Client } from '../../control-plane/snippets/snippet.texts.ts';
import { addCustomer, addUpstream } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { openSharedHouse } from '../house/shared.ts';
import { chargesOf, setUpsOfKey } from './setup.ts';
import type { ShellResult, SetUp } from './setup.ts';

/** Answer of the upstream. */
export const TEXT = 'The quick brown fox jumps over the lazy dog.';
/** Time for a client to start, ask and print, in ms. */
export const RUN_MS = 60_000;
/** Time to install packages of other registries, once per machine, in ms. */
export const INSTALL_MS = 300_000;

export interface Snippets {
  house: House;
  customer: Customer;
  /** The texts of the customer's key. */
  shown: ReadonlyMap<Client, SetUp>;
  /** An empty home folder, a new one for each test. */
  home: string;
  /** Runs a client. Returns also how many requests reached the upstream, all of which were charged. */
  run(client: () => Promise<ShellResult>): Promise<ShellResult & { requests: number }>;
}

/** Opens all of it before the tests of a file. The members may be used only in tests. */
export function useSnippets(): Snippets {
  const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });
  const snippets = { home: '' } as Snippets;
  beforeAll(async () => {
    mock.on({ predicate: () => true }, { content: TEXT });
    await mock.start();
    const house = await openSharedHouse();
    await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['swift', 'coder'] });
    const customer = await addCustomer(house, '100');
    const shown = await setUpsOfKey(customer.api, customer);
    Object.assign(snippets, { house, customer, shown });
  });
  beforeEach(() => {
    snippets.home = mkdtempSync(join(tmpdir(), 'gateway-client-'));
    return () => rmSync(snippets.home, { recursive: true, force: true });
  });
  afterAll(() => mock.stop());
  snippets.run = async (client) => {
    const { house, customer } = snippets;
    const charges = await chargesOf(house, customer.keyId);
    const asked = mock.getRequests().length;
    const printed = await client();
    const requests = mock.getRequests().length - asked;
    await expect.poll(() => chargesOf(house, customer.keyId), { timeout: RUN_MS }).toBe(charges + requests);
    return { ...printed, requests };
  };
  return snippets;
}

/** The text of one file of a client; empty if the client has no such file. */
export function contentOf(setUps: ReadonlyMap<Client, SetUp>, client: Client, path: string): string {
  return setUps.get(client)?.files.find((file) => file.path === path)?.content ?? '';
}

/** A chat of the Playground with settings and characters that shells and languages treat specially. */
export function chatOf({ url }: Pick<House, 'url'>) {
  const messages = ['What\'s "this"? $HOME `id`', 'Again'].map((content) => ({
    ...{ role: 'USER' as const, content, attachments: [] },
  }));
  const settings = { systemPrompt: 'Be brief.', temperature: 0.2, maxTokens: 500, stop: ["'"] };
  return { address: url, model: 'swift', messages, settings };
}
