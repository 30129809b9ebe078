/** The shape of the table of limits: for each entrance and resource, every caller's limit and its proof. */

export const CALLERS = [
  'anonymous address',
  'account without money',
  'paying key',
  'node',
  'operator',
] as const;
export type Caller = (typeof CALLERS)[number];

export const RESOURCES = [
  'connections',
  'header bytes',
  'body bytes in the heap',
  'chunks',
  'frames',
  'time',
  'CPU for password hashes',
  'CPU for documents',
  'rows written',
  'disk',
  'log lines',
  'memory per open stream',
  'subscriptions',
] as const;
export type Resource = (typeof RESOURCES)[number];

export const ENTRANCES = [
  'node HTTP',
  'node WebSocket',
  'GraphQL HTTP',
  'GraphQL WebSocket',
  'webhooks',
  'static files',
  'downloads',
  'upstream answers',
  'answers to the control plane',
] as const;
export type Entrance = (typeof ENTRANCES)[number];

/** A limit: constants as `path NAME` or `path NAME.member`, and tests as `path: name`. */
export interface Limited {
  limits: readonly string[];
  proofs: readonly string[];
}
/** Why no limit is needed. */
export interface NotApplicable {
  reason: string;
}
export type Cell = Limited | NotApplicable;
export type Row = Readonly<Record<Caller, Cell>>;
export type Section = Readonly<Record<Resource, Row>>;

/** A cell with limits and the tests that prove them. */
export function limit(limits: string | string[], proofs: string | string[]): Limited {
  return { limits: [limits].flat(), proofs: [proofs].flat() };
}

/** A cell that needs no limit. */
export function no(reason: string): NotApplicable {
  return { reason };
}

/** The same cell for all callers, except for those that are named. */
export function all(cell: Cell, others: Partial<Row> = {}): Row {
  const [anonymous, free, paying, node, operator] = CALLERS;
  return { [anonymous]: cell, [free]: cell, [paying]: cell, [node]: cell, [operator]: cell, ...others };
}

/** Adds limits and their proofs to every cell of a row that has limits. */
function withMore(row: Row, limits: readonly string[], proofs: readonly string[]): Row {
  const more = (caller: Caller): Cell => {
    const cell = row[caller];
    if (!('limits' in cell)) return cell;
    return { limits: [...cell.limits, ...limits], proofs: [...cell.proofs, ...proofs] };
  };
  const [anonymous, free, paying, node, operator] = CALLERS;
  return {
    [anonymous]: more(anonymous),
    [free]: more(free),
    [paying]: more(paying),
    [node]: more(node),
    [operator]: more(operator),
  };
}

/** Requests that one connection sends ahead, and free answers of one caller, in both planes. */
const PACE = 'shared/request-pace.ts';
const PACE_TEST = 'shared/request-pace.test.ts';
/** The row with the pace of requests. */
export const paced = (row: Row): Row =>
  withMore(
    row,
    ['PIPELINED_REQUESTS', 'FREE_ANSWERS_PER_SECOND', 'FREE_ANSWERS_AT_ONCE', 'LONGEST_WAIT_MS'].map(
      (name) => `${PACE} ${name}`,
    ),
    [
      `${PACE_TEST}: close their connection above the limit, and no further request is read`,
      `${PACE_TEST}: are reported once when they close their connection`,
      `${PACE_TEST}: are handled one at a time, each after the answer before it`,
      `${PACE_TEST}: gets its first free answers at once, then one per interval; other callers do not wait`,
      `${PACE_TEST}: never has more waiting answers than LONGEST_WAIT_MS allows`,
    ],
  );

/** Work that was refused to a caller, in both planes. */
const REFUSED = 'shared/refused-work.ts';
const REFUSED_TEST = 'shared/refused-work.test.ts';
/** The row with the limits of refused work, and the tests of its plane. */
export const penalised = (row: Row, proofs: readonly string[]): Row =>
  withMore(
    row,
    [
      ...['REFUSED_WORK', 'REFUSED_WORK_OF_NETWORK', 'REFUSED_WORK_OF_STRANGERS'].flatMap((name) => [
        `${REFUSED} ${name}.perSecond`,
        `${REFUSED} ${name}.atOnce`,
      ]),
      ...['LONGEST_PENALTY_MS', 'PENALTY_CONNECTIONS_PER_SECOND'].map((name) => `${REFUSED} ${name}`),
    ],
    [
      `${REFUSED_TEST}: may cause refused work at once, then waits, and the wait shrinks with time`,
      `${REFUSED_TEST}: opens few connections if all strangers together, and it among them, caused too much`,
      ...proofs,
    ],
  );

const NODE_LIMITS = 'data-plane/limits.ts';
const CONTROL_LIMITS = 'control-plane/limits.ts';

/** References to limits of a node. */
export const ofNode = (...names: string[]): string[] => names.map((name) => `${NODE_LIMITS} ${name}`);
/** References to limits of the control plane. */
export const ofControl = (...names: string[]): string[] => names.map((name) => `${CONTROL_LIMITS} ${name}`);
