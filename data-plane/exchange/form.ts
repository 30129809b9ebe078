/**
 * Reads a multipart form as it arrives, spools its files, and writes a new form for the upstream, so that
 * every upstream's parser reads the model that is billed.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import { GatewayError } from '@gateway/shared/failures';
import { bodyTooLarge, invalidRequest } from '../call/refusals.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { inspect } from '../dialects/member-table.ts';
import type { Findings, MemberTable } from '../dialects/member-table.ts';
import type { Payload } from './relay.ts';
import type { Spool, SpooledFile } from './spool.ts';

/** Maximum number of fields and files in one form. */
const FORM_PARTS = 16;
/** Maximum size of a field's value, in bytes: prompts are the longest. */
const FIELD_BYTES = 256 * 1024;
const PART_HEADER_BYTES = 8 * 1024;
const PART_HEADERS = 16;
const MALFORMED = 'The form is malformed. Check its boundary, and that it is complete.';
const LINE_END = '\r\n';
/** Values of content-transfer-encoding that leave the bytes as they are. */
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

type Part =
  | { name: string; value: string }
  | { name: string; filename: string; contentType: string; file: SpooledFile; hash: Hash | undefined };

/** A form that was read to its end. */
export interface Form {
  /** Values by field name; the last one of a repeated name (`…[]`). */
  fields: JsonObject;
  files: { name: string }[];
  payload: Payload;
  /** SHA-256 of all parts in their order, in hex. It ignores the boundary, which differs at every try. */
  digest: string | undefined;
}

/** A form as it arrives. */
interface FormSource {
  body: AsyncIterable<Buffer>;
  contentType: string;
  limitBytes: number;
  /** Which fields and files pass. */
  members: MemberTable;
  /** The wallet that the files count for. */
  walletId: string;
  spool: Spool;
  /** Called with the length of each field, which stays in memory. Throws if there is no room for it. */
  keep?(characters: number): void;
  /**
   * Called with each file before it is filled, so that the caller can delete the file after success and
   * failure.
   */
  onFile(file: SpooledFile): void;
  /** Whether to compute the digest, which costs CPU time for every byte of the files. */
  withDigest: boolean;
}

/**
 * Reads the whole form. Throws `invalid_request` for a malformed form or too many parts, `body_too_large`,
 * `client_closed` if the client leaves, and `unavailable` if there is no room for its files.
 */
export async function readForm(source: FormSource): Promise<Form> {
  const reader = new FormReader(source);
  const size = await reader.run();
  const { parts } = reader;
  // `fromEntries` defines even a field named __proto__ as an ordinary property.
  const fields: JsonObject = Object.fromEntries(
    parts.flatMap((part) => ('value' in part ? [[part.name, part.value]] : [])),
  );
  const files = parts.flatMap((part) => ('file' in part ? [{ name: part.name }] : []));
  const digest = source.withDigest ? digestOf(parts) : undefined;
  return { fields, files, payload: payloadOf(parts, size, source.members), digest };
}

/** The member that a part belongs to: `image[]`, `image[0]` and `image[x]` are parts of `image`. */
function memberOf({ name }: Part): string {
  return /^[^[]*/.exec(name)?.[0] ?? name;
}

/** Compares the parts with a table. No part of a member in several parts counts as an ordinary value. */
function findingsOf(parts: readonly Part[], members: MemberTable): Findings {
  const values = new Map<string, string[]>();
  for (const part of parts)
    values.set(memberOf(part), [...(values.get(memberOf(part)) ?? []), 'value' in part ? part.value : '']);
  const read = [...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]);
  return inspect(Object.fromEntries(read), members);
}

/** Each file has its own hash, because the parser may reach the next part before a file is spooled. */
function digestOf(parts: readonly Part[]): string {
  const described = parts.map((part) =>
    'value' in part
      ? [part.name, part.value]
      : [part.name, part.filename, part.contentType, part.hash?.digest('hex')],
  );
  return createHash('sha256').update(JSON.stringify(described)).digest('hex');
}

class FormReader {
  readonly parts: Part[] = [];
  readonly #source: FormSource;
  readonly #parser: BusboyInstance;
  readonly #filling: Promise<void>[] = [];
  readonly #streams: BusboyFileStream[] = [];
  readonly #failed = Promise.withResolvers<never>();
  readonly #names = new Set<string>();
  /** The parser finishes at the closing boundary, which may come before the end of the body. */
  readonly #finished: Promise<unknown>;
  #failure: GatewayError | undefined;

