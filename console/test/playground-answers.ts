/** Answers of the fake control plane about the Playground: stored chats. */
import { connection } from './connection.ts';
import { usedItems } from './item-answers.ts';
import { ago } from './sample.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

const TITLES = [
  ['Retry budgets over three nodes', 4],
  ['Plan of the release notes', 300],
  ['SQL for the open invoices of the second quarter, by country and by month', DAY_MINUTES + 40],
  ['Names for the new service', 6 * DAY_MINUTES],
] as const;

function message(index: number, more: object) {
  return {
    __typename: 'Message',
    id: `msg_${index}`,
    role: 'ASSISTANT',
    content: '',
    reasoning: null,
    attachments: [],
    state: 'COMPLETE',
    error: null,
    errorCode: null,
    modelName: 'coder',
    parentId: index === 1 ? null : `msg_${index - 1}`,
    requestId: `req_01KAGX9B${index}`,
    usage: null,
    usedItems: [] as object[],
    createdAt: ago((30 - index) * MINUTE_MS),
    ...more,
  };
}

const REPLY = `A retry budget of **10 %** keeps a failing upstream from being asked twice by everybody:

1. Count requests and retries over the last ten seconds.
2. Retry only while \`retries / requests\` is below the budget.

\`\`\`ts
/** Whether one more retry fits into the budget. */
const fits = (retries: number, requests: number) => retries < requests * 0.1;
\`\`\`

| nodes | retries per second |
|---|---|
| 1 | 12 |
| 3 | 36 |

![diagram](https://elsewhere.example/diagram.png) See [the write-up](https://elsewhere.example/retries).`;

const messages = [
  message(1, { role: 'USER', modelName: null, content: 'How does a retry budget work over three nodes?' }),
  message(2, {
    content: REPLY,
    reasoning: 'The reader runs three nodes. A number helps.',
    usedItems,
    // Charged when the model cost less than it does today.
    usage: {
      ...{ __typename: 'UsageEntry', id: 'req_01KAGX9B2', cost: '0.25' },
      ...{ ttftMs: 340, latencyMs: 1_800, inputTokens: 640, outputTokens: 210 },
    },
  }),
  message(3, { role: 'USER', modelName: null, content: 'And with one node?' }),
  message(4, { state: 'FAILED', errorCode: 'upstream_failed', error: 'The upstream failed. Try again.' }),
  message(5, { parentId: 'msg_3', content: 'The same, with a third of the traffic.' }),
];

const chats = TITLES.map(([title, minutes], index) => ({
  __typename: 'Conversation',
  id: `cnv_${index + 1}`,
  title,
  stored: true,
  temporary: false,
  model: { __typename: 'CatalogModel', id: 'mdl_coder', name: 'coder' },
  createdAt: ago(minutes * MINUTE_MS),
  updatedAt: ago(minutes * MINUTE_MS),
  messages: ({ first, after }: { first: number; after?: string | null }) =>
    connection(messages, first, after ?? null),
}));

/** A chat by its id. */
export function chatOf(id: string) {
  return chats.find((chat) => chat.id === id) ?? null;
}

/** Fields of the viewer for the Playground. */
export const playground = {
  playground: {
    storing: true,
    defaultModel: { __typename: 'CatalogModel', id: 'mdl_coder', name: 'coder' },
    conversations: ({ first, after, search }: { first: number; after?: string; search?: string | null }) =>
      connection(
        chats.filter(({ title }) => title.toLowerCase().includes(search?.toLowerCase() ?? '')),
        first,
        after ?? null,
      ),
  },
};
