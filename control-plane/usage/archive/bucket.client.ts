/** Requests to a service with the interface of Amazon S3: signed, bounded, repeated after short failures. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { BucketSettings } from '../../process/archive-settings.ts';
import { readAnswer } from '../../process/read-answer.ts';
import { signedHeaders } from './bucket.signature.ts';
import { textIn } from './xml.ts';

const CONNECT_MS = 10_000;
/** Time for one request with its body, in ms: a part of an upload over a slow line takes minutes. */
const TOTAL_MS = 5 * 60_000;
/** Pauses before the second and the third attempt, in ms. */
const PAUSES_MS = [250, 1000];
/** Bytes of an answer that is not a file. */
const XML_BYTES_MAX = 1024 * 1024;
/** Characters of the service's message in an error. */
const MESSAGE_LENGTH_MAX = 300;

/** A request for the bucket, or for an object in it. */
interface BucketRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Name of the object with the prefix; undefined for the bucket. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
  /** Largest answer in bytes; that of a short document by default. */
  answerBytes?: number;
}

/** An answer. */
export interface BucketAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** An error of the service with its code, e.g. AccessDenied. */
export class BucketError extends Error {
  readonly status: number;
  readonly code: string;

  constructor({ status, code, message }: { status: number; code: string; message: string }) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Connections to one bucket. */
export class BucketClient {
  readonly #settings: BucketSettings;
  readonly #agent = new Agent({ connect: { timeout: CONNECT_MS } });
  readonly #signal: AbortSignal | undefined;

  /** The signal ends requests in progress. */
  constructor(settings: BucketSettings, signal?: AbortSignal) {
    this.#settings = settings;
    this.#signal = signal;
  }

  /** Sends a request. Rejects with BucketError for every status but 200 to 299. */
  async send(wanted: BucketRequest): Promise<BucketAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      const pause = PAUSES_MS[attempt];
      try {
        const answer = await this.#sendOnce(wanted);
        const error = errorIn(answer, this.#describe(wanted));
        if (!error) return answer;
        if (pause === undefined || !isPassing(error)) throw error;
      } catch (error) {
        if (error instanceof BucketError || pause === undefined || this.#signal?.aborted)
          throw this.#explain(error, wanted);
      }
      await delay(pause, undefined, { signal: this.#signal });
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #sendOnce({ method, key, query, headers, body, answerBytes }: BucketRequest): Promise<BucketAnswer> {
    const url = this.#addressOf(key, query);
    const signed = await signedHeaders(this.#settings, {
      ...{ method, url, headers: headers ?? {}, body, at: Date.now() },
    });
    const timeout = AbortSignal.timeout(TOTAL_MS);
    const answer = await request(url, {
      ...{ method, dispatcher: this.#agent, headers: signed },
      signal: this.#signal ? AbortSignal.any([timeout, this.#signal]) : timeout,
      ...{ headersTimeout: TOTAL_MS, bodyTimeout: TOTAL_MS },
      body: body ?? null,
    });
    const read = await readAnswer(answer.body, Math.max(answerBytes ?? 0, XML_BYTES_MAX));
    if (read === null) throw new Error('the answer is larger than expected');
    return { status: answer.statusCode, headers: answer.headers, body: read };
  }

  #addressOf(key: string | undefined, query: BucketRequest['query'] = {}): string {
    const { endpoint, bucket, isPathStyle } = this.#settings;
    const url = new URL(endpoint);
    if (!isPathStyle) url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = [...(isPathStyle ? [bucket] : []), ...(key === undefined ? [] : [key])].join('/');
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  }

  #describe({ method, key }: BucketRequest): string {
    const { bucket, endpoint } = this.#settings;
    return `${method} of ${key === undefined ? 'the bucket' : key} in ${bucket} at ${endpoint}`;
  }

  #explain(error: unknown, wanted: BucketRequest): Error {
    if (error instanceof BucketError) return error;
    const reason = error instanceof Error ? error.message || error.name : String(error);
    const advice = 'Check USAGE_ARCHIVE_ENDPOINT and the network. The partition is kept.';
    return new Error(`${this.#describe(wanted)} failed: ${reason}. ${advice}`, { cause: error });
  }
}

/**
 * The error of an answer; undefined for success. Completing an upload can fail after the status 200 was sent.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
function errorIn({ status, body, headers }: BucketAnswer, what: string): BucketError | undefined {
  const isXml =
    String(headers['content-type'] ?? '').includes('xml') || body.subarray(0, 5).equals(XML_START);
  const text = isXml ? body.toString('utf8') : '';
  const isFailure = status < 200 || status > 299 || (isXml && /^(<\?xml[^>]*>\s*)?<Error>/.test(text));
  if (!isFailure) return undefined;
  const code = textIn(text, 'Code') ?? `status ${status}`;
  const said = (textIn(text, 'Message') ?? '').slice(0, MESSAGE_LENGTH_MAX);
  const parts = [`${what} was refused: ${code}.`, said, adviceOn(code, status)];
  const message = parts.filter((part) => part !== '').join(' ');
  return new BucketError({ status, code, message });
}

const XML_START = Buffer.from('<?xml');

function isPassing({ status, code }: BucketError): boolean {
  const isServers = status >= 500 && status !== 501;
  return status === 429 || isServers || ['InternalError', 'SlowDown', 'RequestTimeout'].includes(code);
}

function adviceOn(code: string, status: number): string {
  if (code === 'RequestTimeTooSkewed') return 'Correct the clock of this machine.';
  if (['InvalidAccessKeyId', 'SignatureDoesNotMatch'].includes(code) || status === 401)
    return 'Check USAGE_ARCHIVE_ACCESS_KEY_ID, USAGE_ARCHIVE_SECRET_ACCESS_KEY and USAGE_ARCHIVE_REGION.';
  if (status === 403)
    return 'Allow s3:ListBucket, s3:GetObject, s3:PutObject and s3:AbortMultipartUpload for this key.';
  if (code === 'NoSuchBucket' || status === 404) return 'Check the bucket in USAGE_ARCHIVE.';
  if (status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed')
    return 'Set USAGE_ARCHIVE_REGION and USAGE_ARCHIVE_ENDPOINT to those of the bucket.';
  return 'The partition is kept, and the file is written again.';
}
