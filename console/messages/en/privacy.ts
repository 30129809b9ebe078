/** English texts around the privacy policy: versions, providers, retention. */
export const privacy = {
  privacy: {
    print: 'Print',
    version: 'Version {{version}}',
    former: 'Version {{version}}, in force from',
    inForce: 'In force',
    replaced: 'This version was replaced by version {{version}}.',
    readCurrent: 'Read the current version',
    versions: 'All versions',
    difference: 'Difference from version {{version}}',
    changedLines: 'Changed lines',
    providers: 'What upstream providers receive',
    providersSentence: 'Each request goes to the provider that serves the model it names.',
    receive: 'The provider receives the full content of the request: messages, files, tools, settings.',
    receiveNot: 'The gateway does not pass on your email address, your key or your IP address.',
    terms: 'The provider handles the content under its own terms.',
    retention: 'How long data is kept',
    what: 'Data',
    howLong: 'Kept for',
    usageDropped_one: 'Whole months, until {{count}} day after they ended; totals and charges stay',
    usageDropped_other: 'Whole months, until {{count}} days after they ended; totals and charges stay',
    kept: {
      prompts: { what: 'Prompts and replies of requests with a key', long: 'Never stored' },
      usage: {
        what: 'Usage log: model, tokens, cost, request id, IP address',
        long: 'As long as this gateway runs; no month is deleted',
      },
      ledger: { what: 'Ledger and receipts', long: 'As long as accounting requires' },
      sessions: { what: 'Signed-in browsers', long: '14 days without use, 90 days at most' },
      links: { what: 'Links by mail', long: 'Until used, 24 hours at most' },
      chats: {
        what: 'Playground chats, if a switch stores them, and what is derived from them',
        long: 'Until you delete them or close the account',
      },
      record: { what: 'Accepted versions, actions of administrators', long: 'As long as the gateway runs' },
    },
  },
} as const;
