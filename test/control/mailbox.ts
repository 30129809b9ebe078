/** A real SMTP server on a free port that keeps the mails it receives. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** One mail as its reader sees it. */
export interface Received {
  to: string;
  subject: string;
  text: string;
  headers: string;
}

export interface Mailbox {
  /** The value for SMTP_URL. */
  url: string;
  mails: Received[];
  /** SMTP statuses with which the next deliveries are refused, one each. */
  refusals: number[];
  close(): Promise<void>;
}

/** Starts the server and resolves when it listens. */
export async function startMailbox(): Promise<Mailbox> {
  const mails: Received[] = [];
  const refusals: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const responseCode = refusals.shift();
        if (responseCode) return done(Object.assign(new Error('Not now.'), { responseCode }));
        const to = session.envelope.rcptTo.map(({ address }) => address).join(', ');
        mails.push({ to, ...readMail(Buffer.concat(chunks).toString()) });
        return done();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refusals,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

function readMail(raw: string): Omit<Received, 'to'> {
  const [headers = '', ...rest] = raw.split('\r\n\r\n');
  const unfolded = headers.replace(/\r\n[ \t]+/g, ' ');
  const header = (name: string): string =>
    new RegExp(`^${name}: (.*)$`, 'im').exec(unfolded)?.[1]?.trim() ?? '';
  const body = rest.join('\r\n\r\n');
  return {
    headers: unfolded,
    subject: decodeWords(header('Subject')),
    text: decodeBody(body, header('Content-Transfer-Encoding')).replaceAll('\r\n', '\n').trim(),
  };
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  if (encoding === 'quoted-printable') return decodeQuoted(body.replace(/=\r\n/g, ''));
  return body;
}

/** Decodes the encoded words of RFC 2047. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString()
        : decodeQuoted(word.replaceAll('_', ' ')),
    );
}

function decodeQuoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}
