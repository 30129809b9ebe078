/** The limits of the entrances of a node, and of the answers that it gets from upstreams. */
import { all, limit, no, ofNode, paced, penalised } from './cells.ts';
import type { Cell, Row, Section } from './cells.ts';

const ISOLATION = 'data-plane/endpoints/isolation.test.ts';
const ISOLATION_LIMITS = 'data-plane/endpoints/isolation-limits.test.ts';
const REALTIME_LIMITS = 'data-plane/endpoints/realtime-limits.test.ts';
const REALTIME = 'data-plane/endpoints/realtime.test.ts';
const SESSIONS = 'data-plane/endpoints/sessions.test.ts';
const CHAT = 'data-plane/endpoints/chat.test.ts';
const MALFORMED = 'data-plane/http/malformed.test.ts';
const STRANGERS_TEST = 'data-plane/admission/strangers.test.ts';
const SETTLE = 'data-plane/ledger/settle.test.ts';
const SPOOL = 'data-plane/exchange/spool.test.ts';
const JSON_SIZE = 'data-plane/exchange/json-size.test.ts';
const BULKHEAD = 'data-plane/admission/bulkhead.test.ts';
const UNKNOWN_STREAMS = 'data-plane/exchange/unknown-streams.test.ts';

const NO_NODES = no('nodes send nothing to each other');

/** Cells of customers and strangers. Operators only read health and metrics, as strangers do. */
function clients(anonymous: Cell, free: Cell, paying: Cell): Row {
  return {
    'anonymous address': anonymous,
    'account without money': free,
    'paying key': paying,
    node: NO_NODES,
    operator: anonymous,
  };
}

const STRANGERS = limit(
  ofNode('STRANGERS_PER_ADDRESS', 'STRANGERS_MAX', 'KNOWN_RESERVE', 'KEEP_ALIVE_MS', 'REQUESTS_PER_SOCKET'),
  [
    `${ISOLATION}: has a limited number of connections, and customers can use the others`,
    `${STRANGERS_TEST}: are limited over all addresses, with a reserve for known addresses`,
  ],
);
const HEADERS = limit(
  ofNode('HEADER_BYTES'),
  `${MALFORMED}: is refused in the chat format with a request id: %s`,
);
const TIMES = limit(
  ofNode(
    ...['HEADERS_TIMEOUT_MS', 'REQUEST_TIMEOUT_MS', 'KEEP_ALIVE_MS', 'SLOW_BODY_GRACE_MS'],
    'BODY_BYTES_PER_SECOND',
  ),
  [
    `${MALFORMED}: is answered with 408 if its headers do not end`,
    `${ISOLATION}: is ended with 408 if it makes no progress`,
  ],
);
const REFUSED = 'data-plane/endpoints/refused-work.test.ts';
const CHUNKS = limit(ofNode('CHUNKS_PER_BODY', 'FREE_CHUNKS', 'CHUNK_AVERAGE_BYTES', 'CHUNK_COST_BYTES'), [
  `${ISOLATION}: is refused while it arrives in chunks of one byte`,
  `${ISOLATION}: is refused while it arrives as a form in chunks of one byte`,
]);
const IDEMPOTENCY = 'data-plane/admission/idempotency.test.ts';
const REFUSALS = limit(ofNode('REFUSAL_INTERVAL_MS', 'COUNTED_REFUSALS', 'RELEASED_KEYS_PER_MINUTE'), [
  `${ISOLATION}: make one usage row per minute and kind, which carries the number of the others`,
  `${IDEMPOTENCY}: refuses keys of a wallet that released many within a minute, and takes those of others`,
]);
const CONNECTIONS = limit(
  ofNode('CONNECTIONS_PER_WALLET', 'KEEP_ALIVE_MS', 'REQUESTS_PER_SOCKET'),
  `${ISOLATION_LIMITS}: a wallet keeps a limited number of connections open, and other wallets keep theirs`,
);
const LOG_LINES = limit(
  ofNode('LOG_LINES_PER_WALLET', 'LOG_LINES_PER_MINUTE'),
  `${ISOLATION_LIMITS}: a wallet causes a limited number of log lines per minute, counted per wallet`,
);
const NO_HASHES = all(no('keys are found by one SHA-256 digest; a node hashes no passwords'));
const NO_DOCUMENTS = all(no('only the control plane reads GraphQL documents'));
const NO_SUBSCRIPTIONS = all(no('there are no subscriptions here'));
const NO_CUSTOMER = no('only requests of customers reach an upstream');

