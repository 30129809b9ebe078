/** Tests of the archive in a bucket, against a server with the interface of S3 that verifies signatures. */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startBucketServer } from '../../../test/archive/bucket-server.ts';
import type { BucketServer } from '../../../test/archive/bucket-server.ts';
import { ArchiveBucket } from './bucket.ts';
import { signedHeaders } from './bucket.signature.ts';
import { FileExists } from './target.ts';
import { textIn, toXml } from './xml.ts';

const MEGABYTE = 1024 * 1024;

let server: BucketServer;
let bucket: ArchiveBucket;
beforeAll(async () => {
  server = await startBucketServer();
});
afterAll(() => server.close());
beforeEach(() => {
  bucket = new ArchiveBucket(server.settings);
});
afterEach(async () => {
  server.fail(() => undefined);
  await bucket.close();
});

const content = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 12)) & 255);

async function upload(name: string, bytes: Uint8Array): Promise<void> {
  const open = bucket.open(name, await bucket.begin(name));
  for (let start = 0; start < bytes.length; start += 3 * MEGABYTE)
    await open.write(bytes.subarray(start, start + 3 * MEGABYTE));
  await open.finish();
}

describe('a bucket', () => {
  it('stores a file of several parts, and gives any range of it', async () => {
    const bytes = content(18 * MEGABYTE + 5);
    await bucket.check();
    expect(await bucket.sizeOf('large.parquet')).toBeUndefined();
    await upload('large.parquet', bytes);
    expect(await bucket.sizeOf('large.parquet')).toBe(bytes.length);
    for (const [start, end] of [
      [0, 10],
      [8 * MEGABYTE - 3, 8 * MEGABYTE + 3],
      [bytes.length - 8, bytes.length],
    ] as const)
      expect(Buffer.from(await bucket.read('large.parquet', { start, end }))).toEqual(
        Buffer.from(bytes.subarray(start, end)),
      );
    const parts = server.requests.filter((line) => line.includes('partNumber='));
    expect(parts.map((line) => /partNumber=(\d+)/.exec(line)?.[1])).toEqual(['1', '2', '3']);
    expect(parts[0]).toContain('PUT /records/gateway/usage/large.parquet?');
  });

  it('has no file before the upload is finished, and none after it is discarded', async () => {
    const id = await bucket.begin('half.parquet');
    await bucket.open('half.parquet', id).write(content(9 * MEGABYTE));
    expect(await bucket.sizeOf('half.parquet')).toBeUndefined();
    expect(await server.uploads()).toContain(id);
    await bucket.discard('half.parquet', id);
    expect(await server.uploads()).not.toContain(id);
    await bucket.discard('half.parquet', id);
    await expect(bucket.open('half.parquet', id).finish()).rejects.toThrow('was refused');
    expect(await bucket.sizeOf('half.parquet')).toBeUndefined();
  });

  it('never replaces a file where the service knows the condition', async () => {
    server.fail(({ method, url, headers }) => {
      const isCompletion = method === 'POST' && url?.includes('uploadId=');
      return isCompletion && headers['if-none-match'] === '*' ? { status: 412 } : undefined;
    });
    await expect(upload('taken.parquet', content(10))).rejects.toThrow(FileExists);
    expect(await bucket.sizeOf('taken.parquet')).toBeUndefined();
  });

  it('finishes without the condition where the service does not know it', async () => {
    server.fail(({ headers }) => (headers['if-none-match'] === '*' ? { status: 501 } : undefined));
    await upload('plain.parquet', content(10));
    expect(await bucket.sizeOf('plain.parquet')).toBe(10);
  });

  it('is asked again after a failure that passes', async () => {
    let failures = 0;
    server.fail(() => {
      failures += 1;
      return failures === 1 ? { status: 503, body: '<Error><Code>SlowDown</Code></Error>' } : undefined;
    });
    await bucket.check();
    failures = 0;
    server.fail(() => (++failures === 1 ? 'cut' : undefined));
    await bucket.check();
  });

  it('does not take an error within the status 200 for a success', async () => {
    const body =
      '<?xml version="1.0"?>\n<Error><Code>MalformedXML</Code><Message>no &lt;b&gt;</Message></Error>';
    server.fail(({ url, method }) =>
      method === 'POST' && url?.includes('uploadId=') ? { status: 200, body } : undefined,
    );
    await expect(upload('never.parquet', content(10))).rejects.toThrow('MalformedXML. no <b>');
  });

  it.each([
    [
      'a wrong secret',
      { secretAccessKey: 'wrong' },
      /Check USAGE_ARCHIVE_ACCESS_KEY_ID, USAGE_ARCHIVE_SECRET/,
    ],
    ['an unknown key', { accessKeyId: 'NOBODY' }, /Check USAGE_ARCHIVE_ACCESS_KEY_ID/],
    ['an unknown bucket', { bucket: 'nowhere' }, /Check the bucket in USAGE_ARCHIVE/],
  ])('is refused for %s, with advice and without the secret', async (_name, change, advice) => {
    const wrong = new ArchiveBucket({ ...server.settings, ...change });
    const error = await wrong.begin('file').catch((reason: unknown) => reason);
    expect(String(error)).toMatch(advice);
    expect(String(error)).not.toContain('wrong');
    await wrong.close();
  });

  it('that is away is named with its address', async () => {
    const away = new ArchiveBucket({ ...server.settings, endpoint: 'http://127.0.0.1:9' });
    await expect(away.check()).rejects.toThrow(/http:\/\/127.0.0.1:9 failed.*Check USAGE_ARCHIVE_ENDPOINT/);
    await away.close();
  });

  it('ends its requests when the process stops', async () => {
    const stopping = new AbortController();
    const stopped = new ArchiveBucket(server.settings, stopping.signal);
    stopping.abort();
    await expect(stopped.check()).rejects.toThrow('abort');
    await stopped.close();
  });
});

