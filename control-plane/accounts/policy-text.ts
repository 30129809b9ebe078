/**
 * The default text of the privacy policy. It is seeded into an empty database, and replaces a default text of
 * an earlier release. Administrators publish their own.
 */
import { createHash } from 'node:crypto';

export const POLICY_VERSION = '1.0';

/** The words with which a default text names its version. */
const NAMED_VERSION = /^Version [\d.]+\. /m;

/** Digests of the default texts of earlier releases. Add the digest of a text that you replace. */
const EARLIER_DEFAULTS: ReadonlySet<string> = new Set([
  'd775550858edf3fd6e65248423c4d0fab44ebebbcb972ebe2d1d3db9b3050efd',
  'c37d04947577e3d3bd0cb31f4966a234ae421dd37e9358de04f7ea52a2ad0b9a',
  '82f093ec16c1c7574a9da88d2e26b4b1c71f22c48ee99c807f647936aac90dbe',
]);

/** The default text, naming this version. */
export function defaultPolicy(version: string): string {
  return POLICY_TEXT.replace(NAMED_VERSION, `Version ${version}. `);
}

/** SHA-256 of a text in hexadecimal, which is the same whatever version the text names. */
export function digestOfPolicy(markdown: string): string {
  return createHash('sha256').update(markdown.replace(NAMED_VERSION, '')).digest('hex');
}

/** Whether the text is the unedited default of an earlier release. */
export function isEarlierDefault(markdown: string): boolean {
  return EARLIER_DEFAULTS.has(digestOfPolicy(markdown));
}

export const POLICY_TEXT = `# Privacy policy

Version 1.0. This policy says what this gateway stores about you, why, for how long, and what you can do
about it. Where it says "we", it means whoever operates this installation of the gateway.

## 1. What happens to your requests

The gateway passes each request to the model provider that serves the model you named, and passes the answer
back. **The provider receives the whole content of every request**, and handles it under its own terms. We
do not choose what you send: do not send what the provider must not see.

## 2. What we store of a request

We keep a usage log for billing, support and security. An entry holds metadata only: time, request id, key,
model, token counts, price, billing group, status, duration and the address the request came from. **Prompts
and replies of requests made with an API key are not stored**, neither in the usage log nor anywhere else.

## 3. Playground and Personal Intelligence

The Playground in the console works without storing your conversations. If, and only if, you switch on a
feature of Personal Intelligence in your profile, Playground conversations are stored and analysed, and what
is derived from them (durable routines, preference profiles, conversation summaries, what you were working
on) may be given to the model as context for later replies. Every feature has a switch of its own, and all
are off at first. The model that reads your conversations is named on the page of these switches. You can
correct and delete single items, delete single conversations, or have everything forgotten at once. Both are
encrypted under a key of your own, which is destroyed when you have everything forgotten or close your
account. Of a deleted item we keep hashes of its words under that key, so that it is not learned again, unless
you choose otherwise. Secrets, card numbers, exact addresses, and statements about health, religion, politics,
sexuality or origin are filtered out and not learned. Administrators see how many users take part and how many
conversations wait to be read, never what they say. The audit log records that you changed a switch or deleted
everything, never what. Requests made with an API key are never part of this.

## 4. Your account

We store your e-mail address, your name if you give one, your language, the time you registered, and your
sessions with the address and the browser they were opened from. Your password is stored only as a hash that
nobody can read, administrators included. Of an API key we store a digest, its first and its last four
characters; the key itself is shown to you once and exists nowhere else. We record which version of this
policy you accepted, when, and from which address.

## 5. Payments

Card payments are handled by an external payment processor; card data never reaches our servers. Payments in
cryptocurrency are visible on public blockchains to everybody, for ever. We store amounts, times and
references of payments, because bookkeeping needs them.

## 6. How long

| What | How long |
|---|---|
| Usage log, ledger and receipts | as long as the account exists, then as long as bookkeeping asks for |
| Sessions | until you sign out, at most 90 days |
| Stored Playground conversations and derived items | until you delete them or close the account |
| Record of policy acceptance and of administrators' actions | as long as the account exists |

## 7. Who else sees it

Model providers receive requests, as said in section 1. Payment processors receive what a payment needs.
Nobody else receives your data, unless the law compels us.

## 8. Your rights

You can see, correct, export and delete your data in the console, and ask us to do it for you. You can
withdraw what you allowed at any time, without giving a reason. You can complain to the authority for data
protection at your place.

## 9. Changes

A new version of this policy is published at the same address, with its number and what changed. Where a
change matters, we ask you to accept it before you go on; reading, exporting and deleting your data stays
possible without that.
`;
