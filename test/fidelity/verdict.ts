/**
 * Evaluates a report of the measuring tool. Three kinds of exchanges are counted separately; docs/fidelity.md
 * explains each of them:
 * - Requests that name something stored at a provider are refused by rule, because customers share the
 *   operator's account. The tool counts these refusals as failures if both sides have the same format.
 * - The tool does not read two members of requests, and expects that they are lost. Five recordings have more
 *   cached tokens than input tokens, which messages cannot say: there the input is the sum of both.
 * - Three recordings break off. Their clients must notice that, so the streams that they get are not valid.
 */

/** The field in which a recording cannot be compared, because the tool expects what cannot be. */
const INCOMPARABLE: Readonly<Record<string, string>> = {
  'resp-openai-aa5591bfafc4': 'tools',
  'goog-google-vertex-a551f8e6060b': 'turns[1].toolCalls',
  'chat-azure-2ae681948113': 'usage.cachedInput',
  'chat-azure-46756a0b121e': 'usage.cachedInput',
  'chat-azure-60fa28c0e888': 'usage.cachedInput',
  'chat-azure-bf60eb9e14c6': 'usage.cachedInput',
  'chat-azure-fca9b78b116d': 'usage.cachedInput',
};
/** Recordings of streams that their upstream broke off. */
const BROKEN: ReadonlySet<string> = new Set([
  ...['anth-anthropic-6d5d2312ecc3', 'chat-groq-61971339b74a', 'chat-groq-ffc7005a4730'],
]);

/** The members of the tool's JSON report that are read. */
export interface Report {
  overall: Tally;
  requests: Tally;
  streams: { valid: number; total: number };
  results: Exchange[];
}
interface Tally {
  pass: number;
  total: number;
}
interface Exchange {
  direction: string;
  client: string;
  upstream: string;
  id: string;
  status: number;
  verdict: string;
  failures: { field: string; actual?: string }[];
  streamProblems?: string[];
}

/** Shares in percent, once as the tool counts and once without the exchanges that are counted separately. */
export interface Verdict {
  asCounted: Shares;
  adjusted: Shares;
  /** Requests refused by rule that the tool counts as failures. */
  refusals: number;
  /** Exchanges of which the tool expects what cannot be. */
  incomparable: number;
  /** Invalid streams of recordings that break off. */
  broken: number;
  /** Everything else that did not pass, one line each. */
  failures: string[];
}
export interface Shares {
  fidelity: number;
  requests: number;
  streams: number;
}

/** Computes the shares of a report, with and without the exchanges that are counted separately. */
export function verdictOf({ overall, requests, streams, results }: Report): Verdict {
  const failed = results.filter(({ verdict, streamProblems }) => verdict === 'fail' || streamProblems);
  const refused = failed.filter(isRefusedByRule);
  const incomparable = failed.filter(isIncomparable);
  const broken = failed.filter(({ id, streamProblems }) => streamProblems && BROKEN.has(id));
  const left = refused.length + incomparable.length;
  const leftRequests = refused.length + incomparable.filter(({ direction }) => direction === 'B').length;
  return {
    asCounted: {
      fidelity: percent(overall.pass, overall.total),
      requests: percent(requests.pass, requests.total),
      streams: percent(streams.valid, streams.total),
    },
    adjusted: {
      fidelity: percent(overall.pass, overall.total - left),
      requests: percent(requests.pass, requests.total - leftRequests),
      streams: percent(streams.valid, streams.total - broken.length),
    },
    refusals: refused.length,
    incomparable: incomparable.length,
    broken: broken.length,
    failures: failed.filter((exchange) => ![...refused, ...incomparable].includes(exchange)).map(lineOf),
  };
}

/** Whether every share reaches its required percentage, without the exchanges that are counted separately. */
export function reaches({ adjusted }: Verdict, required: Shares): boolean {
  const { fidelity, requests, streams } = required;
  return adjusted.fidelity >= fidelity && adjusted.requests >= requests && adjusted.streams >= streams;
}

/** The verdict as readable lines. */
export function describe(name: string, verdict: Verdict): string {
  const { asCounted, adjusted, refusals, incomparable, broken, failures } = verdict;
  const line = ({ fidelity, requests, streams }: Shares): string =>
    `fidelity ${fidelity}%, requests ${requests}%, streams valid ${streams}%`;
  return [
    `${name}: ${line(asCounted)} as the tool counts`,
    `${name}: ${line(adjusted)} without ${refusals} requests refused by rule, ${incomparable} exchanges ` +
      `that cannot be compared, and ${broken} streams that their upstream broke off`,
    ...failures.map((failure) => `  ${failure}`),
  ].join('\n');
}

function isRefusedByRule({ direction, status, failures }: Exchange): boolean {
  const isRule = (actual = ''): boolean => actual.includes('stored at a provider');
  return direction === 'B' && status === 400 && failures.every(({ actual }) => isRule(actual));
}

function isIncomparable({ id, failures }: Exchange): boolean {
  const expected = INCOMPARABLE[id];
  return failures.length > 0 && failures.every(({ field }) => field === expected);
}

function lineOf({ direction, client, upstream, id, failures, streamProblems = [] }: Exchange): string {
  const what = [...failures.map(({ field }) => field), ...streamProblems].join(', ');
  return `${direction} ${client} over ${upstream}, ${id}: ${what}`;
}

/** The share in percent, rounded down to hundredths; 100 of nothing. */
function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.floor((part / whole) * 10_000) / 100;
}
