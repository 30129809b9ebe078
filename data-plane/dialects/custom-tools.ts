/**
 * Carries free-text tools through formats that only know functions: the tool is wrapped as a function with
 * the text as its only argument, and its calls are unwrapped for clients that know free-text tools.
 */
import type { Block, ChatEvent, ChatRequest, CustomTool, FunctionTool } from './canonical.ts';
import { objectOf, parseObject, textOf } from './fields.ts';

const ARGUMENT = 'input';

/** The function that replaces a free-text tool. The description carries the tool's grammar, if it has one. */
export function wrapCustomTool(tool: CustomTool): FunctionTool {
  const { name, format } = tool;
  const grammar = textOf(format?.definition) || textOf(objectOf(format?.grammar).definition);
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

/** The free text in the arguments of a wrapped call; the arguments themselves if they have another shape. */
function unwrap(text: string): string {
  const input = parseObject(text)?.[ARGUMENT];
  return typeof input === 'string' ? input : text;
}

/** Unwraps the calls of free-text tools among the blocks of a whole answer. */
export function unwrapBlocks(blocks: Block[], request: ChatRequest): Block[] {
  const names = customNames(request);
  return blocks.map((block) =>
    isWrapped(block, names) ? { ...block, custom: true, text: unwrap(block.text) } : block,
  );
}

/** Unwraps calls of free-text tools in a stream. Their text comes as one delta at the end of the block. */
export class CustomCallUnwrapper {
  readonly #names: ReadonlySet<string>;
  /** The arguments so far of the wrapped call that is open, by choice. */
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
