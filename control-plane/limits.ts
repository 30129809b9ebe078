/** Limits of one caller on a control plane. Each limit states its unit, its subject and its reason. */

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;

const MINUTE_MS = 60_000;

/** Kind of a caller. Capacity is reserved for each rank that earlier ranks cannot use. */
export type Rank = 'anonymous' | 'user' | 'admin' | 'node';

/** Limits of one resource for the callers of one rank. */
export interface Share {
  /** For one caller: an anonymous network (IPv6: /64), an account or a node. */
  perCaller: number;
  /** The total of all callers up to which this rank may take more. The rest is kept for higher ranks. */
  upTo: number;
}

/** The shares of one resource. */
export type ShareLimits = Readonly<Record<Rank, Share>>;

/** How fast something may be used. */
export interface Rate {
  perSecond: number;
  /** Burst: the amount that may be used at once after a time without use. */
  atOnce: number;
}

/** The rates of one caller of each rank, and of all callers in networks without a verified caller. */
export type RateLimits = Readonly<Record<Rank | 'allAnonymous', Rate>>;

/** Callers whose rates are counted at once; the one that was not seen for longest is forgotten first. */
export const COUNTED_CALLERS = 20_000;

/** Size of a request body without a verified session or token. Operations have a few kilobytes. */
export const BODY_BYTES = 100 * KILOBYTE;
/** Size of a request body of a verified caller: nodes report in batches, the Playground sends pictures. */
export const LARGE_BODY_BYTES = 2 * MEGABYTE;
/**
 * Size of a body that is not read while its caller has a penalty for refused bodies. Smaller ones are read:
 * people sign in and correct their requests.
 */
export const PENALTY_BODY_BYTES = 16 * KILOBYTE;
/**
 * Bytes of the bodies of requests that are not answered yet. Parsed JSON takes up to 20 times its bytes, so
 * that the totals fit into a heap of 512 MB.
 */
export const BODY_MEMORY: ShareLimits = {
  anonymous: { perCaller: MEGABYTE, upTo: 6 * MEGABYTE },
  user: { perCaller: 4 * MEGABYTE, upTo: 14 * MEGABYTE },
  admin: { perCaller: 4 * MEGABYTE, upTo: 18 * MEGABYTE },
  node: { perCaller: 8 * MEGABYTE, upTo: 34 * MEGABYTE },
};
/** Requests that are not answered yet. A page of the console sends up to ten at once. */
export const REQUESTS: ShareLimits = {
  anonymous: { perCaller: 48, upTo: 192 },
  user: { perCaller: 48, upTo: 384 },
  admin: { perCaller: 96, upTo: 448 },
  node: { perCaller: 128, upTo: 1024 },
};
/** Network chunks of one body. Clients send kilobytes per chunk. Even the smallest chunk costs time. */
export const CHUNKS_PER_BODY = 16_384;
/** Largest first buffer of a body, in bytes. It grows with the bytes that arrive. */
export const FIRST_BUFFER_BYTES = 16 * KILOBYTE;
/** Bytes that a connection buffers in each direction while nobody reads. */
export const SOCKET_BUFFER_BYTES = 16 * KILOBYTE;

/** Size of the headers of a request, in bytes; Node's default. */
export const HEADER_BYTES = 16 * KILOBYTE;

/** Log lines about requests per network (IPv6: /64) and minute. A page of the console causes some ten. */
export const LOG_LINES_PER_NETWORK = 600;
/** Log lines about requests of all networks per minute; the metrics count all of them. */
export const LOG_LINES_PER_MINUTE = 6000;

/** Limits of time. They are values of the server, so that tests can pass shorter ones. */
export interface TimeLimits {
  /** Time in which the headers of a request must arrive, in ms. */
  headersMs: number;
  /** Time in which a whole request must arrive, in ms. Slow uplinks need a minute for a large picture. */
  requestMs: number;
  /** How often both are checked, in ms. */
  checkMs: number;
  /** Idle time of a connection, in ms: longer than that of load balancers, so that they close it first. */
  keepAliveMs: number;
  /** Time after which a body must have arrived with `bodyBytesPerSecond` on average, in ms. */
  slowBodyGraceMs: number;
  /** Smallest average speed of a body, in bytes per second. A slow mobile uplink has five times as much. */
  bodyBytesPerSecond: number;
  /** Time in which a WebSocket must send connection_init, in ms. */
  connectionInitMs: number;
}
export const TIME_LIMITS: TimeLimits = {
  headersMs: 10_000,
  requestMs: 120_000,
  checkMs: 2000,
  keepAliveMs: 72_000,
  slowBodyGraceMs: 10_000,
  bodyBytesPerSecond: 8 * KILOBYTE,
  connectionInitMs: 4000,
};
/** How often the speed of bodies is checked, in ms. */
export const SLOW_BODY_CHECK_MS = 500;
/** Requests per connection. A connection that is closed after them is opened again within a round trip. */
export const REQUESTS_PER_SOCKET = 10_000;

