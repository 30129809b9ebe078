/**
 * Multipart forms: read as they come, files parked, and written anew for the upstream, so that what is
 * billed is what any upstream's parser reads.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import { GatewayError } from '@gateway/shared/failures';
import type { JsonObject } from '../dialects/fields.ts';
import type { ParkedFile, Uploads } from './parked.ts';
import type { Payload } from './relay.ts';

/** Fields and files of one form, at most. */
export const FORM_PARTS = 16;
/** One field's value, in bytes: prompts are the longest. */
const FIELD_BYTES = 256 * 1024;
const PART_HEADER_BYTES = 8 * 1024;
const PART_HEADERS = 16;
const MALFORMED = 'The form is malformed. Check its boundary and its end.';
const LINE_END = '\r\n';

type Part =
  | { name: string; value: string }
  | { name: string; filename: string; contentType: string; file: ParkedFile; hash: Hash | undefined };

/** A form that was read to its end. */
export interface Form {
  /** The fields' values by name; of a name that came several times (`…[]`), the last. */
  fields: JsonObject;
  files: { name: string }[];
  payload: Payload;
  /** Of all parts in their order, in hex; the boundary, which every client makes anew, is no part of it. */
  digest: string | undefined;
}

/** A form as it arrives. */
export interface FormSource {
  body: Readable;
  contentType: string;
  limitBytes: number;
  uploads: Uploads;
  /** Called with each file at once, so that it is dropped whatever happens. */
  park(file: ParkedFile): void;
  /** Whether the content's digest is wanted: it costs the processor a pass over the files. */
  digested: boolean;
}

/**
 * Reads the whole form. Throws `invalid_request` for what is no form or has too many parts, `body_too_large`,
 * `client_closed` when the client leaves meanwhile, and `unavailable` where there is no room for its files.
 */
export async function readForm(source: FormSource): Promise<Form> {
  const reader = new FormReader(source);
  const size = await reader.run();
  const { parts } = reader;
  // Defines even a field called __proto__ as an ordinary one.
  const fields: JsonObject = Object.fromEntries(
    parts.flatMap((part) => ('value' in part ? [[part.name, part.value]] : [])),
  );
  const files = parts.flatMap((part) => ('file' in part ? [{ name: part.name }] : []));
  const digest = source.digested ? digestOf(parts) : undefined;
  return { fields, files, payload: payloadOf(parts, size), digest };
}

/** Each file has a hash of its own: files are read while the parser is ahead of them. */
function digestOf(parts: readonly Part[]): string {
  const said = parts.map((part) =>
    'value' in part
      ? [part.name, part.value]
      : [part.name, part.filename, part.contentType, part.hash?.digest('hex')],
  );
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}

class FormReader {
  readonly parts: Part[] = [];
  readonly #source: FormSource;
  readonly #parser: BusboyInstance;
  readonly #filling: Promise<void>[] = [];
  readonly #streams: BusboyFileStream[] = [];
  readonly #failed = Promise.withResolvers<never>();
  readonly #names = new Set<string>();
  #failure: GatewayError | undefined;

  constructor(source: FormSource) {
    this.#source = source;
    this.#parser = parserFor(source);
    this.#failed.promise.catch(() => undefined);
    const refuse = (message: string) => () => this.#fail(invalid(message));
    this.#parser.on('partsLimit', refuse(`A form may have at most ${FORM_PARTS} parts.`));
    this.#parser.on('error', refuse(MALFORMED));
    this.#parser.on('field', (...[name, value, isNameCut, isValueCut]) => {
      if (isNameCut || isValueCut) this.#fail(invalid('A field of the form is too long.', name));
      this.#add({ name, value });
    });
    this.#parser.on('file', (...[name, stream, filename, , contentType]) =>
      this.#park({ name, filename, contentType }, stream),
    );
  }

  /** Resolves with the size of the body. */
  async run(): Promise<number> {
    const { body, limitBytes } = this.#source;
    let size = 0;
    try {
      for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > limitBytes) throw tooLarge(limitBytes);
        if (!this.#parser.write(chunk)) await this.#until(once(this.#parser, 'drain'));
        if (this.#failure) throw this.#failure;
      }
      const finished = once(this.#parser, 'finish');
      this.#parser.end();
      await this.#until(finished);
      await this.#until(Promise.all(this.#filling));
      if (this.#failure) throw this.#failure;
      return size;
    } catch (cause) {
      for (const stream of this.#streams) stream.destroy();
      // What still comes is read and thrown away, so that the client gets to see the answer.
      body.resume();
      throw this.#failure ?? asFailure(cause);
    }
  }

  /** Waits for something that a failed parser would never do. */
  async #until(event: Promise<unknown>): Promise<void> {
    event.catch(() => undefined);
    await Promise.race([event, this.#failed.promise]);
  }

  #add(part: Part): void {
    const { name } = part;
    if (typeof name !== 'string' || name === '')
      return this.#fail(invalid('A part of the form has no name.'));
    const isRepeated = this.#names.has(name) && 'value' in part && !name.endsWith('[]');
    if (isRepeated) this.#fail(invalid(`The field "${name.slice(0, 100)}" comes twice. Send it once.`, name));
    // Some parser would take another model from these than the one that is billed.
    if (name.toLowerCase() === 'model' && (name !== 'model' || 'file' in part))
      this.#fail(invalid('Write "model" in lower case, as an ordinary field.', name));
    this.#names.add(name);
    this.parts.push(part);
  }

  #park(head: { name: string; filename: string; contentType: string }, stream: BusboyFileStream): void {
    const file = this.#source.uploads.file();
    this.#source.park(file);
    const hash = this.#source.digested ? createHash('sha256') : undefined;
    this.#add({ ...head, file, hash });
    this.#streams.push(stream);
    stream.on('limit', () => this.#fail(tooLarge(this.#source.limitBytes)));
    const filled = file.fill(stream, hash).catch((cause: unknown) => {
      this.#fail(cause instanceof GatewayError ? cause : invalid(MALFORMED));
    });
    this.#filling.push(filled);
  }

  /** The first failure counts. */
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
    throw invalid('The content type names no boundary. Let your HTTP library write it.');
  }
}

/** The form written anew: same parts in the same order, the model by the upstream's name. */
function payloadOf(parts: readonly Part[], size: number): Payload {
  const boundary = `gateway-${randomBytes(16).toString('hex')}`;
  const end = Buffer.from(`--${boundary}--${LINE_END}`);
  return {
    size,
    contentType: `multipart/form-data; boundary=${boundary}`,
    renamed: (model) => {
      const pieces = parts.map((part) => pieceOf(part, boundary, model));
      const total = pieces.reduce((sum, { head, body }) => sum + head.length + sizeOf(body) + 2, end.length);
      return { body: Readable.from(write(pieces, end), { objectMode: false }), size: total };
    },
  };
}

interface Piece {
  head: Buffer;
  body: Buffer | ParkedFile;
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

/** https://html.spec.whatwg.org/#multipart-form-data */
function escaped(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function asFailure(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  return new GatewayError('client_closed', 'The request body broke off.', { cause });
}

function invalid(message: string, parameter?: string): GatewayError {
  return new GatewayError('invalid_request', message, parameter === undefined ? {} : { parameter });
}

function tooLarge(limitBytes: number): GatewayError {
  const megabytes = Math.floor(limitBytes / (1024 * 1024));
  return new GatewayError(
    'body_too_large',
    `The request body is larger than ${megabytes} MB. Send a smaller one.`,
  );
}
