/**
 * Free-text tools for formats that only know functions: the text travels as the one argument of a wrapped
 * function, and is unwrapped again on the way back to a client that knows such tools.
 */
import type { Block, ChatEvent, ChatRequest, CustomTool, FunctionTool } from './canonical.ts';
import { parseObject, textOf } from './fields.ts';

const ARGUMENT = 'input';

/** The function that stands for a free-text tool. A grammar can only be told in words. */
export function wrapCustomTool(tool: CustomTool): FunctionTool {
  const { name, format } = tool;
  const grammar = textOf(format?.definition) || textOf(parseGrammar(format));
  const description = grammar
    ? `${tool.description}\n\nThe input must follow this grammar:\n${grammar}`
    : tool.description;
  const parameters = {
    type: 'object',
    properties: { [ARGUMENT]: { type: 'string' } },
    required: [ARGUMENT],
    additionalProperties: false,
  };
  return { kind: 'function', name, description, parameters };
}

function parseGrammar(format: CustomTool['format']): unknown {
  const grammar = format?.grammar;
  return typeof grammar === 'object' && grammar !== null && 'definition' in grammar
    ? grammar.definition
    : undefined;
}

/**
 * The free text in the arguments of a wrapped call; the arguments themselves where they are of another shape.
 */
function unwrap(text: string): string {
  const input = parseObject(text)?.[ARGUMENT];
  return typeof input === 'string' ? input : text;
}

/** The blocks with calls of free-text tools unwrapped. */
export function unwrapBlocks(blocks: Block[], request: ChatRequest): Block[] {
  const names = customNames(request);
  return blocks.map((block) =>
    isWrapped(block, names) ? { ...block, custom: true, text: unwrap(block.text) } : block,
  );
}

/** Unwraps calls of free-text tools in a stream: their text passes whole, at the block's end. */
export class CustomCallUnwrapper {
  readonly #names: ReadonlySet<string>;
  readonly #waiting = new Map<number, string>();

  constructor(request: ChatRequest) {
    this.#names = customNames(request);
  }

  push(event: ChatEvent): ChatEvent[] {
    if (this.#names.size === 0) return [event];
    if (event.type === 'block-start' && isWrapped(event.block, this.#names)) {
      this.#waiting.set(event.choice, '');
      return [{ ...event, block: { ...event.block, custom: true } }];
    }
    if (event.type !== 'block-delta' && event.type !== 'block-end') return [event];
    const text = this.#waiting.get(event.choice);
    if (text === undefined) return [event];
    if (event.type === 'block-delta') {
      this.#waiting.set(event.choice, text + event.text);
      return [];
    }
    this.#waiting.delete(event.choice);
    return [{ type: 'block-delta', choice: event.choice, text: unwrap(text) }, event];
  }
}

function customNames({ tools }: ChatRequest): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.kind === 'custom' ? [tool.name] : [])));
}

function isWrapped<Head extends { kind: string }>(
  head: Head,
  names: ReadonlySet<string>,
): head is Head & { kind: 'tool-call'; name: string; custom?: boolean } {
  return (
    head.kind === 'tool-call' &&
    'name' in head &&
    names.has(String(head.name)) &&
    !('custom' in head && head.custom)
  );
}
