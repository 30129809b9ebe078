/** The limits of the entrances of the control plane. */
import { all, limit, no, ofControl, paced, penalised } from './cells.ts';
import type { Cell, Row, Section } from './cells.ts';

const ADMISSION = 'control-plane/request/admission.test.ts';
const SOCKETS = 'control-plane/graphql/socket-limits.test.ts';
const SIGN_INS = 'control-plane/accounts/sign-in-limits.test.ts';
const BUDGET = 'control-plane/budget/budget.test.ts';
const SETTLE = 'data-plane/ledger/settle.test.ts';
const DOWNLOADS_TEST = 'control-plane/downloads/download.test.ts';
const SLOTS = 'control-plane/downloads/download-slots.test.ts';
const READ_ANSWER = 'control-plane/process/read-answer.test.ts';
const RATES = 'control-plane/request/rates.test.ts';
const READING = 'control-plane/request/reading.test.ts';
const KEPT = 'control-plane/graphql/document-store.test.ts';
const LISTENER = 'control-plane/listener.test.ts';
const FREE_ANSWERS = 'control-plane/request/free-answers.test.ts';
const REFUSED_BODIES = 'control-plane/request/refused-bodies.test.ts';
const LISTENER_LIMITS = 'control-plane/listener-limits.test.ts';

const NO_KEYS = no('API keys are not accepted here; their owner has the limits of an account');

/** The limits of each rank: those of one caller, and the total that its rank may reach. */
function ranks(name: string, proofs: string | string[], more: string[] = []): Row {
  const of = (rank: string): Cell =>
    limit(ofControl(`${name}.${rank}.perCaller`, `${name}.${rank}.upTo`, ...more), proofs);
  return {
    'anonymous address': of('anonymous'),
    'account without money': of('user'),
    'paying key': NO_KEYS,
    node: of('node'),
    operator: of('admin'),
  };
}

/** The rates of each rank. Those of all anonymous callers together are proved with those of one. */
function rates(name: string, proofs: string | string[], more: string[] = []): Row {
  const of = (rank: string): Cell =>
    limit(ofControl(`${name}.${rank}.perSecond`, `${name}.${rank}.atOnce`, ...more), proofs);
  return {
    'anonymous address': limit(
      ofControl(
        `${name}.anonymous.perSecond`,
        `${name}.anonymous.atOnce`,
        `${name}.allAnonymous.perSecond`,
        ...more,
      ),
      [
        proofs,
        `${RATES}: is bounded for all anonymous callers together, and takes nothing from users`,
      ].flat(),
    ),
    'account without money': of('user'),
    'paying key': NO_KEYS,
    node: of('node'),
    operator: of('admin'),
  };
}

/** One cell for everybody but keys. */
const everybody = (cell: Cell, others: Partial<Row> = {}): Row =>
  all(cell, { 'paying key': NO_KEYS, ...others });

