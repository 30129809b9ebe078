/** Settings of blockchains and their tokens. RPC addresses are sealed like upstream credentials. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import { audit } from '../../audit/audit.service.ts';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import { UserFailure } from '../../graphql/errors.ts';
import { CHAINS_MAX, CHAIN_TOKENS_MAX } from '../../limits.ts';
import { checkBaseUrl } from '../../upstreams/address-guard.ts';
import { decryptSecret, encryptSecret } from '../../upstreams/stored-secrets.ts';
import type { SecretLocation } from '../../upstreams/stored-secrets.ts';
import type { SettingsChange } from '../settings.service.ts';
import { parseAddress } from './address.rules.ts';
import type { Address } from './address.rules.ts';
import { ChainSchema, TokenSchema } from './chain.entity.ts';
import type { ChainRow } from './chain.entity.ts';
import { readChain, readDecimals } from './chain.probe.ts';
import { DECIMALS_MAX, DECIMALS_MIN } from './scan.rules.ts';

const NAME_LENGTH_MAX = 40;
const CONFIRMATIONS_MAX = 1000;
const SYMBOL = /^[A-Z][A-Z0-9.]{1,11}$/;

/** A chain to add or to change; fields that are left out stay. */
export interface ChainChange {
  chainId: number;
  name?: string | null;
  enabled?: boolean | null;
  confirmations?: number | null;
  needsFinality?: boolean | null;
  /** First block to scan; by default the newest one when the chain is added. It never changes. */
  startBlock?: number | null;
  explorerUrl?: string | null;
  /** Addresses of two RPC services of different providers. */
  rpcAddresses?: string[] | null;
  reason: string;
}

/** A token to add or to change. The contract states its decimals, which are pinned. */
export interface TokenChange {
  chainId: number;
  contract: string;
  symbol?: string | null;
  minimum?: Micros | null;
  enabled?: boolean | null;
  reason: string;
}

/** Where a sealed RPC address is stored. */
export function rpcLocation(chainId: number, at: 0 | 1): SecretLocation {
  return { table: 'crypto_chain', id: String(chainId), field: `rpc_${at}` };
}

/** All chains, by their ids. */
export function listChains(em: EntityManager): Promise<ChainRow[]> {
  return em.find(ChainSchema, {}, { orderBy: { chainId: 'asc' }, refresh: true });
}

/**
 * Adds or changes a chain. Both RPC services are asked for its id first. Throws INVALID, REQUIRED,
 * LIMIT_REACHED.
 */
export async function setChain(
  em: EntityManager,
  change: ChainChange,
  { actor, settings }: SettingsChange,
): Promise<ChainRow> {
  const { chainId } = change;
  const known = await em.findOne(ChainSchema, { chainId }, { refresh: true });
  if (!known && !change.rpcAddresses)
    throw new UserFailure('REQUIRED', 'Enter the addresses of two RPC services.', 'rpcAddresses');
  const isPrivateAllowed = settings.allowPrivateUpstreams;
  const addresses = change.rpcAddresses && (await checkAddresses(change.rpcAddresses, isPrivateAllowed));
  const head = addresses ? await readChain(addresses, chainId, isPrivateAllowed) : null;
  const sealed = addresses?.map((address, at) =>
    encryptSecret(settings.secretKey, address, rpcLocation(chainId, at === 0 ? 0 : 1)),
  );
  const hosts = addresses?.map((address) => new URL(address).host);
  const next = checkTerms(change, known, head ?? 0);
  return inTransaction(em, async (inner) => {
    if (!known && (await listChains(inner)).length >= CHAINS_MAX)
      throw new UserFailure('LIMIT_REACHED', `At most ${CHAINS_MAX} chains can be watched.`, 'chainId');
    await query(
      inner,
      sql`insert into crypto_chain (chain_id, name, enabled, confirmations, needs_finality, start_block,
        explorer_url, rpc_sealed, rpc_hosts)
      values (${chainId}, ${next.name}, ${next.enabled}, ${next.confirmations}, ${next.needsFinality},
        ${next.startBlock}, ${next.explorerUrl}, ${sealed ?? known?.rpcSealed}, ${hosts ?? known?.rpcHosts})
      on conflict (chain_id) do update set name = excluded.name, enabled = excluded.enabled,
        confirmations = excluded.confirmations, needs_finality = excluded.needs_finality,
        explorer_url = excluded.explorer_url, rpc_sealed = excluded.rpc_sealed,
        rpc_hosts = excluded.rpc_hosts, version = crypto_chain.version + 1, claim = null,
        claimed_until = null, failures = 0, due_at = now()`,
    );
    const row = await inner.findOneOrFail(ChainSchema, { chainId }, { refresh: true });
    const after = summary(row);
    await audit(inner, {
      ...{ actor, action: 'chain.set', targetType: 'Chain', targetId: String(chainId) },
      ...{ before: known && summary(known), after, reason: change.reason },
    });
    return row;
  });
}

