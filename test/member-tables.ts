/** Shared by tests of the tables of members: the members of a table, bodies with them, official schemas. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { objectOf } from '../data-plane/dialects/fields.ts';
import type { JsonObject } from '../data-plane/dialects/fields.ts';
import type { MemberKind, MemberLine, MemberTable } from '../data-plane/dialects/member-table.ts';

/** One member of a table: its kind, and the steps to its object. */
export interface Entry {
  kind: MemberKind;
  path: string[];
  name: string;
  /** The value of `type` that the line is about. */
  type?: string;
}

/** The shortest way from the body to each object. */
export function pathsOf(lines: readonly MemberLine[]): Map<string, string[]> {
  const paths = new Map<string, string[]>([['request', []]]);
  for (const [object, path] of paths) {
    for (const [, , members] of lines.filter(([name]) => name === object)) {
      for (const member of members.split(' ')) {
        const [name = '', target] = member.split('>');
        if (target !== undefined && !paths.has(target)) paths.set(target, [...path, name]);
      }
    }
  }
  return paths;
}

/** The members of a table. Throws an error if nothing leads to an object. */
export function entriesOf(lines: readonly MemberLine[]): Entry[] {
  const paths = pathsOf(lines);
  return lines.flatMap(([object, kind, members]) => {
    const path = paths.get(object);
    if (!path) throw new Error(`nothing leads to ${object}`);
    return members.split(' ').map((member): Entry => {
      const type = /^type=(.*)$/.exec(member)?.[1]?.replace(/\*$/, '20990101');
      const [name = ''] = member.split(/[*>=]/);
      return type === undefined ? { kind, path, name } : { kind, path, name: 'type', type };
    });
  });
}

/** The text of a body with these members of the object at `path`, in unusual white space. */
export function bodyWith(path: readonly string[], members: string): string {
  const inner = path.reduceRight((text, name) => `{ "${name}" : [${text}\n]}`, `{\t${members} }`);
  return `{"model":"swift" ,${inner.slice(1)}`;
}

/** A value of the member, as JSON text. */
export function valueOf({ type, name, kind }: Entry): string {
  if (type !== undefined) return JSON.stringify(type);
  if (kind === 'address') return '"https://example.com/a.png"';
  return name === 'type' ? 'null' : '"value"';
}

const SCHEMAS = join(import.meta.dirname, '../../shared/corpus/schemas');
/** Whether the official schemas are there. */
export const hasSchemas = existsSync(SCHEMAS);

/** The members of the schema (`file#path`) that a table does not list. */
export function missingMembers(schema: string, root: Known): string[] {
  const [file = '', path = ''] = schema.split('#');
  const reader = new SchemaReader(file);
  reader.compare(reader.at(path), root, '');
  return [...reader.missing];
}

type Known = MemberTable['root'];

/** Looks up the members of official schemas in a table. */
class SchemaReader {
  readonly missing = new Set<string>();
  readonly #root: JsonObject;
  readonly #seen = new Map<unknown, Set<Known>>();

  constructor(file: string) {
    this.#root = objectOf(JSON.parse(readFileSync(join(SCHEMAS, file), 'utf8')));
  }

  at(path: string): unknown {
    return path
      .split('/')
      .reduce<unknown>((value, step) => (step ? objectOf(value)[step] : value), this.#root);
  }

  /** Notes the members of the schema that the table does not know. */
  compare(schema: unknown, known: Known, at: string): void {
    for (const object of this.#objectsOf(schema)) {
      const seen = this.#seen.get(object) ?? new Set();
      if (seen.has(known)) continue;
      this.#seen.set(object, seen.add(known));
      for (const [name, member] of Object.entries(objectOf(object.properties))) {
        const found = known.members.get(name);
        const isFree = found?.value === 'any' || found?.kind === 'priced' || found?.kind === 'stored';
        if (!found) this.missing.add(`${at}/${name}`);
        else if (typeof found.value === 'object') this.compare(member, found.value, `${at}/${name}`);
        else if (!isFree && found.kind !== 'ours' && this.#objectsOf(member).length > 0)
          this.missing.add(`${at}/${name}/…`);
      }
    }
  }

  /** The objects with members that a value of the schema may be, or may hold as items. */
  #objectsOf(schema: unknown): JsonObject[] {
    const { $ref, items, properties, ...rest } = objectOf(schema);
    const target =
      typeof $ref === 'string' ? ($ref.startsWith('#/') ? $ref.slice(2) : `schemas/${$ref}`) : '';
    const choices = ['anyOf', 'oneOf', 'allOf'].flatMap((name) =>
      Array.isArray(rest[name]) ? rest[name] : [],
    );
    return [
      ...(Object.keys(objectOf(properties)).length > 0 ? [objectOf(schema)] : []),
      ...(target ? this.#objectsOf(this.at(target)) : []),
      ...(items ? this.#objectsOf(items) : []),
      ...choices.flatMap((choice) => this.#objectsOf(choice)),
    ];
  }
}
