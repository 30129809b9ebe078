/** Words of the page of the privacy policy, beside its text. Sentence case, present tense, exact. */
export const privacy = {
  privacy: {
    print: 'Print',
    version: 'Version {{version}}',
    former: 'Version {{version}}, in force from',
    inForce: 'In force',
    replaced: 'This version was replaced by version {{version}}.',
    readCurrent: 'Read that one',
    versions: 'All versions',
    difference: 'Difference from version {{version}}',
    changedLines: 'Changed lines',
    providers: 'What upstream providers receive',
    providersSentence: 'Each request goes to the provider that serves the model it names.',
    receive:
      'The provider receives the content of every request that is sent: messages, files, tools, settings.',
    receiveNot: 'It does not receive your email address, your key or your IP address from the gateway.',
    terms: 'It handles the content under its own terms.',
    retention: 'How long data is kept',
    what: 'What',
    howLong: 'How long',
    usageDropped_one: 'Whole months, until {{count}} day after they ended; sums and charges stay',
    usageDropped_other: 'Whole months, until {{count}} days after they ended; sums and charges stay',
    kept: {
      prompts: { what: 'Prompts and replies of requests with a key', long: 'Never stored' },
      usage: {
        what: 'Usage log: model, tokens, cost, request id, IP address',
        long: 'As long as this gateway runs: it drops no months',
      },
      ledger: { what: 'Ledger and receipts', long: 'As long as bookkeeping asks' },
      sessions: { what: 'Signed-in browsers', long: '14 days without use, 90 days at most' },
      links: { what: 'Links by mail', long: 'Until used, 24 hours at most' },
      chats: {
        what: 'Playground chats, where a switch stores them, and what is derived from them',
        long: 'Until you delete them or close the account',
      },
      record: { what: 'Accepted versions, actions of administrators', long: 'As long as the gateway runs' },
    },
  },
} as const;