/** Keys and time of the examples: docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
const KEYS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const AT = Date.UTC(2013, 4, 24);

describe('the signature of a request to a bucket', () => {
  it.each([
    ['?lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    ['?max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ])('equals that of the published example %s', async (search, signature) => {
    const url = `https://examplebucket.s3.amazonaws.com/${search}`;
    const { authorization } = await signedHeaders(KEYS, {
      ...{ method: 'GET', url, headers: {}, body: undefined, at: AT },
    });
    expect(authorization).toContain(`Signature=${signature}`);
  });

  it("equals that of the AWS SDK's signer for any name, upload and body", async () => {
    const name = fc.stringMatching(/^[a-z0-9._-]{1,30}$/).filter((text) => !/^\.+$/.test(text));
    const id = fc.stringMatching(/^[A-Za-z0-9+/=._~-]{1,60}$/);
    await fc.assert(
      fc.asyncProperty(name, id, fc.uint8Array({ maxLength: 50 }), async (file, uploadId, body) => {
        const host = 'records.s3.eu-west-1.amazonaws.com';
        const query = { partNumber: '7', uploadId };
        const url = new URL(`https://${host}/gateway/${file}`);
        for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
        const keys = { ...KEYS, region: 'eu-west-1' };
        const unsigned = { method: 'PUT', url: url.href, headers: {}, body };
        const ours = await signedHeaders(keys, { ...unsigned, at: AT });
        const sdk = new SignatureV4({
          ...{ service: 's3', region: 'eu-west-1', credentials: KEYS, sha256: Sha256, uriEscapePath: false },
        });
        const headers = { host, 'x-amz-content-sha256': ours['x-amz-content-sha256'] ?? '' };
        const theirs = await sdk.sign(
          { method: 'PUT', protocol: 'https:', hostname: host, path: url.pathname, query, headers, body },
          { signingDate: new Date(AT) },
        );
        expect(ours['authorization']).toBe(theirs.headers['authorization']);
      }),
      { numRuns: 20 },
    );
  });
});

describe('texts in XML', () => {
  it('are read as they were written, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(textIn(`<A><ETag>${toXml(text)}</ETag></A>`, 'ETag')).toBe(text);
      }),
    );
    expect(textIn('<ETag>&#34;a&#x22;&apos;</ETag>', 'ETag')).toBe('"a"\'');
    expect(textIn('<Other/>', 'ETag')).toBeUndefined();
  });
});