const CONNECTIONS = ranks(
  'CONNECTIONS',
  [
    `${LISTENER}: are closed above their limit for a network without a verified caller`,
    `${FREE_ANSWERS}: strangers use up the free answers of strangers alone, not those of users and nodes`,
    `${FREE_ANSWERS}: an account uses up its own free answers alone`,
  ],
  ['CONNECTIONS_MAX', 'REQUESTS_PER_SOCKET'],
);
const TIMES = everybody(
  limit(
    ofControl(
      ...['headersMs', 'requestMs', 'keepAliveMs', 'slowBodyGraceMs', 'bodyBytesPerSecond'].map(
        (name) => `TIME_LIMITS.${name}`,
      ),
    ),
    `${ADMISSION}: ends for headers and bodies that arrive too slowly`,
  ),
);
const HEADERS = everybody(
  limit(
    ofControl('HEADER_BYTES'),
    `${LISTENER_LIMITS}: headers above their limit are refused with 431, and shorter ones are accepted`,
  ),
);
const HASHES: Row = everybody(
  limit(ofControl('HASHES.anonymous.perCaller', 'STRANGER_HASH_MS.perSecond', 'HASHES_PER_OPERATION'), [
    `${SIGN_INS}: of strangers wait when they took their share of a core, and those of users do not`,
    `${SIGN_INS}: of networks take turns, however many one of them sent before`,
    `${SIGN_INS}: are bounded per network and for all strangers, and leave places for signed-in users`,
    `${SIGN_INS}: are computed a few at once, those of signed-in users first`,
  ]),
  {
    'account without money': limit(
      ofControl('HASHES.user.perCaller', 'HASHES.user.upTo', 'HASHES_PER_OPERATION'),
      `${SIGN_INS}: are bounded for that session alone`,
    ),
    node: no('nodes have tokens and no passwords'),
  },
);
/** Their memory belongs here: documents are kept so that they need not be read again. */
const DOCUMENTS = rates(
  'READING_MS',
  [
    `${READING}: is bounded for strangers over HTTP, also if they are refused, and users are not affected`,
    `${READING}: counts requests and the bytes of their answers, also of documents that were read before`,
    `${READING}: counts WebSockets that are opened, and refuses more of them with 429`,
    `${READING}: is bounded for an account over WebSocket`,
    `${READING}: is bounded for an account whose bodies have many names, also if they are refused`,
    `${READING}: is bounded for an account whose messages over WebSocket have many names`,
    `${KEPT}: forgets documents when a stranger sends many different ones to the server`,
  ],
  ['REQUEST_MS', 'ANSWER_MEGABYTE_MS', 'TOKENS_MAX', 'DOCUMENT_STORE_BYTES', 'SHORT_MESSAGE_BYTES'],
);
const NO_DOCUMENTS = all(no('only GraphQL has documents'));
const ROWS: Row = everybody(
  limit(
    ['control-plane/process/settings.ts QUERY_BUDGET', 'control-plane/budget/budget.ts SLICES_MAX'],
    [
      `${BUDGET}: is a quarter for an address without an account, and is shared by an IPv6 /64 network`,
      `${BUDGET}: is deleted after two hours without use`,
    ],
  ),
  {
    'account without money': limit(
      ['control-plane/process/settings.ts QUERY_BUDGET', 'control-plane/keys/key.service.ts KEYS_MAX'],
      `${BUDGET}: is not exceeded by two processes together, and each wastes at most one slice`,
    ),
    node: limit(
      'shared/usage-report.ts USAGE_BATCH_MAX',
      `${SETTLE}: a report is limited, lists charges first, and is followed at once only by a full one`,
    ),
  },
);
const NO_DISK = all(no('requests write no files'));
const LOGS = everybody(
  limit(
    ofControl('LOG_LINES_PER_NETWORK', 'LOG_LINES_PER_MINUTE'),
    `${LISTENER_LIMITS}: a network causes a limited number of log lines per minute`,
  ),
  {
    node: no('nodes are trusted: they send what the operator runs'),
    operator: no('the operator owns the log'),
  },
);
const NO_SUBSCRIPTIONS = all(no('there are no subscriptions over HTTP'));

