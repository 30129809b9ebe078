/** Tests signatures of webhooks, and when deliveries are tried again. */
import { expect, it } from 'vitest';
import { ATTEMPTS_MAX, pauseAfter } from './retry.rules.ts';
import { newWebhookSecret, signedHeaders } from './signature.ts';

const HOUR_MS = 60 * 60_000;

// The example of https://docs.svix.com/receiving/verifying-payloads/how-manual.
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const MESSAGE = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
};

it('the headers of the example are those of the specification', () => {
  expect(signedHeaders(MESSAGE, [SECRET])).toEqual({
    'webhook-id': MESSAGE.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it('a message has one signature for each secret', () => {
  const secrets = [newWebhookSecret(), SECRET];
  const signatures = signedHeaders(MESSAGE, secrets)['webhook-signature']?.split(' ');
  expect(signatures).toHaveLength(2);
  expect(signatures?.[1]).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

it('a secret has the prefix and 32 random bytes', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret.startsWith('whsec_')).toBe(true);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  }
});

it('pauses grow, and the last attempt is about a day after the first', () => {
  const pauses = Array.from({ length: ATTEMPTS_MAX - 1 }, (_, index) => pauseAfter(index + 1, 0) ?? 0);
  expect(pauses.toSorted((left, right) => left - right)).toEqual(pauses);
  const total = pauses.reduce((sum, pause) => sum + pause, 0);
  expect(total).toBeGreaterThan(24 * HOUR_MS);
  expect(total).toBeLessThan(26 * HOUR_MS);
  expect(pauseAfter(1, 1)).toBeLessThan((pauseAfter(2, 0) ?? 0) / 2);
  expect(pauseAfter(ATTEMPTS_MAX, 0)).toBeNull();
});
