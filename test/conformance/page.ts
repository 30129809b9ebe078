/** The page about conformance: the results as Markdown. Pure. */

/** How many exchanges passed. */
interface Share {
  passed: number;
  total: number;
}

/** The results of one client format over one upstream format. */
export interface Pair {
  client: string;
  upstream: string;
  answers: Share;
  requests: Share;
  errors: Share;
}

/** The verdict over one client; `passed` and `failed` are the formats of the upstreams. */
interface Client {
  client: string;
  version: string;
  /** The day on which it was run. */
  measured: string;
  passed: string[];
  failed: string[];
  skipped?: string;
}

/** Tests that other people wrote. */
interface Suite {
  name: string;
  result: string;
  exceptions: string[];
}

/** Everything that the page shows. */
export interface Conformance {
  /** The day on which the recorded traffic was sent. */
  measured: string;
  pairs: Pair[];
  streams: { whole: Share; odd: Share };
  clients: Client[];
  suites: Suite[];
}

/** The names of the formats, in the order of the page. */
export const FORMAT_NAMES: Readonly<Record<string, string>> = {
  'openai-chat': 'chat completions',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  'google-generate': 'generative language',
};

const INTRODUCTION = [
  '# Conformance\n\n',
  'Clients speak one of four formats, upstreams too. This page says how many recorded exchanges survive ',
  'each pair of formats, and which clients were run against the gateway. `npm run conformance` writes it ',
  'from the results of `npm run fidelity` and `npm run clients -- --all`; the page `/docs/conformance` of ',
  'the console shows the same results. [fidelity.md](fidelity.md) explains every difference.',
].join('');
const TRAFFIC = [
  '## Recorded traffic\n',
  'Exchanges that pass, of those that both formats can express: answers, requests, errors.',
].join('');

/** The whole page. */
export function pageOf({ measured, pairs, streams, clients, suites }: Conformance): string {
  return [
    INTRODUCTION,
    `${TRAFFIC} ${measured}.`,
    table(['client format', ...Object.values(FORMAT_NAMES).map((name) => `over ${name}`)], matrixOf(pairs)),
    `Valid streams: ${textOf(streams.whole)} as recorded, ${textOf(streams.odd)} cut into odd slices.`,
    '## Clients\nEach client ran against upstreams of all four formats.',
    table(['client', 'version', 'passed over', 'failed over', 'run on'], clients.map(rowOf)),
    '## Tests of others',
    table(
      ['tests', 'result', 'exceptions'],
      suites.map(({ name, result, exceptions }) => [name, result, exceptions.join('; ') || 'none']),
    ),
  ]
    .map((part) => `${part}\n`)
    .join('\n');
}

function matrixOf(pairs: readonly Pair[]): string[][] {
  return Object.entries(FORMAT_NAMES).map(([client, name]) => [
    name,
    ...Object.keys(FORMAT_NAMES).map((upstream) => {
      const pair = pairs.find((each) => each.client === client && each.upstream === upstream);
      return pair ? [pair.answers, pair.requests, pair.errors].map(textOf).join(', ') : 'not measured';
    }),
  ]);
}

function rowOf({ client, version, measured, passed, failed, skipped }: Client): string[] {
  const names = (formats: readonly string[]): string =>
    formats.map((format) => FORMAT_NAMES[format] ?? format).join(', ') || 'none';
  const result = skipped === undefined ? [names(passed), names(failed)] : ['not run', skipped];
  return [client, version, ...result, measured];
}

function textOf({ passed, total }: Share): string {
  return `${passed} of ${total}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