export const GRAPHQL_HTTP: Section = {
  connections: paced(CONNECTIONS),
  'header bytes': HEADERS,
  'body bytes in the heap': {
    ...ranks(
      'BODY_MEMORY',
      [
        `${ADMISSION}: is bounded by the large limit for a verified session or node`,
        `${ADMISSION}: is bounded per anonymous network, and accounts and nodes keep theirs`,
      ],
      ['LARGE_BODY_BYTES'],
    ),
    'anonymous address': limit(
      ofControl('BODY_BYTES', 'BODY_MEMORY.anonymous.perCaller', 'BODY_MEMORY.anonymous.upTo'),
      [
        `${ADMISSION}: is bounded by the small limit for a caller with a made-up session or token`,
        `${ADMISSION}: is bounded per anonymous network, and accounts and nodes keep theirs`,
      ],
    ),
  },
  chunks: penalised(
    everybody(
      limit(
        ofControl('CHUNKS_PER_BODY', 'PENALTY_BODY_BYTES'),
        `${ADMISSION}: must be announced by everybody but verified nodes`,
      ),
      {
        node: limit(
          ofControl('CHUNKS_PER_BODY', 'PENALTY_BODY_BYTES'),
          `${ADMISSION}: is bounded for chunked bodies of nodes in bytes and in chunks`,
        ),
      },
    ),
    [
      `${FREE_ANSWERS}: strangers with refused chunked bodies open few connections, and users keep theirs`,
      `${REFUSED_BODIES}: as an account gets 429 for a large one, and a colleague at its address does not`,
      `${REFUSED_BODIES}: as a node gets 429 for a large one, and accounts at its address do not`,
      `${REFUSED_BODIES}: as a stranger gets 429 for a large one and may sign in, and accounts do not`,
      `${REFUSED_BODIES}: behind a proxy gets 429 for a large one, and others behind it do not`,
    ],
  ),
  frames: all(no('HTTP/1.1 has no frames')),
  time: TIMES,
  'CPU for password hashes': HASHES,
  'CPU for documents': DOCUMENTS,
  'rows written': ROWS,
  disk: NO_DISK,
  'log lines': LOGS,
  'memory per open stream': all(no('answers over HTTP are whole; each has at most COST_MAX objects')),
  subscriptions: NO_SUBSCRIPTIONS,
};

const COUNT_PROOF = `${SOCKETS}: runs exactly the permitted number of operations at once`;
const SUBSCRIPTIONS: Row = {
  ...ranks(
    'OPERATION_HEAP',
    [COUNT_PROOF, `${SOCKETS}: is limited in the memory of its operations, and other callers keep theirs`],
    ['OPERATIONS_PER_SOCKET'],
  ),
  node: limit(ofControl('OPERATIONS_PER_SOCKET'), COUNT_PROOF),
};
const SIZE_PROOF = `${SOCKETS}: takes larger messages from nodes than from others`;
const RATE_PROOF = `${SOCKETS}: shares the message rate of its caller, and other callers keep theirs`;
const PROTOCOL_PROOF = `${SOCKETS}: is closed if its client sends too many messages, pings or fragments`;

export const GRAPHQL_WEBSOCKET: Section = {
  connections: ranks('SOCKETS', [
    `${SOCKETS}: is refused above the limit of its network, but accepted for users and nodes`,
    `${SOCKETS}: leaves the places of its network once connection_init has named its caller`,
  ]),
  'header bytes': HEADERS,
  'body bytes in the heap': everybody(limit(ofControl('MESSAGE_BYTES'), SIZE_PROOF), {
    node: limit(ofControl('LARGE_MESSAGE_BYTES'), SIZE_PROOF),
  }),
  chunks: everybody(limit(ofControl('CHUNKS_PER_FRAME'), PROTOCOL_PROOF)),
  frames: rates('MESSAGES', [PROTOCOL_PROOF, RATE_PROOF], ['FRAMES_PER_MESSAGE']),
  time: everybody(
    limit(
      ofControl('TIME_LIMITS.connectionInitMs', 'CLOSING_MS'),
      `${SOCKETS}: is closed if connection_init does not come in time`,
    ),
  ),
  'CPU for password hashes': HASHES,
  'CPU for documents': DOCUMENTS,
  'rows written': ROWS,
  disk: NO_DISK,
  'log lines': all(no('operations of WebSockets are not logged')),
  'memory per open stream': everybody(
    limit(ofControl('UNSENT_BYTES', 'FIRST_MESSAGE_BYTES'), [
      `${LISTENER_LIMITS}: a WebSocket whose client does not read is disconnected above UNSENT_BYTES`,
      `${SOCKETS}: is closed if its connection_init is longer than a token needs, because it is kept`,
    ]),
  ),
  subscriptions: SUBSCRIPTIONS,
};

