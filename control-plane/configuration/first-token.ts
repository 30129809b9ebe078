/** Makes an access token in the database, so that an installation can be set up without a browser. */
import { UserSchema } from '../accounts/account.entity.ts';
import type { UserRow } from '../accounts/account.entity.ts';
import { createToken } from '../accounts/token.service.ts';
import { audit } from '../audit/audit.service.ts';
import { createOrm } from '../database/orm.ts';
import { inTransaction } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { AccessScope } from '../graphql/enums.ts';
import type { TokenOptions } from './options.ts';

/**
 * Creates a token of an administrator, writes it to the audit log and returns its secret. A caller with the
 * address of the database can change everything anyway. Throws an Error that says what to write.
 */
export async function createFirstToken(databaseUrl: string, options: TokenOptions): Promise<string> {
  const scopes = scopesOf(options.scopes);
  const orm = await createOrm(databaseUrl, { connectionsMax: 1 });
  try {
    return await inTransaction(orm.em.fork(), async (em) => {
      const where = { role: 'ADMIN' as const, state: 'ACTIVE' as const };
      const owner = ownerOf(await em.find(UserSchema, where), options.email);
      const input = { name: options.name, scopes, expiresInDays: options.days };
      const { token, secret } = await createToken(em, { id: owner.id, role: 'ADMIN' }, input);
      await audit(em, {
        actor: SYSTEM_ACTOR,
        action: 'access-token.create',
        targetType: 'User',
        targetId: owner.id,
        after: { token: token.id, name: token.name, scopes },
        reason: 'the command gateway token',
      });
      return secret;
    });
  } finally {
    await orm.close(true);
  }
}

function ownerOf(administrators: readonly UserRow[], email: string | null): UserRow {
  const found = email === null ? administrators : administrators.filter((user) => user.email === email);
  const [owner, other] = found;
  if (!owner)
    throw new Error('There is no such administrator. Set ADMIN_EMAIL and ADMIN_PASSWORD at the first start.');
  if (other) throw new Error('There are several administrators. Name one with --email.');
  return owner;
}

function scopesOf(words: readonly string[]): AccessScope[] {
  const known = Object.keys(AccessScope) as AccessScope[];
  const unknown = words.find((word) => !known.includes(word as AccessScope));
  if (unknown === undefined && words.length > 0) return words as AccessScope[];
  throw new Error(`Name the scopes with --scopes, separated by commas: ${known.join(', ')}.`);
}