  constructor(source: FormSource) {
    this.#source = source;
    this.#parser = parserFor(source);
    this.#failed.promise.catch(() => undefined);
    this.#finished = once(this.#parser, 'finish');
    this.#finished.catch(() => undefined);
    const refuse = (message: string) => () => this.#fail(invalidRequest(message));
    this.#parser.on('partsLimit', refuse(`A form may have at most ${FORM_PARTS} parts. Send fewer.`));
    this.#parser.on('error', refuse(MALFORMED));
    this.#parser.on('field', (...[name, value, isNameCut, isValueCut, encoding]) => {
      this.#checkEncoding(encoding);
      if (isNameCut || isValueCut)
        this.#fail(invalidRequest('A field of the form is too long. Shorten it.', name));
      try {
        this.#source.keep?.(value.length);
      } catch (error) {
        this.#fail(asFailure(error));
      }
      this.#add({ name, value });
    });
    this.#parser.on('file', (...[name, stream, filename, encoding, contentType]) => {
      this.#checkEncoding(encoding);
      this.#spoolFile({ name, filename, contentType }, stream);
    });
  }

  /** Resolves with the size of the body, in bytes. */
  async run(): Promise<number> {
    const { body } = this.#source;
    let size = 0;
    try {
      for await (const chunk of body) {
        size += chunk.length;
        if (!this.#parser.write(chunk)) await this.#until(once(this.#parser, 'drain'));
        if (this.#failure) throw this.#failure;
      }
      this.#parser.end();
      await this.#until(this.#finished);
      await this.#until(Promise.all(this.#filling));
      if (this.#failure) throw this.#failure;
      return size;
    } catch (cause) {
      for (const stream of this.#streams) stream.destroy();
      throw this.#failure ?? asFailure(cause);
    }
  }

  /** Waits for an event, or rejects with the form's failure: a failed parser emits no further events. */
  async #until(event: Promise<unknown>): Promise<void> {
    event.catch(() => undefined);
    await Promise.race([event, this.#failed.promise]);
  }

  /** Some parsers decode such parts and others do not: https://www.rfc-editor.org/rfc/rfc7578#section-4.7 */
  #checkEncoding(encoding: string): void {
    if (!PLAIN_ENCODINGS.has(encoding))
      this.#fail(invalidRequest('Send the parts of the form without content-transfer-encoding.'));
  }

  #add(part: Part): void {
    const { name } = part;
    if (typeof name !== 'string' || name === '')
      return this.#fail(invalidRequest('A part of the form has no name. Name every part.'));
    const isRepeated = this.#names.has(name) && 'value' in part && !name.endsWith('[]');
    if (isRepeated)
      this.#fail(invalidRequest(`The field "${name.slice(0, 100)}" comes twice. Send it once.`, name));
    // Some upstreams would read such a part instead of the billed model.
    if (name.toLowerCase() === 'model' && (name !== 'model' || 'file' in part))
      this.#fail(invalidRequest('Write "model" in lower case, as an ordinary field.', name));
    this.#names.add(name);
    this.parts.push(part);
  }

  #spoolFile(head: { name: string; filename: string; contentType: string }, stream: BusboyFileStream): void {
    const file = this.#source.spool.file(this.#source.walletId);
    this.#source.onFile(file);
    const hash = this.#source.withDigest ? createHash('sha256') : undefined;
    this.#add({ ...head, file, hash });
    this.#streams.push(stream);
    stream.on('limit', () => this.#fail(bodyTooLarge(this.#source.limitBytes)));
    const filled = file.fill(stream, hash).catch((cause: unknown) => {
      this.#fail(cause instanceof GatewayError ? cause : invalidRequest(MALFORMED));
    });
    this.#filling.push(filled);
  }

  /** Keeps the first failure. */
  #fail(error: GatewayError): void {
    this.#failure ??= error;
    this.#failed.reject(this.#failure);
  }
}

function parserFor({ contentType, limitBytes }: FormSource): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: {
        parts: FORM_PARTS,
        fieldSize: FIELD_BYTES,
        fileSize: limitBytes,
        headerPairs: PART_HEADERS,
        headerSize: PART_HEADER_BYTES,
      },
    });
  } catch {
    throw invalidRequest('The content type names no boundary. Let your HTTP library set the content type.');
  }
}

/** The new form: the parts that are sent, in their order, with the upstream's name of the model. */
function payloadOf(parts: readonly Part[], size: number, members: MemberTable): Payload {
  const boundary = `gateway-${randomBytes(16).toString('hex')}`;
  const end = Buffer.from(`--${boundary}--${LINE_END}`);
  return {
    size,
    contentType: `multipart/form-data; boundary=${boundary}`,
    findings: findingsOf(parts, members),
    withModel: (model, removals) => {
      const removed = new Set(removals.map(([name]) => name));
      const sent = parts.filter((part) => !removed.has(memberOf(part)));
      const pieces = sent.map((part) => pieceOf(part, boundary, model));
      const total = pieces.reduce((sum, { head, body }) => sum + head.length + sizeOf(body) + 2, end.length);
      return { body: Readable.from(write(pieces, end), { objectMode: false }), size: total };
    },
  };
}

interface Piece {
  head: Buffer;
  body: Buffer | SpooledFile;
}

function pieceOf(part: Part, boundary: string, model: string): Piece {
  const lines = [`--${boundary}`];
  if ('value' in part) {
    lines.push(`Content-Disposition: form-data; name="${escaped(part.name)}"`, '', '');
    const value = part.name === 'model' ? model : part.value;
    return { head: Buffer.from(lines.join(LINE_END)), body: Buffer.from(value) };
  }
  const names = `name="${escaped(part.name)}"; filename="${escaped(part.filename ?? 'file')}"`;
  lines.push(`Content-Disposition: form-data; ${names}`, `Content-Type: ${part.contentType}`, '', '');
  return { head: Buffer.from(lines.join(LINE_END)), body: part.file };
}

async function* write(pieces: readonly Piece[], end: Buffer): AsyncGenerator<Buffer> {
  for (const { head, body } of pieces) {
    yield head;
    if (Buffer.isBuffer(body)) yield body;
    else yield* body.read();
    yield Buffer.from(LINE_END);
  }
  yield end;
}

function sizeOf(body: Piece['body']): number {
  return Buffer.isBuffer(body) ? body.length : body.size;
}

/** Escapes a name as https://html.spec.whatwg.org/#multipart-form-data says. */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function asFailure(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  return new GatewayError('client_closed', 'The request body broke off.', { cause });
}
