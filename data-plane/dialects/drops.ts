/**
 * The list of what a target format cannot carry of a request: nothing is left out without being named here.
 */
import type { DialectName } from '@gateway/shared/catalog';
import type { ChatRequest, ScalarName } from './canonical.ts';
import type { JsonObject } from './fields.ts';

/** Collects JSON pointers into the client's request, each once, in the order of their discovery. */
export class Drops {
  readonly #pointers = new Set<string>();

  add(pointer: string | undefined): void {
    if (pointer !== undefined) this.#pointers.add(pointer);
  }

  /** Names a scalar of the request, where the client sent it. */
  scalar(request: ChatRequest, name: ScalarName): void {
    this.add(request.pointers[name]);
  }

  /** Names every scalar that the client sent and that is not among the carried ones. */
  allScalarsBut(request: ChatRequest, carried: readonly ScalarName[]): void {
    const kept: ReadonlySet<string> = new Set(carried);
    for (const [name, pointer] of Object.entries(request.pointers)) if (!kept.has(name)) this.add(pointer);
  }

  /** Gives `dialect` its own unknown top-level fields back and names all the others. */
  extras(request: ChatRequest, dialect: DialectName): JsonObject {
    const own: JsonObject = {};
    for (const { dialect: owner, pointer, value } of request.extras) {
      const isTopLevel = pointer.lastIndexOf('/') === 0;
      if (owner === dialect && isTopLevel)
        own[pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')] = value;
      else this.add(pointer);
    }
    return own;
  }

  get list(): string[] {
    return [...this.#pointers];
  }
}