export const NODE_HTTP: Section = {
  connections: paced(clients(STRANGERS, CONNECTIONS, CONNECTIONS)),
  'header bytes': clients(HEADERS, HEADERS, HEADERS),
  'body bytes in the heap': clients(
    limit(
      ofNode('DRAIN_BYTES', 'DRAIN_CHUNK_BYTES', 'DRAIN_MS', 'FAILED_KEYS_PER_MINUTE'),
      `${ISOLATION}: gets 429 instead of 401 after many failures, and a valid key of the address still works`,
    ),
    limit(ofNode('SMALL_BODY_BYTES', 'CONCURRENT_REQUESTS'), [
      `${ISOLATION}: is not read if it is announced as large and the wallet has no money`,
      `${ISOLATION}: is read no further once it is large and the wallet has no money`,
      `${ISOLATION}: counts as a request of its wallet while it arrives`,
    ]),
    limit(
      ofNode('JSON_CONTAINERS', 'JSON_MEMBERS', 'JSON_TOP_MEMBERS', 'JSON_VALUES', 'JSON_COUNTED_BYTES'),
      [
        `${JSON_SIZE}: is refused before it is parsed if it has too many objects and lists`,
        `${JSON_SIZE}: is refused before it is parsed if it has too many values`,
        `${JSON_SIZE}: is refused before it is parsed if its objects have too many members`,
        `${JSON_SIZE}: is refused if its top level has more members than any format defines`,
      ],
    ),
  ),
  chunks: penalised(clients(no('bodies of strangers are dropped unread'), CHUNKS, CHUNKS), [
    `${REFUSED}: a wallet with many refused bodies gets 429 for large ones, until the penalty is over`,
    `${REFUSED}: a network with refused chunked bodies opens few connections, and its customers more`,
  ]),
  frames: all(no('HTTP/1.1 has no frames')),
  time: clients(TIMES, TIMES, TIMES),
  'CPU for password hashes': NO_HASHES,
  'CPU for documents': NO_DOCUMENTS,
  'rows written': clients(
    no('a request without a valid key writes no row'),
    REFUSALS,
    limit(
      [...ofNode('REFUSAL_INTERVAL_MS', 'COUNTED_REFUSALS'), 'data-plane/ledger/settle.ts FREE_MAX'],
      [
        `${ISOLATION}: make one usage row per minute and kind, which carries the number of the others`,
        `${SETTLE}: queued free records are limited: the oldest are dropped and counted`,
      ],
    ),
  ),
  disk: clients(
    no('bodies of strangers are dropped unread'),
    limit(
      ofNode('SPOOL_DISK_BYTES', 'SPOOL_DISK_RESERVE_BYTES'),
      `${ISOLATION}: is not spooled as a form if the wallet has no money`,
    ),
    limit(
      [
        ...ofNode('SPOOL_DISK_BYTES', 'SPOOL_DISK_RESERVE_BYTES', 'SPOOL_MEMORY_BYTES'),
        'data-plane/ledger/journal.ts QUEUE_MAX',
      ],
      [
        `${SPOOL}: is refused while it would use the reserve of the disk, and accepted when space is free`,
        `${SPOOL}: goes to the disk above the share of its wallet, and frees its memory when dropped`,
        'data-plane/ledger/journal-files.test.ts: charges are refused while 20,000 records wait for the disk',
      ],
    ),
  ),
  'log lines': clients(
    no('only failures from 500 on are logged, and a stranger causes none'),
    limit(
      ofNode('FREE_REQUESTS_PER_MINUTE'),
      `${BULKHEAD}: are refused above the limit of a key until the next minute`,
    ),
    LOG_LINES,
  ),
  'memory per open stream': clients(
    no('strangers get no streams'),
    no('streams are paid'),
    limit(
      [
        ...ofNode('SOCKET_BUFFER_BYTES', 'CONCURRENT_REQUESTS'),
        'data-plane/exchange/stream-delivery.ts WAITING_BYTES',
        'data-plane/call/reply.ts WRITE_STALL_MS',
      ],
      [
        `${CHAT}: slows the upstream down instead of filling memory, and gets the whole answer`,
        `${BULKHEAD}: refuses requests above its limit until one ends, and counts each id by itself`,
      ],
    ),
  ),
  subscriptions: NO_SUBSCRIPTIONS,
};

