/**
 * The requests of the SDK matrix: every client library over every upstream format, through a shared house.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUpstream } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { openSharedHouse } from '../house/shared.ts';
import { CITY, SEEN, TEXT, TOOL_INPUT, TOOL_NAME, TOOL_RESULT, WEATHER } from './conversation.ts';
import type { SdkClient, Target } from './conversation.ts';
import { FORMATS, USAGE, startSpeakingUpstream } from './upstream.ts';
import type { SpeakingUpstream } from './upstream.ts';

type Format = (typeof FORMATS)[number];

/** Number of requests of one client to one upstream. A tool round trip takes two. */
const REQUESTS_PER_PAIR = 8;

let house: House;
let upstream: SpeakingUpstream;
let customer: Customer;

/** Defines the tests of all given pairs of an upstream format and a client library. */
export function describeMatrix(pairs: readonly (readonly [Format, readonly SdkClient[]])[]): void {
  beforeAll(async () => {
    upstream = await startSpeakingUpstream();
    house = await openSharedHouse();
    for (const { protocol, prefix, model } of FORMATS) {
      const baseUrl = upstream.origin + prefix;
      await addUpstream(house, { name: protocol, protocol, baseUrl, models: [model] });
    }
    customer = await addCustomer(house, '1000');
  });

  afterAll(() => upstream?.stop());

  for (const [format, clients] of pairs)
    describe(`over a ${format.protocol} upstream`, () => {
      describe.each(clients)('$name', (client) => describePair(format, client));
    });
  const expected = pairs.reduce((sum, [, clients]) => sum + clients.length, 0) * REQUESTS_PER_PAIR;
  describe('all requests together', () => describeCharges(expected));
}

/** Eight requests of one client library to one upstream. */
function describePair({ model, picture, schema }: Format, client: SdkClient): void {
  const target = (): Target => ({ url: house.url, key: customer.key, model });
  const lastBody = (): string => upstream.seen.at(-1)?.body ?? '';

  it('gets a whole answer', async () => {
    expect(await client.whole(target())).toBe(TEXT);
  });

  it('gets a streamed answer in pieces', async () => {
    const { text, pieces, finish } = await client.streamed(target());
    expect(text).toBe(TEXT);
    expect(pieces).toBeGreaterThan(5);
    expect(finish).toMatch(/^(stop|STOP|end_turn|completed)$/);
  });

  it('makes a tool round trip, whole and streamed', async () => {
    const expected = { name: TOOL_NAME, input: TOOL_INPUT, text: WEATHER };
    expect(await client.toolTrip(target())).toEqual(expected);
    expect(lastBody()).toContain(TOOL_RESULT);
    expect(await client.streamedToolTrip(target())).toEqual(expected);
    expect(lastBody()).toContain(TOOL_RESULT);
  });

  it('sends an image', async () => {
    expect(await client.vision(target())).toBe(SEEN);
    expect(lastBody()).toMatch(picture);
  });

  it('gets an object of the requested schema', async () => {
    expect(await client.structured(target())).toEqual(CITY);
    expect(lastBody()).toMatch(schema);
    expect(lastBody()).toContain('"degrees":{');
  });
}

function describeCharges(expected: number): void {
  it('are charged once each, with the token counts of the upstream', async () => {
    expect(upstream.seen).toHaveLength(expected);
    const charges = async (): Promise<number> => {
      const { rows } = await house.database.query<{ count: number }>(
        `select count(*)::int as count from usage_entry join usage_charge using (request_id)
         where wallet_id = $1 and outcome = 'DELIVERED' and input_tokens = $2 and output_tokens = $3`,
        [customer.walletId, USAGE.input_tokens, USAGE.output_tokens],
      );
      return rows[0]?.count ?? 0;
    };
    await expect.poll(charges, { timeout: 20_000 }).toBe(expected);
  });
}