/** Adds or changes a token of a chain. Throws NOT_FOUND, INVALID, REQUIRED, LIMIT_REACHED, CONFLICT. */
export async function setToken(
  em: EntityManager,
  change: TokenChange,
  { actor, settings }: SettingsChange,
): Promise<ChainRow> {
  const { chainId } = change;
  const chain = await chainOf(em, chainId);
  const contract = contractOf(change.contract);
  const known = await em.findOne(TokenSchema, { chainId, contract }, { refresh: true });
  const symbol = (change.symbol ?? known?.symbol ?? '').trim().toUpperCase();
  if (!SYMBOL.test(symbol))
    throw new UserFailure('INVALID', 'Enter a symbol of 2 to 12 letters and digits, such as USDC.', 'symbol');
  const minimum = change.minimum ?? known?.minimum ?? 0n;
  if (minimum <= 0n) throw new UserFailure('INVALID', 'Enter a smallest deposit above zero.', 'minimum');
  const enabled = change.enabled ?? known?.enabled ?? true;
  const decimals = known?.decimals ?? (await decimalsOf(chain, contract, settings));
  return inTransaction(em, async (inner) => {
    const others = await inner.find(TokenSchema, { chainId }, { refresh: true });
    if (!known && others.length >= CHAIN_TOKENS_MAX)
      throw new UserFailure('LIMIT_REACHED', `A chain has at most ${CHAIN_TOKENS_MAX} tokens.`, 'contract');
    if (enabled && others.some((one) => one.enabled && one.symbol === symbol && one.contract !== contract))
      throw new UserFailure('CONFLICT', `Another ${symbol} of this chain is enabled. Disable it.`, 'symbol');
    await query(
      inner,
      sql`insert into crypto_token (chain_id, contract, symbol, decimals, minimum, enabled)
      values (${chainId}, ${contract}, ${symbol}, ${decimals}, ${minimum}, ${enabled})
      on conflict (chain_id, contract) do update set symbol = excluded.symbol, minimum = excluded.minimum,
        enabled = excluded.enabled`,
    );
    const after = { contract, symbol, decimals, minimum: formatDollars(minimum), enabled };
    await audit(inner, {
      ...{ actor, action: 'chain.token.set', targetType: 'Chain', targetId: String(chainId) },
      ...{
        before: known && { ...known, minimum: formatDollars(known.minimum) },
        after,
        reason: change.reason,
      },
    });
    return inner.findOneOrFail(ChainSchema, { chainId }, { refresh: true });
  });
}

/** Lets a frozen chain credit deposits again. Throws NOT_FOUND, and CONFLICT if it is not frozen. */
export async function resumeChain(
  em: EntityManager,
  { chainId, reason }: { chainId: number; reason: string },
  { actor }: SettingsChange,
): Promise<ChainRow> {
  return inTransaction(em, async (inner) => {
    const before = await chainOf(inner, chainId);
    const resumed = await queryOne(
      inner,
      sql`update crypto_chain set frozen_at = null, frozen_reason = null, frozen_block = null, due_at = now()
      where chain_id = ${chainId} and frozen_at is not null returning chain_id`,
    );
    if (!resumed) throw new UserFailure('CONFLICT', 'This chain is not frozen.', 'chainId');
    await audit(inner, {
      ...{ actor, action: 'chain.resume', targetType: 'Chain', targetId: String(chainId), reason },
      ...{ before: { frozenReason: before.frozenReason ?? null }, after: null },
    });
    return chainOf(inner, chainId);
  });
}

