/** Reads constants and names of tests from the sources for the table of limits. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'vite';
import { ROOT } from '../tidy/sources.ts';

type Program = ReturnType<typeof parseSync>['program'];

/** A value that a constant can have here. */
type Value = number | { [name: string]: Value };

const programs = new Map<string, Program>();

function programOf(path: string): Program {
  const known = programs.get(path);
  if (known) return known;
  const { program } = parseSync(path, readFileSync(join(ROOT, path), 'utf8'));
  programs.set(path, program);
  return program;
}

/** The value of `path NAME` or `path NAME.member`. Throws if there is none, or if it is no number. */
export function valueOf(reference: string): number {
  const [path = '', name = ''] = reference.split(' ');
  const [constant = '', ...members] = name.split('.');
  let value = constantOf(path, constant);
  for (const member of members) {
    const inner = typeof value === 'object' ? value[member] : undefined;
    if (inner === undefined) throw new Error(`${reference}: there is no member "${member}".`);
    value = inner;
  }
  if (typeof value !== 'number') throw new Error(`${reference} is not a number.`);
  return value;
}

function constantOf(path: string, name: string): Value {
  let initial: object | null | undefined;
  new Visitor({
    VariableDeclarator(node) {
      if (node.id.type === 'Identifier' && node.id.name === name) initial ??= node.init;
    },
  }).visit(programOf(path));
  if (!initial) throw new Error(`${path} has no constant ${name}.`);
  return evaluate(initial, path);
}

const OPERATIONS: Record<string, (left: number, right: number) => number> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '<<': (left, right) => left << right,
  '**': (left, right) => left ** right,
};

/** The value of an expression of numbers, constants of the same file, and objects of them. */
function evaluate(node: object, path: string): Value {
  const { type } = node as { type: string };
  if (type === 'Literal' && 'value' in node && typeof node.value === 'number') return node.value;
  if (type === 'Identifier' && 'name' in node) return constantOf(path, String(node.name));
  if (type === 'BinaryExpression') {
    const { operator, left, right } = node as { operator: string; left: object; right: object };
    const [one, other] = [evaluate(left, path), evaluate(right, path)];
    const operation = OPERATIONS[operator];
    if (operation && typeof one === 'number' && typeof other === 'number') return operation(one, other);
  }
  if (type === 'TSSatisfiesExpression' && 'expression' in node && node.expression instanceof Object)
    return evaluate(node.expression, path);
  if (type === 'ObjectExpression') return objectOf(node as { properties: object[] }, path);
  throw new Error(`${path}: cannot evaluate a ${type}.`);
}

function objectOf({ properties }: { properties: object[] }, path: string): Value {
  const entries = properties.map((property) => {
    const { key, value } = property as { key: { name?: string; value?: string }; value: object };
    return [key.name ?? key.value ?? '', evaluate(value, path)] as const;
  });
  return Object.fromEntries(entries);
}

const names = new Map<string, ReadonlySet<string>>();

/** The names of the tests of a file, as they are written there. */
export function testsOf(path: string): ReadonlySet<string> {
  const known = names.get(path);
  if (known) return known;
  const found = new Set<string>();
  new Visitor({
    CallExpression(node) {
      const [first] = node.arguments;
      const text = first?.type === 'Literal' && typeof first.value === 'string' ? first.value : undefined;
      if (text !== undefined && /^(it|test)\b/.test(calleeOf(node.callee))) found.add(text);
    },
  }).visit(programOf(path));
  names.set(path, found);
  return found;
}

function calleeOf(callee: object): string {
  if ('name' in callee && typeof callee.name === 'string') return callee.name;
  if ('object' in callee && callee.object instanceof Object) return calleeOf(callee.object);
  return 'callee' in callee && callee.callee instanceof Object ? calleeOf(callee.callee) : '';
}
