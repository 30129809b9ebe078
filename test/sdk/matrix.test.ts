/** Every official SDK over every upstream format, through the whole house: what comes back, what it costs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase } from '../database.ts';
import type { TestDatabase } from '../database.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { AI_CLIENTS } from './ai.ts';
import { anthropic } from './anthropic.ts';
import { CITY, SEEN, TEXT, TOOL_INPUT, TOOL_NAME, TOOL_RESULT, WEATHER } from './conversation.ts';
import type { Target } from './conversation.ts';
import { google } from './google.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import { FORMATS, USAGE, startSpeakingUpstream } from './upstream.ts';
import type { SpeakingUpstream } from './upstream.ts';

const CLIENTS = [openaiChat, openaiResponses, anthropic, google, ...AI_CLIENTS];
/** Requests of one client to one upstream: one each but for the tool round trips. */
const REQUESTS_PER_PAIR = 8;

let database: TestDatabase;
let house: House;
let upstream: SpeakingUpstream;
let customer: Customer;

beforeAll(async () => {
  upstream = await startSpeakingUpstream();
  database = await createEmptyDatabase();
  house = await startHouse({ databaseUrl: database.url });
  for (const { protocol, prefix, model } of FORMATS) {
    const baseUrl = upstream.origin + prefix;
    await addUpstream(house, { name: protocol, protocol, baseUrl, models: [model] });
  }
  customer = await addCustomer(house, '1000');
});

afterAll(async () => {
  await house?.stop();
  await upstream?.stop();
  await database?.drop();
});

describe.each(FORMATS)('over a $protocol upstream', ({ model, picture, schema }) => {
  const target = (): Target => ({ url: house.url, key: customer.key, model });
  const asked = (): string => upstream.seen.at(-1)?.body ?? '';

  describe.each(CLIENTS)('$name', (client) => {
    it('gets a whole answer', async () => {
      expect(await client.whole(target())).toBe(TEXT);
    });

    it('gets a streamed answer, piece by piece', async () => {
      const { text, pieces, finish } = await client.streamed(target());
      expect(text).toBe(TEXT);
      expect(pieces).toBeGreaterThan(5);
      expect(finish).toMatch(/^(stop|STOP|end_turn|completed)$/);
    });

    it('makes a tool round trip, whole and streamed', async () => {
      const expected = { name: TOOL_NAME, input: TOOL_INPUT, text: WEATHER };
      expect(await client.toolTrip(target())).toEqual(expected);
      expect(asked()).toContain(TOOL_RESULT);
      expect(await client.streamedToolTrip(target())).toEqual(expected);
      expect(asked()).toContain(TOOL_RESULT);
    });

    it('shows an image', async () => {
      expect(await client.vision(target())).toBe(SEEN);
      expect(asked()).toMatch(picture);
    });

    it('gets an object of its schema', async () => {
      expect(await client.structured(target())).toEqual(CITY);
      expect(asked()).toMatch(schema);
      expect(asked()).toContain('"degrees":{');
    });
  });
});

describe('all of it together', () => {
  it('was charged once per request, with the tokens that the upstream counted', async () => {
    const expected = CLIENTS.length * FORMATS.length * REQUESTS_PER_PAIR;
    expect(upstream.seen).toHaveLength(expected);
    const charges = async (): Promise<number> => {
      const { rows } = await house.database.query<{ count: number }>(
        `select count(*)::int as count from usage_entry join usage_charge using (request_id)
         where outcome = 'DELIVERED' and input_tokens = $1 and output_tokens = $2`,
        [USAGE.input_tokens, USAGE.output_tokens],
      );
      return rows[0]?.count ?? 0;
    };
    await expect.poll(charges, { timeout: 20_000 }).toBe(expected);
  });
});
