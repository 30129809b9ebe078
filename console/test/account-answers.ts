/** Answers of the fake control plane about the account: profile, factors, tokens, re-authentication. */
import { GraphQLError } from 'graphql';
import { connection } from './connection.ts';
import { ago } from './sample.ts';

const HOUR_MS = 3_600_000;

type Input<Value> = { input: Value };

/** The state of the account that tests change and read. */
export interface AccountState {
  signedIn: boolean;
  /** Whether sensitive acts ask for a proof first. */
  stale: boolean;
  totp: boolean;
  /** Whether a new privacy policy is to be accepted. */
  mustAccept: boolean;
  tokens: SampleToken[];
  passkeys: SamplePasskey[];
  displayName: string | null;
  timeZone: string;
  /** Whether a mail is wished for when the storefront opens. */
  waitsForStorefront: boolean;
  /** Whether other browsers than this one are signed in. */
  othersSignedIn: boolean;
}

interface ProfileChange {
  displayName?: string | null;
  timeZone?: string;
  notifications?: { storefrontOpening?: boolean };
}

/** Mailed links and their effects. */
export const LINK_TOKEN = 'link-token-for-once';

function mailChanges(state: AccountState) {
  const byLink = (token: string) => {
    state.signedIn = token === LINK_TOKEN;
    const viewer = state.signedIn ? { __typename: 'User', id: 'usr_1' } : null;
    return { viewer, secondFactorRequired: false, ...(state.signedIn ? { userErrors: [] } : REFUSED) };
  };
  return {
    passwordReset: ({ input }: Input<{ token: string }>) => byLink(input.token),
    emailVerify: ({ input }: Input<{ token: string }>) => byLink(input.token),
    passwordResetRequest: () => ({ ok: true, userErrors: [] }),
    emailChangeRequest: () => ({ ok: true, userErrors: [] }),
  };
}

/** The password and the code that the fake service takes. */
export const PASSWORD = 'tram orchid 41 window';
export const TOTP_CODE = '123456';
/** Secrets that are shown once. */
export const TOTP_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
export const TOKEN_SECRET = 'gqt_w7Qm2Vt4cXe8LwJd1xZp9su3BqmN0rKd2uh3Za';
const RECOVERY_CODES = Array.from({ length: 10 }, (_, index) => `k7wq-${index}x9f-m2rt`);

function makeToken(index: number, name: string, more: object = {}) {
  return {
    __typename: 'AccessToken',
    id: `tok_${index}`,
    name,
    prefix: 'gqt_w7Qm',
    scopes: ['KEYS_READ', 'USAGE_READ'],
    createdAt: ago(200 * HOUR_MS),
    expiresAt: ago(-2_000 * HOUR_MS),
    lastUsedAt: ago(HOUR_MS),
    revokedAt: null as string | null,
    ...more,
  };
}

type SampleToken = ReturnType<typeof makeToken>;

/** A passkey; one that a test made is known by the id that its device gave it. */
function makePasskey(id: string, name: string) {
  return { __typename: 'Passkey', id, name, createdAt: ago(HOUR_MS), lastUsedAt: null };
}

type SamplePasskey = ReturnType<typeof makePasskey>;

/** The account as it is before a test. */
export function makeAccount(): Omit<AccountState, 'signedIn'> {
  return {
    stale: false,
    totp: false,
    mustAccept: false,
    passkeys: [makePasskey('pky_1', 'Laptop')],
    tokens: [makeToken(1, 'Billing export'), makeToken(2, 'Old script', { revokedAt: ago(HOUR_MS) })],
    displayName: 'Mara Lindgren',
    timeZone: 'UTC',
    waitsForStorefront: false,
    othersSignedIn: true,
  };
}

/** Fields of the viewer. */
export function accountOf(state: AccountState) {
  return {
    displayName: () => state.displayName,
    timeZone: () => state.timeZone,
    createdAt: ago(9_000 * HOUR_MS),
    emailVerifiedAt: ago(9_000 * HOUR_MS),
    securityFactors: () => ({
      hasPassword: true,
      totpEnabled: state.totp,
      recoveryCodesLeft: state.totp ? RECOVERY_CODES.length : 0,
      passkeys: state.passkeys,
      linkedIdentities: [],
    }),
    notificationPreferences: () => ({
      lowBalanceThreshold: '20',
      poolExpiry: true,
      storefrontOpening: state.waitsForStorefront,
      paymentReceipts: false,
      security: true,
    }),
    accessTokens: ({ first, after }: { first: number; after?: string | null }) =>
      connection(state.tokens, first, after ?? null),
  };
}

const REFUSED = { userErrors: [{ code: 'CREDENTIALS_INVALID', message: 'Wrong.', field: null }] };

interface Proof {
  password?: string;
  totpCode?: string;
}

