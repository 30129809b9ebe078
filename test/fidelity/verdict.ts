/**
 * Evaluates a report of the measuring tool. Requests that name something stored at a provider are refused by
 * rule, because customers share the operator's account. The tool counts these refusals as failures if client
 * and upstream have the same format, so they are counted separately here.
 */

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

/** Shares in percent, once as the tool counts and once without the requests that are refused by rule. */
export interface Verdict {
  asCounted: Shares;
  withoutRefusals: Shares;
  /** Requests refused by rule that the tool counts as failures. */
  refusals: number;
  /** Everything else that did not pass, one line each. */
  failures: string[];
}
interface Shares {
  fidelity: number;
  requests: number;
  streams: number;
}

/** Computes the shares of a report, with and without refusals by rule. */
export function verdictOf({ overall, requests, streams, results }: Report): Verdict {
  const failed = results.filter(({ verdict, streamProblems }) => verdict === 'fail' || streamProblems);
  const refused = failed.filter(isRefusedByRule);
  const valid = percent(streams.valid, streams.total);
  const shares = (left: number): Shares => ({
    fidelity: percent(overall.pass, overall.total - left),
    requests: percent(requests.pass, requests.total - left),
    streams: valid,
  });
  return {
    asCounted: shares(0),
    withoutRefusals: shares(refused.length),
    refusals: refused.length,
    failures: failed.filter((exchange) => !refused.includes(exchange)).map(lineOf),
  };
}

/** Whether every share reaches the required percentage, not counting refusals by rule. */
export function reaches({ withoutRefusals }: Verdict, required: number): boolean {
  return Object.values(withoutRefusals).every((share) => share >= required);
}

/** The verdict as readable lines. */
export function describe(name: string, { asCounted, withoutRefusals, refusals, failures }: Verdict): string {
  const line = ({ fidelity, requests, streams }: Shares): string =>
    `fidelity ${fidelity}%, requests ${requests}%, streams valid ${streams}%`;
  return [
    `${name}: ${line(asCounted)} as the tool counts`,
    `${name}: ${line(withoutRefusals)} without ${refusals} requests refused by rule`,
    ...failures.map((failure) => `  ${failure}`),
  ].join('\n');
}

function isRefusedByRule({ direction, status, failures }: Exchange): boolean {
  const isRule = (actual = ''): boolean => actual.includes('stored at a provider');
  return direction === 'B' && status === 400 && failures.every(({ actual }) => isRule(actual));
}

function lineOf({ direction, client, upstream, id, failures, streamProblems = [] }: Exchange): string {
  const what = [...failures.map(({ field }) => field), ...streamProblems].join(', ');
  return `${direction} ${client} over ${upstream}, ${id}: ${what}`;
}

/** The share in percent, rounded down to hundredths; 100 of nothing. */
function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.floor((part / whole) * 10_000) / 100;
}
