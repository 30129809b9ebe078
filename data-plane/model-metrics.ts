/**
 * The Prometheus metrics of requests by model. Requests add to plain numbers, which become metrics at a
 * scrape: the metrics library would hash the labels of each of them.
 */
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { UsageRecord } from '@gateway/shared/records';
import { PlainHistogram } from './histogram.ts';

/** Models with numbers of their own. Names come from the catalog; further ones count as `other`. */
const MODELS_MAX = 500;
/** Upper bounds of the buckets, in seconds. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

type TokenKind = keyof UsageRecord['tokens'];
const TOKEN_KINDS: readonly TokenKind[] = ['input', 'output', 'cached', 'reasoning'];

interface ModelTotals {
  /** Requests by `family status`. */
  requests: Map<string, number>;
  tokens: Record<TokenKind, number>;
  costMicros: number;
  losses: number;
}

type UsageOfModel = Pick<
  UsageRecord,
  'model' | 'family' | 'status' | 'tokens' | 'cost' | 'lossesInAnswer' | 'firstContentMs' | 'latencyMs'
>;

/** Adds up the requests of each model. */
export class ModelMetrics {
  readonly #totals = new Map<string, ModelTotals>();
  readonly #firstContent: PlainHistogram;
  readonly #duration: PlainHistogram;

  constructor(registry: Registry) {
    for (const shown of SHOWN) show(registry, this.#totals, shown);
    this.#firstContent = new PlainHistogram(registry, {
      name: 'gateway_model_first_content_seconds',
      help: 'Time from the arrival of a request to the first content of its answer, by model.',
      label: 'model',
      buckets: BUCKETS,
    });
    this.#duration = new PlainHistogram(registry, {
      name: 'gateway_model_answer_seconds',
      help: 'Time from the arrival of a successful request to the end of its answer, by model.',
      label: 'model',
      buckets: BUCKETS,
    });
  }

  /** Counts one request that has ended. */
  add(usage: UsageOfModel): void {
    const { model, family, status, tokens } = usage;
    const name = this.#totals.has(model) || this.#totals.size < MODELS_MAX ? model : 'other';
    const totals = this.#of(name);
    const key = `${family} ${status}`;
    totals.requests.set(key, (totals.requests.get(key) ?? 0) + 1);
    for (const kind of TOKEN_KINDS) totals.tokens[kind] += tokens[kind] ?? 0;
    totals.costMicros += Number(usage.cost);
    totals.losses += usage.lossesInAnswer;
    if (status !== 'SUCCEEDED') return;
    this.#duration.add(usage.latencyMs, name);
    const { firstContentMs } = usage;
    if (firstContentMs !== null) this.#firstContent.add(firstContentMs, name);
  }

  #of(name: string): ModelTotals {
    let totals = this.#totals.get(name);
    if (!totals) {
      const tokens = { input: 0, output: 0, cached: 0, reasoning: 0 };
      totals = { requests: new Map(), tokens, costMicros: 0, losses: 0 };
      this.#totals.set(name, totals);
    }
    return totals;
  }
}

/** A counter over all models: name, help, labels, and its values for one model. */
interface Shown {
  name: string;
  help: string;
  labelNames: string[];
  read(model: string, totals: ModelTotals): [Record<string, string>, number][];
}

const SHOWN: readonly Shown[] = [
  {
    name: 'gateway_model_requests_total',
    help: 'Finished requests by model, family and status of the usage log.',
    labelNames: ['model', 'family', 'status'],
    read: (model, { requests }) =>
      [...requests].map(([key, count]) => {
        const [family = '', status = ''] = key.split(' ');
        return [{ model, family, status: status.toLowerCase() }, count];
      }),
  },
  {
    name: 'gateway_model_tokens_total',
    help: 'Tokens by model and kind. Cached ones are part of the input, reasoning ones of the output.',
    labelNames: ['model', 'kind'],
    read: (model, { tokens }) => TOKEN_KINDS.map((kind) => [{ model, kind }, tokens[kind]]),
  },
  {
    name: 'gateway_model_charged_usd_total',
    help: 'Sum of the prices charged, by model, in USD.',
    labelNames: ['model'],
    read: (model, { costMicros }) => [[{ model }, costMicros / 1e6]],
  },
  {
    name: 'gateway_model_losses_total',
    help: 'Parts of answers that the format of the client could not carry, by model.',
    labelNames: ['model'],
    read: (model, { losses }) => [[{ model }, losses]],
  },
];

/** Registers a counter whose values are read at each scrape. */
function show(
  registry: Registry,
  all: ReadonlyMap<string, ModelTotals>,
  { name, help, labelNames, read }: Shown,
): void {
  new Counter({
    ...{ name, help, labelNames, registers: [registry] },
    collect() {
      this.reset();
      for (const [model, totals] of all)
        for (const [labels, value] of read(model, totals)) this.inc(labels, value);
    },
  });
}
