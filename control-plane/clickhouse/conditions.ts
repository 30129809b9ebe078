/** The filters of the usage log as conditions of ClickHouse. */
import type { WalletConditions } from '../usage/usage.service.ts';
import { allOf, ch, microsOf, textOf, textsOf, timeOf } from './statement.ts';
import type { ChStatement } from './statement.ts';

/** Filters that ClickHouse answers: single requests are looked up in PostgreSQL. */
export interface ChConditions extends Omit<WalletConditions, 'requestId' | 'range' | 'found'> {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The conditions; `ip` has to be in the form in which PostgreSQL writes addresses. */
export function conditionsOf(conditions: ChConditions): ChStatement {
  const { from, to, modelNames, keyIds, poolIds, sources, statuses, ip, minCost, walletId } = conditions;
  const list: ChStatement[] = [];
  if (from) list.push(ch`at >= ${timeOf(from)}`);
  if (to) list.push(ch`at < ${timeOf(to)}`);
  if (modelNames) list.push(ch`model_name in ${textsOf(modelNames)}`);
  if (keyIds) list.push(ch`key_id in ${textsOf(keyIds)}`);
  // Requests without a pool have an empty text here.
  if (poolIds) list.push(ch`pool_id in ${textsOf(poolIds.filter((id) => id !== ''))}`);
  if (sources) list.push(ch`source in ${textsOf(sources)}`);
  if (statuses) list.push(ch`status in ${textsOf(statuses)}`);
  if (ip) list.push(ch`ip = ${textOf(ip)}`);
  if (minCost) list.push(ch`cost >= ${microsOf(minCost)}`);
  if (walletId) list.push(ch`wallet_id = ${textOf(walletId)}`);
  return allOf(list);
}