async function chainOf(em: EntityManager, chainId: number): Promise<ChainRow> {
  const row = await em.findOne(ChainSchema, { chainId }, { refresh: true });
  if (!row) throw new UserFailure('NOT_FOUND', 'There is no such chain. Add it first.', 'chainId');
  return row;
}

function contractOf(text: string): Address {
  const contract = parseAddress(text);
  if (contract) return contract;
  throw new UserFailure('INVALID', 'This is no address of a contract. Check its letters.', 'contract');
}

async function decimalsOf(
  { chainId, rpcSealed }: ChainRow,
  contract: Address,
  { secretKey, allowPrivateUpstreams }: SettingsChange['settings'],
): Promise<number> {
  const addresses = rpcSealed.map((sealed, at) =>
    decryptSecret(secretKey, sealed, rpcLocation(chainId, at === 0 ? 0 : 1)),
  );
  const decimals = await readDecimals(addresses, contract, allowPrivateUpstreams);
  if (decimals !== null && decimals >= DECIMALS_MIN && decimals <= DECIMALS_MAX) return decimals;
  const range = `${DECIMALS_MIN} to ${DECIMALS_MAX}`;
  throw new UserFailure('INVALID', `This contract is no token with ${range} decimals.`, 'contract');
}

async function checkAddresses(texts: readonly string[], allowPrivate: boolean): Promise<string[]> {
  const [first = '', second = ''] = texts.map((text) => text.trim());
  const refuse = (message: string): never => {
    throw new UserFailure('INVALID', message, 'rpcAddresses');
  };
  if (texts.length !== 2) refuse('Enter exactly two addresses.');
  if (![first, second].every((text) => /^https?:/.test(text) && URL.canParse(text)))
    refuse('Enter two addresses that begin with https://.');
  if (new URL(first).host === new URL(second).host)
    refuse('Enter addresses of two different services, so that no single one can invent a deposit.');
  return Promise.all([checkBaseUrl(first, allowPrivate), checkBaseUrl(second, allowPrivate)]);
}

type ChainTerms = Pick<
  ChainRow,
  'name' | 'enabled' | 'confirmations' | 'needsFinality' | 'startBlock' | 'explorerUrl'
>;

function checkTerms(change: ChainChange, known: ChainRow | null, head: number): ChainTerms {
  const name = (change.name ?? known?.name ?? '').trim();
  if (!name || name.length > NAME_LENGTH_MAX)
    throw new UserFailure('INVALID', `Enter a name of at most ${NAME_LENGTH_MAX} characters.`, 'name');
  const confirmations = change.confirmations ?? known?.confirmations ?? 0;
  if (confirmations < 1 || confirmations > CONFIRMATIONS_MAX) {
    const message = `Enter a number of confirmations from 1 to ${CONFIRMATIONS_MAX}.`;
    throw new UserFailure('INVALID', message, 'confirmations');
  }
  const startBlock = known?.startBlock ?? change.startBlock ?? head;
  if (startBlock < 0) throw new UserFailure('INVALID', 'Enter a block from 0 on.', 'startBlock');
  const explorerUrl =
    change.explorerUrl === undefined ? (known?.explorerUrl ?? null) : explorerOf(change.explorerUrl);
  return {
    ...{ name, confirmations, startBlock, explorerUrl },
    enabled: change.enabled ?? known?.enabled ?? true,
    needsFinality: change.needsFinality ?? known?.needsFinality ?? true,
  };
}

function explorerOf(text: string | null): string | null {
  if (!text) return null;
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text.replace(/\/+$/, '');
  throw new UserFailure('INVALID', 'Enter an address that begins with https://.', 'explorerUrl');
}

/** The fields of a chain for the audit log. RPC addresses may hold secrets, so only their hosts are named. */
function summary(row: ChainRow): Record<string, unknown> {
  const { name, enabled, confirmations, needsFinality, startBlock, explorerUrl, rpcHosts } = row;
  return {
    name,
    enabled,
    confirmations,
    needsFinality,
    startBlock,
    explorerUrl: explorerUrl ?? null,
    rpcHosts,
  };
}
