/**
 * Multipart forms: a second parser reads the same entries in the client's bytes as in the form that we write.
 */
import { Readable } from 'node:stream';
import { GatewayError } from '@gateway/shared/failures';
import { readForm } from '../../../data-plane/exchange/form.ts';
import type { Form } from '../../../data-plane/exchange/form.ts';
import { RELAY_MEMBERS } from '../../../data-plane/exchange/relay-members.ts';
import { Spool } from '../../../data-plane/exchange/spool.ts';
import type { SpooledFile } from '../../../data-plane/exchange/spool.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

const CONTENT_TYPE = 'multipart/form-data; boundary=bound';
/** The names of a part as clients write them. */
const HEAD = /^content-disposition: form-data; name="[\w[\].-]+"(; filename="[\w.-]*")?$/i;
const LIMIT_BYTES = 1_000_000;
const spool = new Spool();

/** Name, and text of a field or content of a file. */
type Entry = [name: string, value: string, kind: 'field' | 'file'];

export const target: FuzzTarget = {
  async run(input) {
    const files: SpooledFile[] = [];
    try {
      const form = await read(input, files);
      if (!form) return;
      const { body, size } = form.payload.withModel('upstream-model', []);
      const chunks: Buffer[] = [];
      for await (const chunk of body as Readable) chunks.push(chunk as Buffer);
      const written = Buffer.concat(chunks);
      demand(written.length === size, 'a form is written with another size than announced');
      const ours = await entriesOf(written, form.payload.contentType);
      demand(ours !== undefined, 'a form that we wrote cannot be read');
      const theirs = isOrdinary(input) ? await entriesOf(input, CONTENT_TYPE) : undefined;
      if (!theirs) return;
      const rest = theirs.map((entry) => JSON.stringify(sent(entry)));
      // Our parser may skip a malformed part, which is then not sent. It must not invent a part.
      for (const entry of ours) {
        const at = rest.indexOf(JSON.stringify(entry));
        demand(at >= 0, () => `a second parser reads another part: ${JSON.stringify([entry, theirs])}`);
        rest.splice(0, at + 1);
      }
      for (const [name, value, kind] of theirs)
        if (kind === 'field' && name === 'model')
          demand([undefined, value].includes(modelOf(form)), 'another model is billed');
    } finally {
      await Promise.all(files.map((file) => file.drop()));
    }
  },
  seeds: [
    part('Content-Disposition: form-data; name="model"', 'm') +
      part(
        'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav',
        'RIFF',
      ) +
      '--bound--\r\n',
    part("Content-Disposition: form-data; name=a[]; filename*=UTF-8''a%20b", 'x') +
      part('content-disposition: form-data; name="a[]"\r\nContent-Transfer-Encoding: base64', 'eA==') +
      '--bound--',
  ],
  tokens: [
    '--bound',
    '\r\n--bound\r\n',
    '\r\n--bound--\r\n',
    '\r\n\r\n',
    'Content-Disposition: form-data; ',
    'name="model"',
    'name="a[]"',
    'filename="x"',
    "filename*=UTF-8''x",
    'Content-Type: text/plain; charset=utf-16le',
    'Content-Transfer-Encoding: base64',
    '%22',
    '\\"',
  ],
};

function part(head: string, value: string): string {
  return `--bound\r\n${head}\r\n\r\n${value}\r\n`;
}

/**
 * Whether both parsers must agree. They differ about text before the first boundary, about heads that no
 * client writes, and about two heads of one part; that does no harm, because the upstream gets what we read.
 */
function isOrdinary(input: Buffer): boolean {
  const text = input.toString('latin1');
  if (!text.startsWith('--bound\r\n')) return false;
  // A boundary begins a line: elsewhere it is text of a head or value.
  return `\r\n${text}`.split('\r\n--bound\r\n').every((piece) => {
    const [head, second] = piece.match(/^content-disposition.*$/gim) ?? [];
    return second === undefined && (head === undefined || HEAD.test(head.trimEnd()));
  });
}

/** The form; undefined if it is refused. */
async function read(input: Buffer, files: SpooledFile[]): Promise<Form | undefined> {
  const middle = Math.floor(input.length / 2);
  const body = Readable.from([input.subarray(0, middle), input.subarray(middle)], { objectMode: false });
  try {
    return await readForm({
      body,
      contentType: CONTENT_TYPE,
      limitBytes: LIMIT_BYTES,
      members: RELAY_MEMBERS.transcriptions,
      walletId: 'wallet_a',
      spool,
      withDigest: true,
      onFile: (file) => void files.push(file),
    });
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The entries as Node's own parser (undici) reads them; undefined if it refuses them. */
async function entriesOf(bytes: Buffer, contentType: string): Promise<Entry[] | undefined> {
  const headers = { 'content-type': contentType };
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(bytes), { headers }).formData();
  } catch {
    return undefined;
  }
  const entries: Entry[] = [];
  for (const [name, value] of form)
    if (typeof value === 'string') entries.push([name, value, 'field']);
    else entries.push([name, Buffer.from(await value.arrayBuffer()).toString('latin1'), 'file']);
  return entries;
}

/** The model that is billed; undefined for a form that is refused because it has none. */
function modelOf({ fields }: Form): string | undefined {
  return typeof fields.model === 'string' ? fields.model : undefined;
}

/** The entry as the upstream should get it. */
function sent([name, value, kind]: Entry): Entry {
  return [name, name === 'model' && kind === 'field' ? 'upstream-model' : value, kind];
}
