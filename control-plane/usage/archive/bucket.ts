/** Archived files in a bucket with the interface of Amazon S3, written by multipart uploads. */
import type { BucketSettings } from '../../process/archive-settings.ts';
import { BucketClient, BucketError } from './bucket.client.ts';
import { FileExists } from './target.ts';
import type { ArchiveTarget, ArchiveUpload } from './target.ts';
import { textIn, toXml } from './xml.ts';

/**
 * Bytes of each part but the last, which all have to be of one size at some services. At most 10,000 parts
 * make a file: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
 */
const PART_BYTES = 8 * 1024 * 1024;

/** Answers to the end of an unknown upload, and of services that end unfinished uploads by themselves. */
const NOTHING_TO_DISCARD: ReadonlySet<number> = new Set([404, 405, 501]);

/** A bucket. An upload that is not finished is no object. */
export class ArchiveBucket implements ArchiveTarget {
  readonly #settings: BucketSettings;
  readonly #client: BucketClient;

  /** The signal ends requests in progress. */
  constructor(settings: BucketSettings, signal?: AbortSignal) {
    this.#settings = settings;
    this.#client = new BucketClient(settings, signal);
  }

  locate(name: string): string {
    return `s3://${this.#settings.bucket}/${this.#keyOf(name)}`;
  }

  async check(): Promise<void> {
    await this.#client.send({ method: 'HEAD' });
  }

  async sizeOf(name: string): Promise<number | undefined> {
    try {
      const { headers } = await this.#client.send({ method: 'HEAD', key: this.#keyOf(name) });
      return Number(headers['content-length']);
    } catch (error) {
      if (error instanceof BucketError && error.status === 404) return undefined;
      throw error;
    }
  }

  async read(name: string, { start, end }: { start: number; end: number }): Promise<Uint8Array> {
    const { body } = await this.#client.send({
      ...{ method: 'GET', key: this.#keyOf(name), answerBytes: end - start },
      headers: { range: `bytes=${start}-${end - 1}` },
    });
    if (body.length !== end - start)
      throw new Error(`${this.locate(name)}: ${body.length} bytes came for the range ${start} to ${end}.`);
    return body;
  }

  async begin(name: string): Promise<string> {
    const { body } = await this.#client.send({
      ...{ method: 'POST', key: this.#keyOf(name), query: { uploads: '' } },
      headers: { 'content-type': 'application/vnd.apache.parquet' },
    });
    const upload = textIn(body.toString('utf8'), 'UploadId');
    if (!upload) throw new Error(`${this.locate(name)}: the service began an upload without an id.`);
    return upload;
  }

  open(name: string, upload: string): ArchiveUpload {
    const key = this.#keyOf(name);
    return new BucketUpload(this.#client, { key, upload, location: this.locate(name) });
  }

  async discard(name: string, upload: string): Promise<void> {
    try {
      await this.#client.send({ method: 'DELETE', key: this.#keyOf(name), query: { uploadId: upload } });
    } catch (error) {
      if (!(error instanceof BucketError) || !NOTHING_TO_DISCARD.has(error.status)) throw error;
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #keyOf(name: string): string {
    return this.#settings.prefix === '' ? name : `${this.#settings.prefix}/${name}`;
  }
}

interface UploadPlace {
  key: string;
  upload: string;
  location: string;
}

class BucketUpload implements ArchiveUpload {
  readonly #client: BucketClient;
  readonly #place: UploadPlace;
  readonly #tags: string[] = [];
  /** Bytes of the next part, of which `#filled` are used. */
  readonly #part = new Uint8Array(PART_BYTES);
  #filled = 0;

  constructor(client: BucketClient, place: UploadPlace) {
    this.#client = client;
    this.#place = place;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length;) {
      const taken = Math.min(bytes.length - start, PART_BYTES - this.#filled);
      this.#part.set(bytes.subarray(start, start + taken), this.#filled);
      this.#filled += taken;
      start += taken;
      if (this.#filled === PART_BYTES) await this.#send();
    }
  }

  async finish(): Promise<void> {
    if (this.#filled > 0) await this.#send();
    const parts = this.#tags.map(
      (tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${toXml(tag)}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    try {
      await this.#complete(body, { 'if-none-match': '*' });
    } catch (error) {
      if (!(error instanceof BucketError)) throw error;
      if (error.status === 412) throw new FileExists(this.#place.location);
      // Services that do not know the condition: the caller has seen that the name is free.
      if (error.status !== 501) throw error;
      await this.#complete(body, {});
    }
  }

  async close(): Promise<void> {}

  async #complete(body: string, headers: Record<string, string>): Promise<void> {
    const { key, upload } = this.#place;
    await this.#client.send({
      ...{ method: 'POST', key, query: { uploadId: upload } },
      headers: { ...headers, 'content-type': 'application/xml' },
      body: new TextEncoder().encode(body),
    });
  }

  async #send(): Promise<void> {
    const { key, upload } = this.#place;
    const { headers } = await this.#client.send({
      ...{ method: 'PUT', key },
      query: { partNumber: String(this.#tags.length + 1), uploadId: upload },
      body: this.#part.slice(0, this.#filled),
    });
    this.#filled = 0;
    this.#tags.push(String(headers['etag'] ?? ''));
  }
}