/**
 * Connections per network (IPv6: /64), by the highest rank that was verified there within
 * `KNOWN_NETWORK_MS`. Browsers open six. Connections of the proxies in TRUST_PROXY do not count.
 */
export const CONNECTIONS: ShareLimits = {
  anonymous: { perCaller: 256, upTo: 4000 },
  user: { perCaller: 1024, upTo: 6000 },
  admin: { perCaller: 1024, upTo: 7000 },
  node: { perCaller: 2048, upTo: 8000 },
};
/** All connections of one listener, those of proxies included. */
export const CONNECTIONS_MAX = 10_000;
/** How long a network keeps the rank of a verified caller, in ms. */
export const KNOWN_NETWORK_MS = 60 * MINUTE_MS;
/** Networks whose rank is remembered at once; the oldest one is forgotten first. */
export const KNOWN_NETWORKS = 20_000;
/** How long the free answers of a request count for the account or node of its verified token, in ms. */
export const KNOWN_CREDENTIAL_MS = 60 * MINUTE_MS;
/** Verified tokens that are remembered at once, as digests; the oldest one is forgotten first. */
export const KNOWN_CREDENTIALS = 20_000;

/** Downloads of tables that run at once. Each holds a database query and some pages. */
export const DOWNLOADS: ShareLimits = {
  anonymous: { perCaller: 0, upTo: 0 },
  user: { perCaller: 2, upTo: 8 },
  admin: { perCaller: 2, upTo: 12 },
  node: { perCaller: 0, upTo: 0 },
};

/** Open WebSockets. The console opens one per tab, a node one. */
export const SOCKETS: ShareLimits = {
  anonymous: { perCaller: 20, upTo: 1000 },
  user: { perCaller: 40, upTo: 5000 },
  admin: { perCaller: 64, upTo: 5500 },
  node: { perCaller: 8, upTo: 6000 },
};
/** Operations that one WebSocket runs at once. A page of the console has up to six. */
export const OPERATIONS_PER_SOCKET = 20;
/** Size of the messages of a WebSocket until connection_ack. connection_init, which is kept, has a token. */
export const FIRST_MESSAGE_BYTES = KILOBYTE;
/** Size of a message of a WebSocket that no node opened. Operations with more are sent over HTTP. */
export const MESSAGE_BYTES = 100 * KILOBYTE;
/** Size of a message of a WebSocket that was opened by a verified node: nodes report in batches. */
export const LARGE_MESSAGE_BYTES = 2 * MEGABYTE;
/** Size of a message that is not read while its caller has no reading time left. */
export const SHORT_MESSAGE_BYTES = 16 * KILOBYTE;
/**
 * Estimated heap of the operations that WebSockets run, in bytes. A subscription of the console takes 10 kB.
 * The total fits into a heap of 512 MB together with the bodies of requests.
 */
export const OPERATION_HEAP: ShareLimits = {
  anonymous: { perCaller: 2 * MEGABYTE, upTo: 20 * MEGABYTE },
  user: { perCaller: 6 * MEGABYTE, upTo: 80 * MEGABYTE },
  admin: { perCaller: 6 * MEGABYTE, upTo: 90 * MEGABYTE },
  node: { perCaller: 0, upTo: 0 },
};
/** Frames of one message: each fragment costs some 300 bytes of heap. Browsers send one frame. */
export const FRAMES_PER_MESSAGE = 64;
/** Network chunks of one frame that is not complete yet. */
export const CHUNKS_PER_FRAME = 4096;
/** Messages and pings of all WebSockets of one caller. A page of the console opens with some ten. */
export const MESSAGES: RateLimits = {
  anonymous: { perSecond: 20, atOnce: 100 },
  user: { perSecond: 40, atOnce: 400 },
  admin: { perSecond: 80, atOnce: 800 },
  node: { perSecond: 400, atOnce: 4000 },
  allAnonymous: { perSecond: 200, atOnce: 2000 },
};
/** Bytes that wait for a slow client of a WebSocket before it is closed; nodes get whole snapshots. */
export const UNSENT_BYTES = 4 * MEGABYTE;
/** Time that a client has to confirm the end of its WebSocket, in ms. */
export const CLOSING_MS = 3000;

/** Window in which attempts are counted, and the first lock-out, in ms. Each further one is twice as long. */
export const ATTEMPT_WINDOW_MS = 15 * MINUTE_MS;
/** How often a lock-out of strangers is doubled at most: up to four hours. A day without one starts over. */
export const LOCKOUT_DOUBLINGS = 4;
/** Attempts within the window per account and per network. */
export interface AttemptLimit {
  account: number;
  network: number;
}
/** Limits of attempts. For known networks, devices and sessions, `account` counts each of them by itself. */
export const ATTEMPTS = {
  'sign-in': { account: 10, network: 50 },
  /** Proofs of a signed-in user. Only the session can use up its attempts. */
  reauthenticate: { account: 10, network: 50 },
  register: { account: 10, network: 50 },
  // Registrations without mail that failed, most because the address has an account, which the answer
  // reveals.
  taken: { account: 10, network: 10 },
  claim: { account: 10, network: 50 },
  // Each sends a mail, perhaps to somebody who did not ask for it.
  mail: { account: 5, network: 30 },
  // Pages request a challenge when they open, and many people share a network.
  challenge: { account: 60, network: 300 },
  passkey: { account: 20, network: 50 },
  oidc: { account: 20, network: 100 },
  export: { account: 5, network: 50 },
} satisfies Record<string, AttemptLimit>;
/** Networks and devices that one account is known at; the one that was not used for longest is forgotten. */
export const PLACES_PER_ACCOUNT = 50;

