/** Reads and parses every source file of the repository, for the rules in tidy.test.ts. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseSync, Visitor } from 'vite';

export const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = ['shared', 'data-plane', 'control-plane', 'console', 'test'];
const SKIPPED = new Set(['node_modules', 'dist', 'fixtures']);

export interface FunctionSpan {
  name: string;
  line: number;
  lines: number;
  parameters: number;
}
export interface Finding {
  line: number;
  text: string;
}

export interface Source {
  /** Path from the repository's root, with forward slashes. */
  path: string;
  text: string;
  lines: string[];
  /**
   * Imports: paths from the root for our own files, package names otherwise. Type-only imports count.
   */
  imports: string[];
  functions: FunctionSpan[];
  /** Forbidden syntax: any, non-null assertions, double casts. */
  looseTypes: Finding[];
  /** Exported functions and classes without a doc comment in front. */
  undocumented: Finding[];
}

/** Every .ts and .tsx file of the planes, the console, the shared package and the tests. */
export function readSources(): Source[] {
  return FOLDERS.flatMap((folder) => listFiles(join(ROOT, folder))).map(readSource);
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : listFiles(path);
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : [];
  });
}

type Node = { type: string; start: number; end: number };
type Program = ReturnType<typeof parseSync>['program'];

function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8');
  const parsed = parseSync(file, text);
  if (parsed.errors.length > 0) throw new Error(`${file} does not parse: ${parsed.errors[0]?.message}`);
  const lineOf = lineIndex(text);
  const comments = parsed.comments.filter(
    (comment) => comment.type === 'Block' && comment.value.startsWith('*'),
  );
  return {
    path: relative(ROOT, file).replaceAll('\\', '/'),
    text,
    lines: text.split('\n'),
    imports: importsOf(file, parsed.module),
    functions: functionsOf(parsed.program, lineOf),
    looseTypes: looseTypesOf(parsed.program, text, lineOf),
    undocumented: undocumentedIn(parsed.program, { text, comments, lineOf }),
  };
}

function lineIndex(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

type ModuleRecord = ReturnType<typeof parseSync>['module'];

function importsOf(file: string, module: ModuleRecord): string[] {
  const requests = [
    ...module.staticImports.map((item) => item.moduleRequest.value),
    ...module.staticExports.flatMap((item) => item.entries.map((entry) => entry.moduleRequest?.value ?? '')),
  ];
  return [...new Set(requests.filter(Boolean))].map((request) => {
    if (request.startsWith('.')) return relative(ROOT, join(dirname(file), request)).replaceAll('\\', '/');
    if (request.startsWith('@gateway/shared/')) return `${request.replace('@gateway/', '')}.ts`;
    return request;
  });
}

/** Functions with their length; the callbacks of `describe` only group tests and do not count. */
function functionsOf(program: Program, lineOf: (offset: number) => number): FunctionSpan[] {
  const groups = new Set<number>();
  const found: FunctionSpan[] = [];
  const add = (node: Node & { params: unknown[]; id?: { name: string } | null }): void => {
    if (groups.has(node.start)) return;
    const line = lineOf(node.start);
    found.push({
      name: node.id?.name ?? '(anonymous)',
      line,
      lines: lineOf(node.end) - line + 1,
      parameters: node.params.length,
    });
  };
  new Visitor({
    CallExpression(node) {
      if (calleeName(node.callee).startsWith('describe'))
        for (const argument of node.arguments) groups.add(argument.start);
    },
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(program);
  return found;
}

function calleeName(callee: object): string {
  if ('name' in callee && typeof callee.name === 'string') return callee.name;
  return 'object' in callee && callee.object instanceof Object ? calleeName(callee.object) : '';
}

function looseTypesOf(program: Program, text: string, lineOf: (offset: number) => number): Finding[] {
  const found: Finding[] = [];
  const add = (node: Node): void => {
    found.push({
      line: lineOf(node.start),
      text: text.slice(node.start, Math.min(node.end, node.start + 60)),
    });
  };
  new Visitor({
    TSAnyKeyword: add,
    TSNonNullExpression: add,
    TSAsExpression(node) {
      const inner = node.expression;
      if (inner.type === 'TSAsExpression' && inner.typeAnnotation.type === 'TSUnknownKeyword') add(node);
    },
  }).visit(program);
  return found;
}

interface Documentation {
  text: string;
  comments: { start: number; end: number }[];
  lineOf: (offset: number) => number;
}

function undocumentedIn(program: Program, { text, comments, lineOf }: Documentation): Finding[] {
  const found: Finding[] = [];
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration') continue;
    const declared = statement.declaration;
    if (declared?.type !== 'FunctionDeclaration' && declared?.type !== 'ClassDeclaration') continue;
    const start =
      declared.type === 'ClassDeclaration'
        ? Math.min(statement.start, ...declared.decorators.map((decorator) => decorator.start))
        : statement.start;
    const documented = comments.some(
      (comment) => comment.end <= start && text.slice(comment.end, start).trim() === '',
    );
    if (!documented) found.push({ line: lineOf(start), text: declared.id?.name ?? 'default' });
  }
  return found;
}
