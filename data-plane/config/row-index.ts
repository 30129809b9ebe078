/**
 * An immutable index of rows by a hash of 32 bits. A changed copy shares all unchanged pages, so that a
 * change among a million rows copies a few kilobytes.
 */

/** Pages of an index. The first bits of a hash choose the page, the last bits the place in it. */
const PAGE_BITS = 12;
const PAGES = 1 << PAGE_BITS;
const FIRST_PLACES = 4;

/** Returns the hash of a row. */
type HashOf = (row: number) => number;
/** Whether a row is the wanted one. It is called with rows of other hashes, too. */
type Matches = (row: number) => boolean;

/**
 * The first element is the number of rows. The others are places; their number is a power of two, or 0. A row
 * is in the first free place from that of its hash on; 0 is a free place.
 */
type Page = Uint32Array;

const EMPTY_PAGE: Page = Uint32Array.of(0);

/** Rows by their hashes. */
export class RowIndex {
  /** An index without rows. */
  static readonly EMPTY = new RowIndex(Array.from({ length: PAGES }, () => EMPTY_PAGE));
  readonly #pages: readonly Page[];

  private constructor(pages: readonly Page[]) {
    this.#pages = pages;
  }

  /** The row with this hash that matches; 0 if there is none. */
  find(hash: number, matches: Matches): number {
    const page = this.#pages[pageOf(hash)] ?? EMPTY_PAGE;
    return page[placeIn(page, hash, matches)] ?? 0;
  }

  /** All rows, in no order. */
  *rows(): Generator<number, undefined> {
    for (const page of this.#pages) yield* rowsIn(page);
    return undefined;
  }

  /** The rows in pages that another index does not share. All rows that it lacks are among them. */
  *rowsNotSharedWith(other: RowIndex): Generator<number, undefined> {
    for (const [at, page] of this.#pages.entries()) if (page !== other.#pages[at]) yield* rowsIn(page);
    return undefined;
  }

  /** A draft of a changed copy. */
  edit(hashOf: HashOf): RowIndexDraft {
    return new RowIndexDraft(this.#pages, hashOf, (pages) => new RowIndex(pages));
  }
}

/** A copy of an index that is being changed. */
export class RowIndexDraft {
  readonly #pages: Page[];
  readonly #hashOf: HashOf;
  readonly #finish: (pages: readonly Page[]) => RowIndex;
  /** Whether a page is a copy, by its number. */
  readonly #isOwn = new Uint8Array(PAGES);

  constructor(pages: readonly Page[], hashOf: HashOf, finish: (pages: readonly Page[]) => RowIndex) {
    this.#pages = [...pages];
    this.#hashOf = hashOf;
    this.#finish = finish;
  }

  /** The row with this hash that matches; 0 if there is none. */
  find(hash: number, matches: Matches): number {
    const page = this.#pages[pageOf(hash)] ?? EMPTY_PAGE;
    return page[placeIn(page, hash, matches)] ?? 0;
  }

  /** Adds a row that is not in the index. */
  add(row: number): void {
    const hash = this.#hashOf(row);
    const number = pageOf(hash);
    const page = this.#pages[number] ?? EMPTY_PAGE;
    const [count = 0] = page;
    const places = page.length - 1;
    // Half of the places stay free, so that searches end soon.
    if ((count + 1) * 2 > places) this.#replace(number, Math.max(FIRST_PLACES, places * 2));
    else if (!this.#isOwn[number]) this.#replace(number, places);
    const own = this.#pages[number] ?? EMPTY_PAGE;
    insert(own, row, hash);
    own[0] = count + 1;
  }

  /** Removes a row that is in the index. */
  remove(row: number): void {
    const hash = this.#hashOf(row);
    const number = pageOf(hash);
    if (!this.#isOwn[number]) this.#replace(number, (this.#pages[number] ?? EMPTY_PAGE).length - 1);
    const page = this.#pages[number] ?? EMPTY_PAGE;
    closeGap(page, placeIn(page, hash, (each) => each === row) - 1, this.#hashOf);
    page[0] = (page[0] ?? 1) - 1;
  }

  /** The changed index. The draft must not be used again. */
  finish(): RowIndex {
    return this.#finish(this.#pages);
  }

  /** Replaces a page by a copy with this number of places. */
  #replace(number: number, places: number): void {
    const page = this.#pages[number] ?? EMPTY_PAGE;
    const copy: Page = new Uint32Array(places + 1);
    if (places === page.length - 1) copy.set(page);
    else for (const row of rowsIn(page)) insert(copy, row, this.#hashOf(row));
    copy[0] = page[0] ?? 0;
    this.#pages[number] = copy;
    this.#isOwn[number] = 1;
  }
}

function pageOf(hash: number): number {
  return hash >>> (32 - PAGE_BITS);
}

/** The place of a row that matches, as an index of the page; that of a free place if there is none. */
function placeIn(page: Page, hash: number, matches: Matches): number {
  const last = page.length - 2;
  if (last < 0) return page.length;
  for (let place = hash & last; ; place = (place + 1) & last) {
    const row = page[place + 1] ?? 0;
    if (row === 0 || matches(row)) return place + 1;
  }
}

function insert(page: Page, row: number, hash: number): void {
  const last = page.length - 2;
  let place = hash & last;
  while (page[place + 1] !== 0) place = (place + 1) & last;
  page[place + 1] = row;
}

/** Makes a place free, and moves later rows there if a search would otherwise end before them. */
function closeGap(page: Page, at: number, hashOf: HashOf): void {
  const last = page.length - 2;
  let gap = at;
  for (let place = (gap + 1) & last; ; place = (place + 1) & last) {
    const row = page[place + 1] ?? 0;
    if (row === 0) break;
    // The distance of the row from the place of its hash.
    const distance = (place - hashOf(row)) & last;
    if (distance < ((place - gap) & last)) continue;
    page[gap + 1] = row;
    gap = place;
  }
  page[gap + 1] = 0;
}

function* rowsIn(page: Page): Generator<number, undefined> {
  for (let at = 1; at < page.length; at += 1) {
    const row = page[at];
    if (row) yield row;
  }
  return undefined;
}
