/** The queries that the console sends, taken from its sources, with values for their variables. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, print, visit } from 'graphql';
import type {
  DefinitionNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  VariableDefinitionNode,
} from 'graphql';

const CONSOLE = join(import.meta.dirname, '..', '..', 'console');
const DOCUMENT = /(?:graphql\(\s*|_TEXT = )`([^`]+)`/g;
const DAY_MS = 86_400_000;

export interface ConsoleQuery {
  name: string;
  text: string;
  variables: Record<string, unknown>;
  /** Whether it belongs to an administrator's page. */
  admin: boolean;
}

/** Every query of the console. `ids` has the value of `id` and `requestId` by the name of the query. */
export function consoleQueries(ids: Readonly<Record<string, string>>): ConsoleQuery[] {
  const definitions = globSync('{*,pages/**/*,components/**/*}.{ts,tsx}', { cwd: CONSOLE })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join(CONSOLE, file), 'utf8').matchAll(DOCUMENT)])
    .flatMap(([, text = '']) => parse(text).definitions);
  const fragments = new Map(
    definitions
      .filter((one): one is FragmentDefinitionNode => one.kind === 'FragmentDefinition')
      .map((one) => [one.name.value, one]),
  );
  return definitions
    .filter((one): one is OperationDefinitionNode => one.kind === 'OperationDefinition')
    .filter((one) => one.operation === 'query' && one.name !== undefined)
    .map((one) => queryOf(one, fragments, ids));
}

function queryOf(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ids: Readonly<Record<string, string>>,
): ConsoleQuery {
  const name = operation.name?.value ?? '';
  const needed = new Set<DefinitionNode>([operation]);
  for (const definition of needed) {
    visit(definition, {
      FragmentSpread: (spread) => {
        const fragment = fragments.get(spread.name.value);
        if (fragment) needed.add(fragment);
      },
    });
  }
  const text = [...needed].map((definition) => print(definition)).join('\n');
  return {
    name,
    text,
    variables: Object.fromEntries(
      (operation.variableDefinitions ?? []).map((one) => [one.variable.name.value, valueOf(one, ids[name])]),
    ),
    admin: /^\s*admin\b/m.test(text) || name.startsWith('Admin'),
  };
}

/** The value that a page sends when it opens; null for filters that are not set, and for the first page. */
function valueOf({ variable, type }: VariableDefinitionNode, id: string | undefined): unknown {
  const now = Date.now();
  const range = (from: number, to: number) => ({
    from: new Date(now - from * DAY_MS).toISOString(),
    to: new Date(now - to * DAY_MS).toISOString(),
  });
  const values: Record<string, unknown> = {
    range: range(30, 0),
    // A cursor of a list, or the preceding range of a summary.
    before: print(type) === 'String' ? null : range(60, 30),
    day: print(type) === 'DateTime!' ? new Date(now - (now % DAY_MS)).toISOString() : range(1, 0),
    week: range(7, 0),
    month: range(30, 0),
    groupBy: ['MODEL'],
    bucket: print(type) === 'CreditBucket!' ? 'CASH' : 'DAY',
    subject: 'UPSTREAM',
    search: 'a',
    text: 'ci',
    isRequest: false,
    keyId: id,
    name: 'swift',
    modelName: 'swift',
    first: print(type) === 'Int!' ? 50 : 'swift',
    second: 'coder',
    third: 'coder',
    fourth: 'coder',
    draft: '',
    subdomain: 'free-to-take',
    format: 'CSV',
    id,
    requestId: id,
  };
  return values[variable.name.value] ?? null;
}