const WEBHOOK = 'control-plane/payments/card/webhook.test.ts';

/** The sender is unknown until the signature over the whole body is verified, so all are strangers. */
export const WEBHOOKS: Section = {
  connections: paced(CONNECTIONS),
  'header bytes': HEADERS,
  'body bytes in the heap': all(
    limit(
      ofControl('BODY_BYTES', 'BODY_MEMORY.anonymous.perCaller'),
      `${WEBHOOK}: is refused above the limit of anonymous callers before it is read`,
    ),
  ),
  chunks: all(limit(ofControl('CHUNKS_PER_BODY'), `${WEBHOOK}: is refused without a length`)),
  frames: all(no('HTTP has no frames')),
  time: TIMES,
  'CPU for password hashes': all(no('webhooks compute no password hashes')),
  'CPU for documents': NO_DOCUMENTS,
  'rows written': all(
    limit(ofControl('WEBHOOK_TOLERANCE_S', 'WEBHOOK_SECRETS_READ_MS'), [
      `${WEBHOOK}: shares a query for secrets with the events of its second if its signature is wrong`,
      `${WEBHOOK}: is refused if it is older than the tolerance, and accepted if it is younger`,
      `${WEBHOOK}: is applied once when 20 copies of it arrive at once`,
    ]),
  ),
  disk: NO_DISK,
  'log lines': LOGS,
  'memory per open stream': all(no('a webhook has no stream')),
  subscriptions: NO_SUBSCRIPTIONS,
};

const NO_BODY = all(
  no('only /graphql and webhooks read bodies; the test "is zero on every other path" proves it'),
);

export const STATIC_FILES: Section = {
  connections: paced(CONNECTIONS),
  'header bytes': HEADERS,
  'body bytes in the heap': NO_BODY,
  chunks: NO_BODY,
  frames: all(no('HTTP/1.1 has no frames')),
  time: TIMES,
  'CPU for password hashes': all(no('files need no password')),
  // The feeds of the status page are written once for all callers.
  'CPU for documents': all(
    limit(
      'control-plane/status/status.service.ts STATUS_CACHE_MS',
      'control-plane/status/status.test.ts: is read once for any number of callers',
    ),
  ),
  'rows written': all(no('files write no rows')),
  disk: NO_DISK,
  'log lines': LOGS,
  'memory per open stream': everybody(
    limit(
      ofControl('SOCKET_BUFFER_BYTES'),
      `${LISTENER_LIMITS}: a connection whose client does not read gets no further files`,
    ),
  ),
  subscriptions: NO_SUBSCRIPTIONS,
};

const EXPORT = 'control-plane/accounts/export.test.ts';
const NO_STRANGERS = no('downloads need an account');
const NO_NODES = no('nodes download nothing');

/** The lists of usage and ledger, the audit log, and the personal data of an account. */
export const DOWNLOADS: Section = {
  connections: paced(CONNECTIONS),
  'header bytes': HEADERS,
  'body bytes in the heap': NO_BODY,
  chunks: NO_BODY,
  frames: all(no('HTTP/1.1 has no frames')),
  time: everybody(
    limit(
      'control-plane/process/unread.ts UNREAD_MS',
      'control-plane/process/unread.test.ts: an answer ends if its client reads nothing',
    ),
    { 'anonymous address': NO_STRANGERS, node: NO_NODES },
  ),
  'CPU for password hashes': all(no('downloads need a session or a token, no password')),
  'CPU for documents': all(no('the address of a download has no document')),
  'rows written': everybody(
    limit(
      ofControl('ATTEMPTS.export.account', 'ATTEMPTS.export.network'),
      `${EXPORT}: is limited to five in 15 minutes, and each is written to the audit log`,
    ),
    { 'anonymous address': NO_STRANGERS, node: NO_NODES },
  ),
  disk: NO_DISK,
  'log lines': LOGS,
  'memory per open stream': {
    ...ranks(
      'DOWNLOADS',
      [
        `${SLOTS}: are limited per account, and another account has its own`,
        `${SLOTS}: are kept for administrators when accounts have taken all of theirs`,
        `${DOWNLOADS_TEST}: query a page only when it is read, and stop when the client disconnects`,
      ],
      ['SOCKET_BUFFER_BYTES'],
    ),
    'anonymous address': NO_STRANGERS,
    node: NO_NODES,
  },
  subscriptions: NO_SUBSCRIPTIONS,
};

