/** A chat request that is decoded from the outline of its body, and whole once somebody needs its texts. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ChatRequest } from '../dialects/canonical.ts';
import type { Inbound, RequestPath } from '../dialects/dialect.ts';
import type { ChatState } from './chat-state.ts';
import { conversationKey } from './conversation-key.ts';
import type { RequestBody } from './request-body.ts';

interface RequestSource {
  inbound: Inbound;
  body: RequestBody;
  path: RequestPath;
  state: ChatState | undefined;
}

/** A request of a client. The constructor throws `invalid_request` with the pointer of an invalid field. */
export class OutlinedRequest {
  /** The request, in which placeholders may stand for long texts. It decides everything but translations. */
  readonly outline: ChatRequest;
  readonly #source: RequestSource;
  #whole: ChatRequest | undefined;

  constructor(source: RequestSource) {
    this.#source = source;
    this.outline = decoded(source, 'outline');
    if (!source.body.lacksTexts) this.#whole = this.outline;
  }

  /** The request with all texts. A mirrored request does not need them, and reading them takes long. */
  get whole(): ChatRequest {
    const isRestored = this.#whole !== undefined || this.#source.body.restore(this.outline);
    this.#whole ??= isRestored ? this.outline : decoded(this.#source, 'exact');
    return this.#whole;
  }

  /** See `conversationKey`. */
  conversation(headers: IncomingHttpHeaders): string | undefined {
    const { body } = this.#source;
    const source = { body: body.outline, headers };
    const textOf = (text: string): string | undefined => body.textOf(text);
    return (
      conversationKey({ ...source, messages: this.outline.messages, textOf }) ??
      conversationKey({ ...source, messages: this.whole.messages })
    );
  }
}

function decoded({ inbound, body, path, state }: RequestSource, part: 'outline' | 'exact'): ChatRequest {
  return inbound.decodeRequest(state?.withoutReferences(body[part]) ?? body[part], path);
}
