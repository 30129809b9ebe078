/**
 * Composes mails with single-use links. Runs when the mailer sends them, so that a request takes the same
 * time whether or not the address has an account.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import type { DeferredMail, Mail } from '../mail/mail.service.ts';
import type { Composer } from '../mail/mailer.ts';
import type { Settings } from '../process/settings.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import { mintLink, voidLinks } from './link.service.ts';
import { linkMailText, mailLocaleOf } from './mail.texts.ts';
import { mintResetLink } from './reset.service.ts';

type Addresses = Pick<Settings, 'consoleUrl'>;
type Writer = (em: EntityManager, letter: DeferredMail, addresses: Addresses) => Promise<Mail | null>;

const WRITERS: Readonly<Record<string, Writer>> = {
  register: writeRegistration,
  reset: writeReset,
  verify: (em, letter, addresses) => writeVerification(em, letter, { ...addresses, purpose: 'VERIFY' }),
  change: (em, letter, addresses) => writeVerification(em, letter, { ...addresses, purpose: 'CHANGE' }),
};

/**
 * The composer for all link mails. Tokens are in the fragments of links, which browsers send to no server.
 */
export function composeLinkMails(addresses: Addresses): Composer {
  return async (em, letter) => (await WRITERS[letter.letter]?.(em, letter, addresses)) ?? null;
}

/** The link that creates the account; if the address already has one, a mail that says so. */
async function writeRegistration(
  em: EntityManager,
  { to, about }: DeferredMail,
  { consoleUrl }: Addresses,
): Promise<Mail | null> {
  const owner = await em.findOne(UserSchema, { email: to });
  if (owner) {
    await query(em, sql`delete from pending_registration where id = ${about['registration']}`);
    return { to, ...linkMailText('taken', mailLocaleOf(owner.locale), `${consoleUrl}/sign-in`) };
  }
  const token = issueSecret('gwl');
  const row = await queryOne<{ locale: string }>(
    em,
    sql`update pending_registration set token_digest = ${digestOf(token)}
    where id = ${about['registration']} and expires_at > now() returning locale`,
  );
  if (!row) return null;
  return { to, ...linkMailText('register', mailLocaleOf(row.locale), `${consoleUrl}/verify#${token}`) };
}

async function writeReset(
  em: EntityManager,
  { to }: DeferredMail,
  { consoleUrl }: Addresses,
): Promise<Mail | null> {
  const minted = await mintResetLink(em, to);
  if (!minted) return null;
  const locale = mailLocaleOf(minted.user.locale);
  return { to, ...linkMailText('reset', locale, `${consoleUrl}/reset#${minted.token}`) };
}

/** The link that verifies an address; if another account has it, a mail that says so to its owner. */
async function writeVerification(
  em: EntityManager,
  { to, about }: DeferredMail,
  { consoleUrl, purpose }: Addresses & { purpose: 'VERIFY' | 'CHANGE' },
): Promise<Mail | null> {
  return inTransaction(em, async (inner) => {
    const user = await inner.findOne(UserSchema, { id: about['user'] ?? '', state: 'ACTIVE' });
    const owner = await inner.findOne(UserSchema, { email: to });
    if (!user) return null;
    const locale = mailLocaleOf((owner ?? user).locale);
    if (owner && owner.id !== user.id)
      return { to, ...linkMailText('taken', locale, `${consoleUrl}/sign-in`) };
    await voidLinks(inner, user.id, [purpose]);
    const { token } = await mintLink(inner, user.id, { purpose, email: to });
    const kind = purpose === 'VERIFY' ? 'verify' : 'change';
    return { to, ...linkMailText(kind, locale, `${consoleUrl}/verify#${token}`) };
  });
}
