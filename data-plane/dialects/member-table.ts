/**
 * The tables of members (members.ts of each dialect): which members of a request pass on a mirror, and what
 * is refused or dropped. One walk over the parsed body compares it with the table of its format.
 */
import { UNKNOWN_MEMBERS } from '../limits.ts';
import { pointTo } from './fields.ts';
import type { JsonObject } from './fields.ts';
import { isStoredAddress } from './stored-addresses.ts';

/**
 * Treatment of a member by the gateway. `pass`: sends it. `ours`: replaces it. `stored`: refuses it, because
 * it names an object stored at a provider. `address`: refuses it if the URL is one of a provider's own store.
 * `priced`: refuses it unless the model's limits name it, because it costs more than a plain request.
 */
export type MemberKind = 'pass' | 'ours' | 'stored' | 'address' | 'priced';

/**
 * One line of a table: the object, the kind of its members, the members, and the page that documents them.
 * The object `request` is the body. Members are separated by spaces:
 * `name` has a scalar or a list of scalars; `name>object` has an object or a list of objects, which the lines
 * of that object describe; `name*` has any JSON, e.g. a schema. `type=value` admits a value of `type`;
 * `type=value_*` admits it with or without a date at its end. An object with such lines has no other types.
 * `name=a|b` lists values of a priced member that cost no more than leaving it out.
 */
export type MemberLine = readonly [object: string, kind: MemberKind, members: string, source: string];

/** A member or value that is refused or dropped: the steps to it from the body's root. */
export type Steps = readonly (string | number)[];

/** A priced part of a request. */
interface Priced {
  steps: Steps;
  /** The name by which a model's limits admit it: its value if that is a text, else its own name. */
  tier: string;
}

/** Result of the walk through a body. */
export interface Findings {
  /** Number of members of all objects. */
  names: number;
  /** Whether a name has a backslash, so that JSON.parse may have misread it: see `readJson`. */
  hasBackslash: boolean;
  unknown: Steps[];
  stored: Steps[];
  priced: Priced[];
}

/** The known members of an object. */
interface KnownObject {
  members: Map<string, KnownMember>;
  /** The kinds of the values of `type`; undefined if any value passes. */
  types: Map<string, MemberKind> | undefined;
}
interface KnownMember {
  kind: MemberKind;
  /** The known members of the member's objects; `any` if they may hold anything. */
  value: KnownObject | 'any' | undefined;
  /** Values of a priced member that cost no more than leaving it out. */
  ordinary?: ReadonlySet<string>;
}

/** A compiled table. */
export interface MemberTable {
  readonly root: KnownObject;
  readonly lines: readonly MemberLine[];
}

/** Values that cost no more than leaving the member out: tiers, places, small containers and pictures. */
const ORDINARY: ReadonlySet<string> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'flex', 'unspecified', 'global', '1g'],
  ...['512', '0.5k', '1k', '2k', 'image_size_unspecified', 'image_size_one_k', 'image_size_two_k'],
]);
/** Pixels of the largest picture that models make when they choose the size themselves. */
const ORDINARY_PIXELS = 1_536 * 1_024;
/** The version at the end of the name of a server-side tool. */
const DATE = /_\d{8}$/;

/** Whether a value of a priced member costs no more than a plain request. */
function isOrdinary(tier: string): boolean {
  return ORDINARY.has(tier) || isOrdinarySize(tier);
}

/** Whether a value is the size of a picture, such as `1024x1024`, of at most `ORDINARY_PIXELS`. */
function isOrdinarySize(value: string): boolean {
  const [, width, height] = /^(\d{1,5})[x*](\d{1,5})$/.exec(value) ?? [];
  return width !== undefined && Number(width) * Number(height) <= ORDINARY_PIXELS;
}

/** Compiles a table. With `snakeCase`, each camel-case name is also known in snake case. */
export function compileMembers(
  lines: readonly MemberLine[],
  options: { snakeCase?: boolean } = {},
): MemberTable {
  const objects = new Map<string, KnownObject>();
  const objectNamed = (name: string): KnownObject => {
    const known = objects.get(name) ?? { members: new Map<string, KnownMember>(), types: undefined };
    objects.set(name, known);
    return known;
  };
  for (const [name, kind, members] of lines) {
    const object = objectNamed(name);
    for (const member of members.split(' ')) {
      if (member.startsWith('type=')) {
        object.types ??= new Map();
        object.types.set(member.slice('type='.length), kind);
        continue;
      }
      const [whole = '', values] = member.split('=');
      const [own = '', target] = whole.split('>');
      const isAny = own.endsWith('*');
      const name = isAny ? own.slice(0, -1) : own;
      const value = isAny ? 'any' : target === undefined ? undefined : objectNamed(target);
      const known: KnownMember = { kind, value, ...(values && { ordinary: new Set(values.split('|')) }) };
      object.members.set(name, known);
      if (options.snakeCase) object.members.set(snakeCase(name), known);
    }
  }
  return { root: objectNamed('request'), lines };
}