export const NODE_WEBSOCKET: Section = {
  connections: clients(
    STRANGERS,
    no('a session is refused in HTTP if the wallet has no money'),
    limit(ofNode('SESSIONS_PER_KEY', 'SESSIONS_PER_WALLET', 'SESSIONS_PER_ADDRESS'), [
      `${REALTIME}: is refused above ten sessions of one key, until one of them ends`,
      `${SESSIONS}: a wallet has a limited number of sessions over all keys, and another one gets its own`,
      `${SESSIONS}: an address has a limited number of sessions over all wallets`,
    ]),
  ),
  'header bytes': clients(HEADERS, HEADERS, HEADERS),
  'body bytes in the heap': all(no('an upgrade has no body')),
  chunks: clients(
    no('a stranger gets no session'),
    no('a session needs money'),
    limit(
      ofNode('CHUNKS_PER_FRAME'),
      `${REALTIME_LIMITS}: is refused before it is complete if it has too many network chunks`,
    ),
  ),
  frames: clients(
    no('a stranger gets no session'),
    no('a session needs money'),
    limit(ofNode('FRAMES_PER_SECOND', 'FRAMES_AT_ONCE', 'FRAGMENTS_PER_MESSAGE'), [
      `${REALTIME_LIMITS}: is read more slowly if it sends too many frames, and loses none`,
      `${REALTIME_LIMITS}: is read more slowly if it sends too many pings`,
      `${REALTIME_LIMITS}: is disconnected if it sends a message in too many fragments`,
    ]),
  ),
  time: clients(
    TIMES,
    TIMES,
    limit(
      ['data-plane/realtime/session.ts IDLE_MS', 'data-plane/realtime/session.ts SESSION_MS'],
      [
        `${REALTIME}: ends after five minutes without a frame of either side, not before`,
        `${REALTIME}: ends after an hour in spite of activity, and the open response is free`,
      ],
    ),
  ),
  'CPU for password hashes': NO_HASHES,
  'CPU for documents': NO_DOCUMENTS,
  'rows written': clients(no('a request without a valid key writes no row'), REFUSALS, REFUSALS),
  disk: all(no('sessions are not spooled')),
  'log lines': clients(
    no('only failures from 500 on are logged, and a stranger causes none'),
    no('a session is refused with 402, which is not logged'),
    LOG_LINES,
  ),
  'memory per open stream': clients(
    no('a stranger gets no session'),
    no('a session needs money'),
    limit(
      ['data-plane/realtime/side.ts WAITING_BYTES', 'data-plane/realtime/socket.ts FRAME_BYTES'],
      [
        `${REALTIME}: slow the upstream down while the client does not read`,
        `${REALTIME}: end the session at no cost if they are too large and from the upstream`,
      ],
    ),
  ),
  subscriptions: NO_SUBSCRIPTIONS,
};

/** Cells of an upstream's answer belong to the customer whose request it answers. */
function answers(cell: Cell): Row {
  return all(NO_CUSTOMER, {
    'account without money': no('no upstream is asked without money'),
    'paying key': cell,
  });
}

const TINY_ANSWERS = `${ISOLATION}: fails if it answers in chunks of one byte, and others are asked`;

export const UPSTREAM_ANSWERS: Section = {
  connections: answers(
    limit(ofNode('CONCURRENT_REQUESTS'), `${CHAT}: gets no more concurrent requests than its limit`),
  ),
  'header bytes': answers(
    limit(
      [...ofNode('INTERIM_RESPONSES'), 'data-plane/upstreams/connections.ts UPSTREAM_HEADER_BYTES'],
      `${ISOLATION}: fails if it sends only interim responses`,
    ),
  ),
  'body bytes in the heap': answers(
    limit(
      [
        'data-plane/exchange/chat.ts ANSWER_BYTES',
        'data-plane/upstreams/ask.ts ERROR_BODY_BYTES',
        ...ofNode('CHUNK_COST_BYTES'),
      ],
      TINY_ANSWERS,
    ),
  ),
  chunks: answers(limit(ofNode('CHUNKS_PER_BODY', 'FREE_CHUNKS', 'CHUNK_AVERAGE_BYTES'), TINY_ANSWERS)),
  frames: answers(
    limit(
      [
        'data-plane/exchange/frames.ts FRAME_BYTES',
        'data-plane/realtime/dial.ts FRAME_BYTES',
        ...ofNode('FRAGMENTS_PER_MESSAGE'),
      ],
      [
        'data-plane/exchange/frames.test.ts: refuses an event above the maximum size',
        `${REALTIME}: end the session at no cost if they are too large and from the upstream`,
        `${REALTIME_LIMITS}: ends the session at no cost if it is an upstream and sends too many fragments`,
      ],
    ),
  ),
  time: answers(
    limit('data-plane/exchange/stream-delivery.ts TAIL_MS', [
      `${CHAT}: causes a free 504 if it hangs before its headers`,
      `${CHAT}: causes an error event and no charge if it hangs in the middle of a stream`,
      `${CHAT}: is charged if it uses up the total time of its answer`,
    ]),
  ),
  'CPU for password hashes': NO_HASHES,
  'CPU for documents': NO_DOCUMENTS,
  'rows written': answers(REFUSALS),
  disk: all(no('answers are not stored')),
  'log lines': answers(LOG_LINES),
  'memory per open stream': answers(
    limit(
      [
        'data-plane/exchange/stream-machine.ts HELD_BYTES',
        'data-plane/exchange/stream-delivery.ts WAITING_BYTES',
        ...ofNode('UNKNOWN_STREAM_BYTES'),
      ],
      [
        `${CHAT}: slows the upstream down instead of filling memory, and gets the whole answer`,
        `${UNKNOWN_STREAMS}: counts as output after some bytes, and ends with its body`,
      ],
    ),
  ),
  subscriptions: NO_SUBSCRIPTIONS,
};
