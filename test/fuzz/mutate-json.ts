/** Changes a JSON value inside an input, so that the input stays JSON and only its meaning changes. */
import { isObject, textOf } from '../../data-plane/dialects/fields.ts';
import type { Material } from './mutate.ts';
import type { Random } from './random.ts';

const LEAVES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  0.5,
  -0,
  1e308,
  9_007_199_254_740_992,
  '',
  ' ',
  'a',
  '\u0000',
  '\ud800',
  '\u2028',
  '__proto__',
  [],
  {},
  [[]],
  [null],
  { type: null },
];
const NESTING = 100;
const REPEATS = 200;

/** The input with one changed JSON value; undefined if there is none. */
export function mutateJson(input: Buffer, material: Material): Buffer | undefined {
  const text = input.toString('utf8');
  const span = findJson(text, material.random);
  if (!span) return undefined;
  const changed = JSON.stringify(changeValue(span.value, material)) ?? 'null';
  return Buffer.from(text.slice(0, span.from) + changed + text.slice(span.to));
}

interface Span {
  from: number;
  to: number;
  value: unknown;
}

/** The whole text from its first brace, else the object in one of its lines. */
function findJson(text: string, random: Random): Span | undefined {
  const from = text.search(/[{[]/);
  if (from < 0) return undefined;
  const whole = parsed(text, from, text.length);
  if (whole) return whole;
  const braces = [...text.matchAll(/^[^{[\n]*([{[].*)$/gm)];
  if (braces.length === 0) return undefined;
  const { index, 0: line, 1: rest = '' } = random.pick(braces);
  return parsed(text, index + line.length - rest.length, index + line.length);
}

function parsed(text: string, from: number, to: number): Span | undefined {
  try {
    return { from, to, value: JSON.parse(text.slice(from, to)) };
  } catch {
    return undefined;
  }
}

/** A place in the value: a member of an object or an item of a list. */
interface Place {
  holder: Record<string, unknown> | unknown[];
  name: string;
}

function placesOf(value: unknown, places: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return places;
  const holder = value as Place['holder'];
  for (const [name, inner] of Object.entries(holder)) {
    places.push({ holder, name });
    placesOf(inner, places);
  }
  return places;
}

type ValueChange = (place: Place, places: readonly Place[], material: Material) => void;

const CHANGES: readonly ValueChange[] = [
  (place, _, { random }) => write(place, random.pick(LEAVES)),
  (place, _, { random }) => write(place, random.pick(LEAVES)),
  (place, _, { random, tokens }) => write(place, random.pick(tokens)),
  (place, places, { random }) => write(place, structuredClone(read(random.pick(places)))),
  remove,
  rename,
  rename,
  add,
  add,
  (place) => write(place, [read(place)]),
  (place, _, { random, tokens }) => write(place, { [random.pick(tokens)]: read(place) }),
  (place, _, { random }) => write(place, nested(read(place), random)),
  (place, _, { random }) => write(place, textOf(read(place)).repeat(random.below(REPEATS))),
  (place) => write(place, JSON.stringify(read(place))),
  repeat,
];

function changeValue(value: unknown, material: Material): unknown {
  const { random } = material;
  const places = placesOf(value);
  if (places.length === 0 || material.tokens.length === 0)
    return { [material.tokens[0] ?? 'a']: random.pick(LEAVES) };
  random.pick(CHANGES)(random.pick(places), places, material);
  return value;
}

function read({ holder, name }: Place): unknown {
  return Array.isArray(holder) ? holder[Number(name)] : holder[name];
}

function write({ holder, name }: Place, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

function remove({ holder, name }: Place): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
}

function rename(place: Place, places: readonly Place[], { random, tokens }: Material): void {
  const { holder } = place;
  if (Array.isArray(holder)) return write(place, random.pick(LEAVES));
  const value = read(place);
  remove(place);
  const name = random.oneIn(2) ? random.pick(tokens) : random.pick(places).name;
  write({ holder, name }, value);
}

/** Adds a member with a name of the format, or an item that is a copy of another value. */
function add({ holder }: Place, places: readonly Place[], { random, tokens }: Material): void {
  const value: unknown = random.oneIn(2)
    ? structuredClone(read(random.pick(places)))
    : random.pick([...LEAVES, random.pick(tokens)]);
  if (Array.isArray(holder)) holder.splice(random.below(holder.length + 1), 0, value);
  else write({ holder, name: random.pick(tokens) }, value);
}

function repeat({ holder, name }: Place, _: readonly Place[], { random }: Material): void {
  if (!Array.isArray(holder)) return;
  const item = JSON.stringify(holder[Number(name)] ?? null);
  for (let left = random.below(20); left > 0; left -= 1) holder.push(JSON.parse(item));
}

function nested(value: unknown, random: Random): unknown {
  let outer = value;
  for (let left = random.below(NESTING); left > 0; left -= 1)
    outer = isObject(outer) || random.oneIn(2) ? [outer] : { a: outer };
  return outer;
}
