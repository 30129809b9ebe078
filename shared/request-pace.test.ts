import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  FREE_ANSWERS_AT_ONCE,
  FREE_ANSWERS_PER_SECOND,
  FreeAnswers,
  LONGEST_WAIT_MS,
  PIPELINED_REQUESTS,
  RequestPace,
} from './request-pace.ts';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const GET_AND_CLOSE = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A server that answers only requests that the pace admits. Each answer takes a moment. */
async function serve(pace: RequestPace, status = 200): Promise<{ port: number; admitted: () => number }> {
  let admitted = 0;
  server = createServer((incoming, outgoing) => {
    pace.admit(incoming, outgoing, () => {
      admitted += 1;
      outgoing.statusCode = status;
      setTimeout(() => outgoing.end('ok'), 5);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, admitted: () => admitted };
}

const ofAll = { callerOf: () => 'a caller' };

/** Everything that the server answers on one connection until it closes. */
async function send(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket).catch(() => '');
}

const LONG_MS = 60_000;

const answersIn = (answer: string): number => answer.split('HTTP/1.1 200').length - 1;

describe('requests that are sent ahead', () => {
  it('are answered in order up to the limit', async () => {
    const { port } = await serve(new RequestPace(ofAll));
    expect(answersIn(await send(port, GET.repeat(PIPELINED_REQUESTS) + GET_AND_CLOSE))).toBe(
      PIPELINED_REQUESTS + 1,
    );
  });

  it('close their connection above the limit, and no further request is read', async () => {
    const { port, admitted } = await serve(new RequestPace(ofAll));
    expect(answersIn(await send(port, GET.repeat(500)))).toBe(0);
    expect(admitted()).toBe(1);
  });

  it('are reported once when they close their connection', async () => {
    let closed = 0;
    const { port } = await serve(new RequestPace({ ...ofAll, onFull: () => (closed += 1) }));
    await send(port, GET.repeat(PIPELINED_REQUESTS) + GET_AND_CLOSE);
    expect(closed).toBe(0);
    await send(port, GET.repeat(500));
    expect(closed).toBe(1);
  });

  it('are handled one at a time, each after the answer before it', async () => {
    let [running, most] = [0, 0];
    const pace = new RequestPace(ofAll);
    server = createServer((incoming, outgoing) =>
      pace.admit(incoming, outgoing, () => {
        running += 1;
        most = Math.max(most, running);
        setTimeout(() => outgoing.end('ok', () => (running -= 1)), 2);
      }),
    );
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(answersIn(await send(port, GET.repeat(PIPELINED_REQUESTS) + GET_AND_CLOSE))).toBe(
      PIPELINED_REQUESTS + 1,
    );
    expect(most).toBe(1);
  });
});

describe('free answers', () => {
  /** How many of these requests on one connection are admitted without a wait. */
  const atOnce = async (
    pace: RequestPace,
    requests: number,
    status = 200,
    method = 'GET',
  ): Promise<number> => {
    const { port, admitted } = await serve(pace, status);
    const body = method === 'POST' ? 'Content-Length: 0\r\n' : '';
    const one = `${method} / HTTP/1.1\r\nHost: localhost\r\n${body}\r\n`;
    const socket = connect(port, '127.0.0.1');
    let answers = 0;
    socket.on('error', () => undefined);
    const answered = new Promise<void>((resolve) => {
      socket.on('data', (data) => {
        answers += data.toString().split('HTTP/1.1').length - 1;
        if (answers >= requests) resolve();
        else socket.write(one);
      });
    });
    socket.write(one);
    await Promise.race([answered, untilQuiet(admitted)]);
    socket.destroy();
    return admitted();
  };

  /** Resolves when no request was admitted for a while. */
  const untilQuiet = async (admitted: () => number): Promise<void> => {
    for (let last = -1; last !== admitted();) {
      last = admitted();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  };

  it.each([
    [200, 'GET'],
    [402, 'POST'],
  ])('wait with status %i to %s when the caller had its share', async (status, method) => {
    const spent = spentPace();
    expect(await atOnce(spent, 5, status, method)).toBe(1);
  });

  it('never wait after a successful POST, because somebody pays', async () => {
    expect(await atOnce(spentPace(), 20, 200, 'POST')).toBe(20);
  });

  it('do not wait on a connection without limits', async () => {
    const pace = new RequestPace({ callerOf: () => undefined, freeAnswers: { waitOf: () => LONG_MS } });
    expect(await atOnce(pace, 20)).toBe(20);
  });

  it('arrive after their wait', async () => {
    const { port } = await serve(new RequestPace({ callerOf: () => 'a caller' }));
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => send(port, GET.repeat(3) + GET_AND_CLOSE)),
    );
    expect(answers.map(answersIn)).toEqual([4, 4, 4, 4]);
  });
});

describe('a caller', () => {
  it('gets its first free answers at once, then one per interval; other callers do not wait', () => {
    let now = 0;
    const answers = new FreeAnswers(() => now);
    const waits = Array.from({ length: FREE_ANSWERS_AT_ONCE }, () => answers.waitOf('busy') ?? Infinity);
    expect(Math.max(...waits)).toBeLessThanOrEqual(0);
    const interval = 1_000 / FREE_ANSWERS_PER_SECOND;
    expect([answers.waitOf('busy'), answers.waitOf('busy')]).toEqual([interval, 2 * interval]);
    expect(answers.waitOf('quiet')).toBeLessThanOrEqual(0);
    now += 10 * interval;
    const later = Array.from({ length: 9 }, () => answers.waitOf('busy'));
    expect(later.filter((wait) => wait !== undefined && wait <= 0)).toHaveLength(8);
  });
});

describe('a caller that is far too fast', () => {
  it('never has more waiting answers than LONGEST_WAIT_MS allows', () => {
    let now = 0;
    const answers = new FreeAnswers(() => now);
    const flood = (): number[] =>
      Array.from({ length: 100_000 }, () => answers.waitOf('busy')).filter((wait) => wait !== undefined);
    const waiting = flood().filter((wait) => wait > 0);
    expect(waiting).toHaveLength((LONGEST_WAIT_MS * FREE_ANSWERS_PER_SECOND) / 1_000);
    now += LONGEST_WAIT_MS;
    expect(flood()[0]).toBeLessThanOrEqual(1_000 / FREE_ANSWERS_PER_SECOND);
  });

  it('has its connections closed instead of keeping their requests', async () => {
    const pace = new RequestPace({ callerOf: () => 'a caller', freeAnswers: { waitOf: () => undefined } });
    const { port, admitted } = await serve(pace);
    expect(answersIn(await send(port, GET.repeat(3)))).toBe(0);
    expect(admitted()).toBe(1);
  });
});

/** A pace whose callers had all their free answers. */
const spentPace = (): RequestPace =>
  new RequestPace({ callerOf: () => 'a caller', freeAnswers: { waitOf: () => LONG_MS } });