/** Password hashes that one process computes at once. Each takes 64 MiB and a core for 0.1 s. */
export const HASHES_AT_ONCE = 2;
/** Hashes that run or wait, strangers' last and by network: a few networks cannot fill all places. */
export const HASHES: ShareLimits = {
  anonymous: { perCaller: 8, upTo: 192 },
  user: { perCaller: 4, upTo: 240 },
  admin: { perCaller: 4, upTo: 256 },
  node: { perCaller: 0, upTo: 0 },
};
/** Time of a core that hashes of strangers take, in ms. More of them wait. */
export const STRANGER_HASH_MS: Rate = { perSecond: 300, atOnce: 2000 };
/** Time that a hash may wait for its turn, in ms. */
export const HASH_WAIT_MS = 15_000;

/**
 * Tokens of a document; the parser enforces the limit. The largest document of the console has 700. The time
 * of validation grows with the square of the number.
 */
export const TOKENS_MAX = 1200;
/**
 * CPU time of requests, in ms: measured for parsing bodies, and for parsing, validating and measuring
 * documents, refused ones included; estimated for the rest (`REQUEST_MS`, `ANSWER_MEGABYTE_MS`). A document
 * of the console takes 1 to 5 ms, a body of 2 MB up to 150 ms. Strangers together get 30 % of a core;
 * networks where a verified caller was lately do not belong to them.
 */
export const READING_MS: RateLimits = {
  anonymous: { perSecond: 50, atOnce: 1000 },
  user: { perSecond: 100, atOnce: 2000 },
  admin: { perSecond: 400, atOnce: 4000 },
  node: { perSecond: 400, atOnce: 4000 },
  allAnonymous: { perSecond: 300, atOnce: 4000 },
};
/** CPU time of a request besides its document, in ms: its caller is found, it is answered and logged. */
export const REQUEST_MS = 2;
/** CPU time of an answer, in ms per MB: values are resolved and written. */
export const ANSWER_MEGABYTE_MS = 200;
/**
 * Heap of all documents that are kept so that they are not parsed again, in bytes. All documents of the
 * console together take half of it.
 */
export const DOCUMENT_STORE_BYTES = 16 * MEGABYTE;
/** Depth of an operation. */
export const DEPTH_MAX = 12;
/** Depth below `__schema` and `__type`; the standard introspection query is deeper than DEPTH_MAX. */
export const INTROSPECTION_DEPTH_MAX = 20;
/** Aliases of a document: with them one field is computed several times. */
export const ALIASES_MAX = 30;
/** Root fields of an operation, counted through fragments. */
export const ROOT_FIELDS_MAX = 20;
/** Root fields of a mutation, counted through fragments. The console sends one. */
export const MUTATIONS_PER_OPERATION = 5;
/** Root fields of a mutation that compute a password hash, each of which takes a core for 0.1 s. */
export const HASHES_PER_OPERATION = 1;
/** Cost of such a field in the API budget, besides its objects. */
export const HASH_COST = 20;
/** Cost of an operation: the objects that it can read. A list counts its page size times an item. */
export const COST_MAX = 2000;
/** Objects of one page of a list. */
export const PAGE_MAX = 100;
/** Mutations that compute a password hash. */
export const HASHING_MUTATIONS: ReadonlySet<string> = new Set([
  'accountDelete',
  'adminClaim',
  'passwordChange',
  'passwordReset',
  'reauthenticate',
  'register',
  'signIn',
  'totpDisable',
]);

/** Suggested amounts of a top-up; more do not fit on the page. */
export const PAYMENT_PRESETS_MAX = 8;
/** Webhook secrets that are valid at once. Two are needed while one is replaced. */
export const WEBHOOK_SECRETS_MAX = 10;
/** Largest age of a signed event in seconds, so that a recorded one cannot be sent again later. */
export const WEBHOOK_TOLERANCE_S = 300;
/** Unsigned requests to the webhook cause at most one query per this time, in ms. They wait for it. */
export const WEBHOOK_SECRETS_READ_MS = 1_000;
/** Top-ups by card that one account begins within 24 hours; each is a row and a call of the processor. */
export const TOP_UPS_PER_DAY = 50;
/** Top-ups by card of one account that nobody has paid yet. */
export const OPEN_TOP_UPS = 10;
/** Blockchains that can be watched. */
export const CHAINS_MAX = 20;
/** Tokens that are accepted on one chain. */
export const CHAIN_TOKENS_MAX = 10;
/** Extended public keys that are kept; addresses of all of them stay watched. */
export const DEPOSIT_KEYS_MAX = 20;
