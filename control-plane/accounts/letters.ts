/** Composes mails with links at the moment they are sent: who gets one, and which, is decided only then. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import type { Letter, Mail } from '../mail/mail.service.ts';
import type { Composer } from '../mail/post.ts';
import type { Settings } from '../settings.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { UserSchema } from './account.entity.ts';
import { mintLink, voidLinks } from './link.service.ts';
import { letterWords, mailLocaleOf } from './mail.texts.ts';
import { mintResetLink } from './reset.service.ts';

type Addresses = Pick<Settings, 'consoleUrl'>;
type Writer = (em: EntityManager, letter: Letter, addresses: Addresses) => Promise<Mail | null>;

const WRITERS: Readonly<Record<string, Writer>> = {
  register: writeRegistration,
  reset: writeReset,
  verify: (em, letter, addresses) => writeProof(em, letter, { ...addresses, purpose: 'VERIFY' }),
  change: (em, letter, addresses) => writeProof(em, letter, { ...addresses, purpose: 'CHANGE' }),
};

/** The composer of all letters about accounts. Tokens stand in fragments, which no server is sent. */
export function composeLetters(addresses: Addresses): Composer {
  return async (em, letter) => (await WRITERS[letter.letter]?.(em, letter, addresses)) ?? null;
}

/** The link that makes the account; where there is one already, the news of that. */
async function writeRegistration(
  em: EntityManager,
  { to, about }: Letter,
  { consoleUrl }: Addresses,
): Promise<Mail | null> {
  const known = await em.findOne(UserSchema, { email: to });
  if (known) {
    await query(em, sql`delete from pending_registration where id = ${about['registration']}`);
    return { to, ...letterWords('taken', mailLocaleOf(known.locale), `${consoleUrl}/sign-in`) };
  }
  const token = issueSecret('gwl');
  const row = await queryOne<{ locale: string }>(
    em,
    sql`update pending_registration set token_digest = ${digestOf(token)}
    where id = ${about['registration']} and expires_at > now() returning locale`,
  );
  if (!row) return null;
  return { to, ...letterWords('register', mailLocaleOf(row.locale), `${consoleUrl}/verify#${token}`) };
}

async function writeReset(
  em: EntityManager,
  { to }: Letter,
  { consoleUrl }: Addresses,
): Promise<Mail | null> {
  const minted = await mintResetLink(em, to);
  if (!minted) return null;
  const locale = mailLocaleOf(minted.user.locale);
  return { to, ...letterWords('reset', locale, `${consoleUrl}/reset#${minted.token}`) };
}

/** The link that proves an address; for one that somebody else has, the news of that. */
async function writeProof(
  em: EntityManager,
  { to, about }: Letter,
  { consoleUrl, purpose }: Addresses & { purpose: 'VERIFY' | 'CHANGE' },
): Promise<Mail | null> {
  return inTransaction(em, async (inner) => {
    const user = await inner.findOne(UserSchema, { id: about['user'] ?? '', state: 'ACTIVE' });
    const holder = await inner.findOne(UserSchema, { email: to });
    if (!user) return null;
    const locale = mailLocaleOf((holder ?? user).locale);
    if (holder && holder.id !== user.id)
      return { to, ...letterWords('taken', locale, `${consoleUrl}/sign-in`) };
    await voidLinks(inner, user.id, [purpose]);
    const { token } = await mintLink(inner, user.id, { purpose, email: to });
    const kind = purpose === 'VERIFY' ? 'verify' : 'change';
    return { to, ...letterWords(kind, locale, `${consoleUrl}/verify#${token}`) };
  });
}