function isProven(state: AccountState, { password, totpCode }: Proof): boolean {
  return password === PASSWORD && (!state.totp || totpCode === TOTP_CODE);
}

/** The mutation, refused with REAUTH_REQUIRED while the last proof is too old. */
export function sensitive<Given, Answer>(
  state: AccountState,
  act: (given: Given) => Answer,
): (given: Given) => Answer {
  return (given) => {
    if (state.stale) throw new GraphQLError('Prove it.', { extensions: { code: 'REAUTH_REQUIRED' } });
    return act(given);
  };
}

/** The mutations of the account. */
export function accountChanges(state: AccountState) {
  return {
    ...factorChanges(state),
    ...passkeyChanges(state),
    ...tokenChanges(state),
    ...profileChanges(state),
  };
}

function factorChanges(state: AccountState) {
  return {
    reauthenticate: ({ input }: Input<Proof>) => {
      if (!isProven(state, input)) return { validUntil: null, ...REFUSED };
      state.stale = false;
      return { validUntil: new Date(), userErrors: [] };
    },
    totpEnrol: sensitive(state, () => ({
      otpauthUri: `otpauth://totp/Gateway:mara?secret=${TOTP_SECRET}&issuer=Gateway`,
      secret: TOTP_SECRET,
      userErrors: [],
    })),
    totpConfirm: ({ input }: Input<{ code: string }>) => {
      if (input.code !== TOTP_CODE) return { recoveryCodes: null, ...REFUSED };
      state.totp = true;
      return { recoveryCodes: RECOVERY_CODES, userErrors: [] };
    },
    totpDisable: ({ input }: Input<Proof>) => {
      if (!isProven(state, input)) return { viewer: null, ...REFUSED };
      state.totp = false;
      return { viewer: { __typename: 'User', id: 'usr_1', ...accountOf(state) }, userErrors: [] };
    },
  };
}

function passkeyChanges(state: AccountState) {
  return {
    passkeyRegisterOptions: sensitive(state, () => ({
      options: {
        challenge: 'c2VydmVyLWNoYWxsZW5nZQ',
        rp: { id: 'localhost', name: 'Gateway' },
        user: { id: 'dXNyXzE', name: 'mara@lindgren.dev', displayName: 'Mara Lindgren' },
        pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key', alg })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: state.passkeys
          .filter(({ id }) => !id.startsWith('pky_'))
          .map(({ id }) => ({ type: 'public-key', id })),
      },
    })),
    passkeyRegister: ({ input }: Input<{ name: string; credential: { id: string } }>) => {
      state.passkeys = [...state.passkeys, makePasskey(input.credential.id, input.name)];
      return { passkey: state.passkeys.at(-1), userErrors: [] };
    },
  };
}

function tokenChanges(state: AccountState) {
  return {
    accessTokenCreate: sensitive(state, ({ input }: Input<{ name: string; scopes: string[] }>) => {
      const { name, scopes } = input;
      const accessToken = makeToken(10 + state.tokens.length, name, { scopes, lastUsedAt: null });
      state.tokens = [accessToken, ...state.tokens];
      return { accessToken, secret: TOKEN_SECRET, userErrors: [] };
    }),
    accessTokenRevoke: ({ input }: Input<{ id: string }>) => {
      const accessToken = state.tokens.find(({ id }) => id === input.id);
      if (accessToken) accessToken.revokedAt = new Date().toISOString();
      return { accessToken, userErrors: [] };
    },
  };
}

function profileChanges(state: AccountState) {
  return {
    profileUpdate: ({ input }: Input<ProfileChange>) => {
      state.waitsForStorefront = input.notifications?.storefrontOpening ?? state.waitsForStorefront;
      if (input.displayName !== undefined) state.displayName = input.displayName;
      state.timeZone = input.timeZone ?? state.timeZone;
      return {
        viewer: { __typename: 'User', id: 'usr_1', locale: 'en', ...accountOf(state) },
        userErrors: [],
      };
    },
    accountDelete: ({ input }: Input<Proof>) => {
      if (!isProven(state, input)) return { ok: false, ...REFUSED };
      state.signedIn = false;
      return { ok: true, userErrors: [] };
    },
    passwordChange: ({ input }: Input<{ currentPassword: string; revokeOtherSessions: boolean }>) => {
      if (input.currentPassword !== PASSWORD) return REFUSED;
      state.othersSignedIn &&= !input.revokeOtherSessions;
      return { userErrors: [] };
    },
    conversationsDeleteAll: () => ({ deletedIds: ['con_1', 'con_2'], userErrors: [] }),
    sessionsRevokeOthers: () => {
      state.othersSignedIn = false;
      return { userErrors: [] };
    },
    policyAccept: () => {
      state.mustAccept = false;
      return { viewer: { __typename: 'User', id: 'usr_1', mustAcceptPolicy: null }, userErrors: [] };
    },
    ...mailChanges(state),
  };
}
