/** Tests the messages between instances over a real database. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { InstanceBus } from './instance-bus.ts';

const SECRET = 'a secret key of the installation, long enough';

let money: Money;
let open: InstanceBus[] = [];

beforeAll(async () => {
  money = await openMoney();
});
afterEach(async () => {
  await Promise.all(open.map((bus) => bus.stop()));
  open = [];
});
afterAll(() => money.close());

async function start(secretKey = SECRET): Promise<InstanceBus> {
  const bus = await InstanceBus.start({ databaseUrl: money.url, em: () => money.em(), secretKey });
  open.push(bus);
  return bus;
}

/** Repeats the request until there is a response: instances know each other a moment after their start. */
async function responseTo(bus: InstanceBus, topic: string, body: unknown): Promise<unknown> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const response = await bus.request(topic, body);
    if (response) return response.body;
    await sleep(20);
  }
  return undefined;
}

describe('the instance bus', () => {
  it('resolves a request of the only instance at once without a response', async () => {
    const only = await start();
    expect(await only.request('topic', 1)).toBeUndefined();
  });

  it('returns the response of the instance that has one, or undefined if none has', async () => {
    const [sender, empty, holder] = [await start(), await start(), await start()];
    const long = 'ä'.repeat(100_000);
    empty.handle('topic', () => undefined);
    holder.handle('topic', (body) => ({ got: body, long }));
    expect(await responseTo(sender, 'topic', { a: 1 })).toEqual({ got: { a: 1 }, long });
    expect(await responseTo(sender, 'topic', long)).toEqual({ got: long, long });
    holder.handle('topic', () => undefined);
    expect(await sender.request('topic', {})).toBeUndefined();
  });

  it('sends only encrypted messages, which an instance with another secret key ignores', async () => {
    const client = new pg.Client({ connectionString: money.url });
    await client.connect();
    const payloads: string[] = [];
    client.on('notification', ({ payload }) => payloads.push(payload ?? ''));
    await client.query('listen gateway_peers');
    const [sender, holder, foreign] = [
      await start(),
      await start(),
      await start('another secret key, also long'),
    ];
    const handled: unknown[] = [];
    foreign.handle('topic', (body) => handled.push(body));
    holder.handle('topic', () => 'canary-response');
    expect(await responseTo(sender, 'topic', 'canary-request')).toBe('canary-response');
    await client.query('select 1');
    await client.end();
    expect(payloads.length).toBeGreaterThan(0);
    expect(payloads.filter((text) => text.includes('canary'))).toEqual([]);
    expect(handled).toEqual([]);
  });

  it('reports an instance that stops to the others at once', async () => {
    const [remaining, stopping] = [await start(), await start()];
    stopping.handle('topic', () => 'here');
    expect(await responseTo(remaining, 'topic', {})).toBe('here');
    const left = new Promise<string>((resolve) => {
      remaining.onLeave(resolve);
    });
    await stopping.stop();
    expect(await left).toBe(stopping.id);
    expect(await remaining.request('topic', {})).toBeUndefined();
  });
});
