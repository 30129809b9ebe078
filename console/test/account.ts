/** The account of the fake control plane: its browsers, and the policy it accepted. */
import { ago } from './sample.ts';

const HOUR_MS = 3_600_000;

/** Browsers that are signed in. */
export const sessions = ['Chrome/140 Linux', 'Firefox/150 Windows'].map((userAgent, index) => ({
  __typename: 'Session',
  id: `ses_${index}`,
  userAgent,
  ip: '192.0.2.61',
  createdAt: ago(90 * HOUR_MS),
  lastSeenAt: ago(index * HOUR_MS),
  current: index === 0,
}));

/** The privacy policy in force. */
export const policy = {
  __typename: 'PolicyVersion',
  id: 'pol_1',
  version: '1.0',
  effectiveAt: '2026-11-01T00:00:00.000Z',
  changeSummary: null,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  markdown: [
    '# Privacy policy',
    '## What providers receive',
    'Upstream providers receive the **content of every request** that is sent.',
    '## What is kept',
    '| What | How long |\n|---|---|\n| Usage rows | 13 months |\n| Ledger | 10 years |',
    '- The usage log keeps metadata only: `model`, tokens, cost, request id and address.\n' +
      '- Playground chats are kept only if you switch it on.',
    '## Questions',
    'See [the prices](/pricing).',
  ].join('\n\n'),
};

/** Its history: a second version is in force, in which one line changed. */
export const policyVersions = [
  {
    ...policy,
    id: 'pol_2',
    version: '1.1',
    effectiveAt: '2026-11-10T00:00:00.000Z',
    changeSummary: 'Usage rows are kept for a shorter time.',
    sha256: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
    markdown: policy.markdown.replace('13 months', '12 months'),
  },
  policy,
];
