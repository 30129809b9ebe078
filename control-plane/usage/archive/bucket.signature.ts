/** Signs requests to a bucket by Signature Version 4 of AWS. */
import { createHash } from 'node:crypto';
import type { BucketSettings } from '../../process/archive-settings.ts';
import { signWith } from '../../upstreams/signing.ts';

/** A request to sign. */
interface UnsignedRequest {
  method: string;
  /** Absolute, with its query. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | undefined;
  /** ms since the epoch. */
  at: number;
}

type Keys = Pick<BucketSettings, 'accessKeyId' | 'secretAccessKey' | 'region'>;

/** The headers of the request with its signature, which covers the body. */
export async function signedHeaders(
  { accessKeyId, secretAccessKey, region }: Keys,
  { method, url, headers, body, at }: UnsignedRequest,
): Promise<Record<string, string>> {
  const digest = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  const signed = await signWith({
    ...{ accessKeyId, secretAccessKey, region, service: 's3', method, url },
    headers: { ...headers, 'x-amz-content-sha256': digest },
    datetime: new Date(at).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    cache: new Map(),
  });
  return Object.fromEntries(signed.headers);
}