/** The name in snake case. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The JSON pointer of these steps. */
export function pointerOf(steps: Steps): string {
  return steps.reduce<string>(pointTo, '');
}

/**
 * Compares a body with a table. Without a table it only counts the members. `mayHaveBackslash` is false if no
 * name has a backslash.
 */
export function inspect(body: JsonObject, table: MemberTable | undefined, mayHaveBackslash = true): Findings {
  const walk = new Walk(mayHaveBackslash);
  walk.value(body, table?.root ?? 'any');
  return walk.findings;
}

class Walk {
  readonly findings: Findings = { names: 0, hasBackslash: false, unknown: [], stored: [], priced: [] };
  readonly #steps: (string | number)[] = [];
  readonly #mayHaveBackslash: boolean;

  constructor(mayHaveBackslash: boolean) {
    this.#mayHaveBackslash = mayHaveBackslash;
  }

  /** Visits a value. Without knowledge about its objects, all their members are unknown. */
  value(value: unknown, known: KnownObject | 'any' | undefined): void {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) {
      this.#object(value as JsonObject, known);
      return;
    }
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (typeof item !== 'object' || item === null) continue;
      this.#steps.push(index);
      this.value(item, known);
      this.#steps.pop();
    }
  }

  #object(object: JsonObject, known: KnownObject | 'any' | undefined): void {
    if (known === 'any' || (known?.types && this.#hasForeignType(object.type, known.types))) {
      this.#count(object);
      return;
    }
    // The scanner refuses members that JSON.parse would take for the prototype, so all names are own ones.
    for (const name in object) {
      this.#name(name);
      const value = object[name];
      const member = known?.members.get(name);
      // A null stands for a member that is left out.
      if (value === null) continue;
      const isPlain = member !== undefined && (member.kind === 'pass' || member.kind === 'ours');
      if (isPlain && typeof value !== 'object') continue;
      this.#steps.push(name);
      if (!member) this.#note(this.findings.unknown);
      else if (!isPlain) this.#judge(name, member, value);
      this.value(value, member && isPlain && member.kind !== 'ours' ? member.value : 'any');
      this.#steps.pop();
    }
  }

  /** Notes the whole object if its type is unknown or not for everybody; returns whether it is unknown. */
  #hasForeignType(type: unknown, types: ReadonlyMap<string, MemberKind>): boolean {
    if (typeof type !== 'string') return false;
    const family = type.replace(DATE, '');
    const kind = types.get(type) ?? types.get(`${family}_*`);
    if (kind === undefined) this.#note(this.findings.unknown);
    else if (kind === 'priced') this.findings.priced.push({ steps: [...this.#steps], tier: family });
    else if (kind === 'stored') this.#note(this.findings.stored);
    return kind === undefined;
  }

  #judge(name: string, { kind, ordinary }: KnownMember, value: unknown): void {
    if (value === undefined || (Array.isArray(value) && value.length === 0)) return;
    if (kind === 'stored') this.#note(this.findings.stored);
    if (kind === 'address' && (typeof value !== 'string' || isStoredAddress(value)))
      this.#note(this.findings.stored);
    if (kind !== 'priced' || value === false) return;
    const tier = typeof value === 'string' ? tierOf(value) : name;
    if (!ordinary?.has(tier) && !isOrdinary(tier))
      this.findings.priced.push({ steps: [...this.#steps], tier });
  }

  /** Notes one part more than the limit at most, so that the reader sees that there are too many. */
  #note(list: Steps[]): void {
    if (list.length <= UNKNOWN_MEMBERS) list.push([...this.#steps]);
  }

  #name(name: string): void {
    this.findings.names += 1;
    if (this.#mayHaveBackslash && name.includes('\\')) this.findings.hasBackslash = true;
  }

  /** Counts the members of an object and of everything in it. */
  #count(value: object): void {
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === 'object' && item !== null) this.#count(item);
      return;
    }
    for (const name in value) {
      this.#name(name);
      const member = (value as JsonObject)[name];
      if (typeof member === 'object' && member !== null) this.#count(member);
    }
  }
}

/** The tier that a value names: Google also writes `SERVICE_TIER_PRIORITY`. */
export function tierOf(value: string): string {
  return value.toLowerCase().replace(/^service_tier_/, '');
}
