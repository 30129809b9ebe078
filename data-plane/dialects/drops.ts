/** The list of everything in a request that the target format cannot carry. */
import type { ProtocolName } from '@gateway/shared/catalog';
import type { ChatRequest, Media, ScalarName } from './canonical.ts';
import type { JsonObject } from './fields.ts';

/** Collects the JSON pointers of drops, each once, in the order in which they are added. */
export class Drops {
  readonly #pointers = new Set<string>();

  /** Adds a pointer; does nothing for undefined. */
  add(pointer: string | undefined): void {
    if (pointer !== undefined) this.#pointers.add(pointer);
  }

  /** Adds a scalar of the request, if the client sent it. */
  scalar(request: ChatRequest, name: ScalarName): void {
    this.add(request.pointers[name]);
  }

  /** Adds every scalar that the client sent and that the format does not carry. */
  allScalarsBut(request: ChatRequest, carried: readonly ScalarName[]): void {
    const kept: ReadonlySet<string> = new Set(carried);
    for (const [name, pointer] of Object.entries(request.pointers)) if (!kept.has(name)) this.add(pointer);
  }

  /**
   * Adds the marks of cached prefixes, which only one format has, of parts, parts of tool results and tools.
   */
  cacheMarks({ messages, tools }: ChatRequest): void {
    const parts = messages.flatMap((message) => message.parts);
    const inResults = parts.flatMap((part) => (part.kind === 'tool-result' ? part.parts : []));
    for (const { at, cache } of [...parts, ...inResults, ...tools])
      if (cache) this.add(`${at}/cache_control`);
  }

  /** Adds the names of the authors of messages, for formats without such names. */
  authorNames({ messages }: ChatRequest): void {
    for (const { at, name } of messages) if (name !== undefined) this.add(`${at}/name`);
  }

  /** Adds those of the media's optional members that the client sent and that the format does not carry. */
  mediaBut({ detail, pointers }: Media, ...carried: readonly ('detail' | 'name')[]): void {
    // `auto` is what a provider does without a detail.
    if (detail !== 'auto' && !carried.includes('detail')) this.add(pointers?.detail);
    if (!carried.includes('name')) this.add(pointers?.name);
  }

  /** Returns the unknown top-level fields that belong to `dialect`, and adds all other unknown fields. */
  extras(request: ChatRequest, dialect: ProtocolName): JsonObject {
    const own: JsonObject = {};
    for (const { dialect: owner, pointer, value } of request.extras) {
      const isTopLevel = pointer.lastIndexOf('/') === 0;
      if (owner === dialect && isTopLevel)
        own[pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')] = value;
      else this.add(pointer);
    }
    return own;
  }

  /** The pointers added so far. */
  get list(): string[] {
    return [...this.#pointers];
  }
}
