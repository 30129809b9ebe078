/**
 * Names of tools for upstreams whose alphabet lacks some of their characters. A name depends on nothing but
 * the client's name, so that it stays the same in every turn of a conversation. Pure.
 */
import { createHash } from 'node:crypto';
import type { ProtocolName } from '@gateway/shared/catalog';
import type { ChatEvent, ChatRequest, ChatResponse, Part, Tool, ToolChoice } from '../dialects/canonical.ts';

/** Longest name that all upstreams take, in characters. */
const NAME_LENGTH = 64;
/** Characters of the hash at the end of a changed name. */
const HASH_LENGTH = 8;
const FOREIGN = /[^A-Za-z0-9_-]/g;

/** OpenAI's alphabet: https://platform.openai.com/docs/api-reference/chat/create */
const OPENAI_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** The names that upstreams of each format take. */
const NAMES: Record<ProtocolName, RegExp> = {
  'openai-chat': OPENAI_NAME,
  'openai-responses': OPENAI_NAME,
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
  'anthropic-messages': OPENAI_NAME,
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
  'bedrock-converse': OPENAI_NAME,
  // https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling
  'google-generate': /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/,
};

/** The names of one request's tools at upstreams of one format. */
export class ToolNames {
  readonly #sent = new Map<string, string>();
  readonly #received = new Map<string, string>();

  /** Maps every name in the request that the format does not take. */
  constructor(request: ChatRequest, dialect: ProtocolName) {
    const names = new Set(namesOf(request));
    for (const name of names) {
      if (NAMES[dialect].test(name)) continue;
      const sent = freeName(name, (taken) => names.has(taken) || this.#received.has(taken));
      this.#sent.set(name, sent);
      this.#received.set(sent, name);
    }
  }

  /** The request with the names for the upstream: the same object if all its names may stay. */
  sent(request: ChatRequest): ChatRequest {
    if (this.#sent.size === 0) return request;
    const { toolChoice } = request;
    return {
      ...request,
      messages: request.messages.map((message) => ({
        ...message,
        parts: message.parts.map((part) => this.#part(part)),
      })),
      tools: request.tools.map((tool) => this.#tool(tool)),
      ...(toolChoice === undefined ? {} : { toolChoice: this.#choice(toolChoice) }),
    };
  }

  /** The event of an answer with the client's names. */
  restored(event: ChatEvent): ChatEvent {
    if (event.type !== 'block-start' || event.block.kind !== 'tool-call') return event;
    const name = this.#received.get(event.block.name);
    return name === undefined ? event : { ...event, block: { ...event.block, name } };
  }

  /** The whole answer with the client's names. */
  restoredAnswer(response: ChatResponse): ChatResponse {
    if (this.#received.size === 0) return response;
    const choices = response.choices.map((choice) => ({
      ...choice,
      blocks: choice.blocks.map((block) =>
        block.kind === 'tool-call' ? { ...block, name: this.#received.get(block.name) ?? block.name } : block,
      ),
    }));
    return { ...response, choices };
  }

  #part(part: Part): Part {
    if (part.kind !== 'tool-call' && part.kind !== 'tool-result') return part;
    return { ...part, name: this.#name(part.name) };
  }

  #tool(tool: Tool): Tool {
    return tool.kind === 'builtin' ? tool : { ...tool, name: this.#name(tool.name) };
  }

  #choice(choice: ToolChoice): ToolChoice {
    if (typeof choice === 'string') return choice;
    if ('name' in choice) return { name: this.#name(choice.name) };
    return { ...choice, allowed: choice.allowed.map((name) => this.#name(name)) };
  }

  #name(name: string): string {
    return this.#sent.get(name) ?? name;
  }
}

/** The names of all tools that a request offers, forces or has in its history. */
function namesOf({ messages, tools, toolChoice }: ChatRequest): string[] {
  const calls = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === 'tool-call' || part.kind === 'tool-result' ? [part.name] : [])),
  );
  const offered = tools.flatMap((tool) => (tool.kind === 'builtin' ? [] : [tool.name]));
  const chosen =
    typeof toolChoice !== 'object' ? [] : 'name' in toolChoice ? [toolChoice.name] : toolChoice.allowed;
  // A result whose call is missing has no name.
  return [...offered, ...calls, ...chosen].filter((name) => name !== '');
}

/** A name of letters, digits, `_` and `-`, with a hash of the client's name. */
function freeName(name: string, isTaken: (name: string) => boolean): string {
  const room = NAME_LENGTH - HASH_LENGTH - 1;
  const readable = name.replaceAll(FOREIGN, '_').slice(0, room);
  const start = /^[A-Za-z_]/.test(readable) ? readable : `_${readable}`.slice(0, room);
  for (let attempt = 0; ; attempt += 1) {
    const text = attempt === 0 ? name : `${name}\n${attempt}`;
    const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
    const free = `${start}_${hash}`;
    if (!isTaken(free)) return free;
  }
}
