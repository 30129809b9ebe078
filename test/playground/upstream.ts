/** A fake upstream for tests of the Playground. It can pause in the middle of an answer, or fail. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A question with this word gets the first half of its answer, and the second half after `resume`. */
export const HOLD = 'hold';
/** A question with this word is answered with `MARKUP`. */
export const ASK_MARKUP = 'markup';
export const FIRST_HALF = 'The first half';
export const SECOND_HALF = ' and the second one.';
/**
 * Markup that a page must not trust: raw HTML, a picture of another site, a link that hides its address,
 * scripts in links, pictures, diagrams and formulas.
 */
export const MARKUP = [
  '<img src="https://elsewhere.example/raw.png" onerror="document.title = \'broken in\'">',
  '<script>document.title = "broken in"</script>',
  '![words](https://elsewhere.example/picture.png?told=secret)',
  '[a link](https://elsewhere.example/path)',
  '[run](javascript:document.title="broken in") <svg onload="document.title = \'broken in\'"></svg>',
  '![vector](data:image/svg+xml,<svg onload="document.title=1"/>) <javascript:document.title="broken in">',
  '```mermaid\ngraph TD; A --> B; click A "javascript:document.title=1"\n```',
  '$$\\href{javascript:document.title="broken in"}{x}$$',
  '```js\nconst answer = 42;\n```',
].join('\n\n');

interface Part {
  type: string;
  text?: string;
  image_url?: { url: string };
}

export interface ChatBody {
  model: string;
  messages: { role: string; content: string | Part[] }[];
}

export interface HeldUpstream {
  origin: string;
  /** Bodies of all requests, oldest first. */
  seen: ChatBody[];
  /** Answers a request in another way than with its question; undefined for the usual answer. */
  reply: (body: ChatBody) => string | undefined;
  /** While true, every request is answered with 500. */
  broken: boolean;
  /** Sends the rest of all paused answers. */
  resume(): void;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. */
export async function startHeldUpstream(): Promise<HeldUpstream> {
  const held = new Set<() => void>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as ChatBody;
      upstream.seen.push(body);
      if (upstream.broken) response.writeHead(500).end('{}');
      else answer(response, { body, held, text: upstream.reply(body) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: HeldUpstream = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    reply: () => undefined,
    broken: false,
    resume: () => {
      for (const rest of held) rest();
      held.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return upstream;
}

/** The text of the last question. */
export function questionOf({ messages }: ChatBody): string {
  const content = messages.at(-1)?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((part) => part.text ?? '').join('');
}

interface Answer {
  body: ChatBody;
  held: Set<() => void>;
  text: string | undefined;
}

function answer(response: ServerResponse, { body, held, text: given }: Answer): void {
  const question = questionOf(body);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const end = (text: string): void => {
    response.write(frame(body.model, { content: text }, null));
    response.write(frame(body.model, {}, 'stop'));
    response.end('data: [DONE]\n\n');
  };
  if (given !== undefined) end(given);
  else if (question.includes(HOLD)) {
    response.write(frame(body.model, { role: 'assistant', content: FIRST_HALF }, null));
    held.add(() => end(SECOND_HALF));
  } else end(question.includes(ASK_MARKUP) ? MARKUP : `${body.model} heard: ${question}`);
}

function frame(model: string, delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
