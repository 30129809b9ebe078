/** Tests signatures against AWS's published test suite, and against the signer of the AWS SDK. */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Signer } from '@gateway/shared/clouds/signature';
import { signWith } from './signing.ts';

/** Keys and time of the suite: docs.aws.amazon.com/general/latest/gr/signature-v4-test-suite.html */
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const SCOPE = { keys: KEYS, region: 'us-east-1', service: 'service', at: Date.UTC(2015, 7, 30, 12, 36) };
const UNRESERVED = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SESSION_TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRq' +
  'TflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75Y' +
  'U9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9K' +
  'SYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

/** Name, method, path with query, signature: the cases without further headers and with an encoded path. */
const SUITE: [string, string, string, string][] = [
  ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-unreserved',
    'GET',
    `/${UNRESERVED}`,
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  [
    'get-vanilla-empty-query-key',
    'GET',
    '/?Param1=value1',
    'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  ],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-query-unreserved',
    'GET',
    `/?${UNRESERVED}=${UNRESERVED}`,
    '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  ],
  [
    'get-vanilla-utf8-query',
    'GET',
    '/?%E1%88%B4=bar',
    '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  ],
  ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-vanilla-query',
    'POST',
    '/?Param1=value1',
    '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  ],
];

describe('signatures of requests to AWS', () => {
  it.each(SUITE)('equal those of the published suite: %s', async (_name, method, path, signature) => {
    const url = `https://example.amazonaws.com${path}`;
    const headers = await new Signer(signWith).sign({ method, url, body: '' }, SCOPE);
    expect(headers.authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
        `SignedHeaders=host;x-amz-date, Signature=${signature}`,
    );
    expect(headers['x-amz-date']).toBe('20150830T123600Z');
  });

  it('equal that of the published suite for a session token', async () => {
    const headers = await new Signer(signWith).sign(
      { method: 'POST', url: 'https://example.amazonaws.com/', body: '' },
      { ...SCOPE, keys: { ...KEYS, sessionToken: SESSION_TOKEN } },
    );
    expect(headers.authorization).toContain(
      'SignedHeaders=host;x-amz-date;x-amz-security-token, ' +
        'Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
    );
  });

  it("equal those of the AWS SDK's signer for any model, body, query and region", async () => {
    const model = fc.stringMatching(/^[a-z0-9.:/_-]{1,40}$/);
    await fc.assert(
      fc.asyncProperty(
        model,
        fc.string({ unit: 'binary' }),
        fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
        async (name, body, at) => {
          const path = `/model/${encodeURIComponent(name)}/invoke`;
          const sdk = new SignatureV4({
            service: 'bedrock',
            region: 'eu-west-1',
            credentials: { ...KEYS, sessionToken: 'token' },
            sha256: Sha256,
            applyChecksum: false,
          });
          const host = 'bedrock-runtime.eu-west-1.amazonaws.com';
          const expected = await sdk.sign(
            {
              method: 'POST',
              protocol: 'https:',
              hostname: host,
              path,
              query: { a: '1' },
              headers: { host },
              body,
            },
            { signingDate: at },
          );
          const scope = { keys: { ...KEYS, sessionToken: 'token' }, region: 'eu-west-1', service: 'bedrock' };
          const signed = await new Signer(signWith).sign(
            { method: 'POST', url: `https://${host}${path}?a=1`, body },
            { ...scope, at: at.getTime() },
          );
          expect(signed.authorization).toBe(expected.headers.authorization);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('leave out a body that is streamed', async () => {
    const headers = await new Signer(signWith).sign(
      { method: 'POST', url: 'https://example.amazonaws.com/', body: undefined },
      SCOPE,
    );
    expect(headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD');
  });
});
