/** Keeps parsed and validated documents, so that a document that is sent again is not parsed again. */
import type { DocumentNode } from 'graphql';
import { DOCUMENT_STORE_BYTES } from '../limits.ts';

/** Heap of one token with its syntax nodes and locations, in bytes. Node 26 takes 260 to 510. */
const TOKEN_BYTES = 512;
/** A string of V8 has up to two bytes per character. */
const CHARACTER_BYTES = 2;

interface Kept {
  document: DocumentNode;
  bytes: number;
}

/**
 * The documents of one process, as a document store of Apollo. Their heap is bounded; the document that was
 * not used for longest is forgotten first. Apollo's own store permits 30 MiB of their JSON form, which take
 * several times as much heap.
 */
export class DocumentStore {
  readonly #kept = new Map<string, Kept>();
  readonly #maximum: number;
  #bytes = 0;

  /** `maximum` is the heap of all documents in bytes. */
  constructor(maximum: number = DOCUMENT_STORE_BYTES) {
    this.#maximum = maximum;
  }

  /** Number of documents. */
  get size(): number {
    return this.#kept.size;
  }

  /** Estimated heap of all documents, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The document with this key, which counts as used. */
  async get(key: string): Promise<DocumentNode | undefined> {
    const kept = this.#kept.get(key);
    if (!kept) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.document;
  }

  /** Keeps a document, and forgets others if they take too much memory together. */
  async set(key: string, document: DocumentNode): Promise<void> {
    await this.delete(key);
    const bytes = heapOf(document);
    this.#kept.set(key, { document, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#maximum) return;
      await this.delete(oldest);
    }
  }

  /** Forgets a document. */
  async delete(key: string): Promise<void> {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}

/** Estimated heap of a document, in bytes: that of its tokens and its text. */
function heapOf({ loc }: DocumentNode): number {
  let tokens = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) tokens += 1;
  return tokens * TOKEN_BYTES + (loc?.source.body.length ?? 0) * CHARACTER_BYTES;
}