const ENDPOINTS = 'control-plane/webhooks/endpoint.test.ts';
const HEALTH = 'control-plane/upstreams/health.test.ts';
const POST = 'control-plane/webhooks/post.ts';
const RPC = 'control-plane/payments/crypto/rpc.client.ts';

/** Accounts name receivers of webhooks; operators name all other services. */
function services(account: Cell, operator: Cell): Row {
  return {
    'anonymous address': no('strangers name no service that is asked'),
    'account without money': account,
    'paying key': NO_KEYS,
    node: no('nodes name no service that the control plane asks'),
    operator,
  };
}

/** Answers of receivers of webhooks, upstreams that are probed, and services of blockchains. */
export const CONTROL_ANSWERS: Section = {
  connections: services(
    limit(
      [
        'control-plane/webhooks/endpoint.service.ts ENDPOINTS_MAX',
        'control-plane/webhooks/outbox.ts PENDING_MAX',
        'control-plane/webhooks/worker.ts UNDER_WAY_MAX',
      ],
      `${ENDPOINTS}: are at most ten per user, and 1,000 waiting deliveries per endpoint`,
    ),
    no('the operator decides how many services there are'),
  ),
  'header bytes': all(no('the HTTP client refuses headers above 16 KiB')),
  'body bytes in the heap': services(
    limit(
      `${POST} ANSWER_BYTES_MAX`,
      `${READ_ANSWER}: does not hold the delivery of a webhook if it never ends`,
    ),
    limit(
      [
        `${RPC} ANSWER_BYTES_MAX`,
        'control-plane/upstreams/model-list.ts LIST_BYTES',
        'control-plane/upstreams/probe.ts BODY_BYTES_MAX',
        'control-plane/upstreams/probe-access.ts TOKEN_BYTES_MAX',
      ],
      `${READ_ANSWER}: is not read further once it is too long`,
    ),
  ),
  chunks: services(
    no('answers to webhooks are dropped unread'),
    limit(
      'control-plane/process/read-answer.ts CHUNKS_MAX',
      `${READ_ANSWER}: is not read further once it has too many chunks`,
    ),
  ),
  frames: all(no('HTTP/1.1 has no frames')),
  time: services(
    limit(
      [`${POST} CONNECT_MS`, `${POST} TOTAL_MS`],
      'control-plane/webhooks/webhook.test.ts: are not delayed by a slow receiver of another owner',
    ),
    limit(
      [`${RPC} TIMEOUT_MS`, 'control-plane/upstreams/probe.ts TIMEOUT_MS'],
      `${HEALTH}: stores FAILED for a probe without an answer, and replaces it with the next probe`,
    ),
  ),
  'CPU for password hashes': all(no('answers cause no password hashes')),
  'CPU for documents': all(no('answers are no documents')),
  'rows written': services(
    limit(
      'control-plane/webhooks/outbox.ts PENDING_MAX',
      `${ENDPOINTS}: are at most ten per user, and 1,000 waiting deliveries per endpoint`,
    ),
    no('the state of a service is one row, which the next answer replaces'),
  ),
  disk: all(no('answers are not stored in files')),
  'log lines': all(no('each delivery and each new state is one line')),
  'memory per open stream': all(no('answers are read whole, within their size')),
  subscriptions: all(no('there are no subscriptions here')),
};
