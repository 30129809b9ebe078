/** Limits of one caller on a node. Each limit states its unit, its subject and its reason. */

const KILOBYTE = 1_024;
const MEGABYTE = 1_024 * KILOBYTE;

/**
 * Concurrent requests per wallet and per key, unless the operator sets other limits. An agent with subtasks
 * keeps some ten requests open; the limit leaves room for a team, and bounds what one customer holds of the
 * node.
 */
export const CONCURRENT_REQUESTS = 64;
/** The limits until the configuration says otherwise. */
export const DEFAULT_CONCURRENCY = { perWallet: CONCURRENT_REQUESTS, perKey: CONCURRENT_REQUESTS } as const;

/** Concurrent realtime sessions per key: as many conversations as one application holds. */
export const SESSIONS_PER_KEY = 10;
/** Concurrent realtime sessions per wallet, over all its keys. */
export const SESSIONS_PER_WALLET = 30;
/** Concurrent realtime sessions per address (IPv6: per /64), over all wallets. */
export const SESSIONS_PER_ADDRESS = 60;

/**
 * Frames and pings per second of each side of a realtime session, on average. Audio has 50 per second. A side
 * that sends more is read more slowly.
 */
export const FRAMES_PER_SECOND = 200;
/** Frames and pings that one side may send at once. */
export const FRAMES_AT_ONCE = 2_000;
/** Frames that one message of a realtime session may consist of: enough for 15 MiB in pieces of 16 KiB. */
export const FRAGMENTS_PER_MESSAGE = 1_024;
/** Network chunks kept while a frame of a realtime session is incomplete: 16 MiB in chunks of 1 KiB. */
export const CHUNKS_PER_FRAME = 16_384;

/** Free requests (lists, token counts, 501s) per key and minute. */
export const FREE_REQUESTS_PER_MINUTE = 600;

/**
 * Failed requests with an Idempotency-Key per wallet and minute. Each writes two rows, which the control
 * plane keeps for a day.
 */
export const RELEASED_KEYS_PER_MINUTE = 300;

/**
 * Bodies of up to this many bytes are read before the balance is checked. Longer bodies are read only if the
 * wallet can pay, and count towards BODY_MEMORY_BYTES. The concurrency of a wallet bounds shorter bodies: 64
 * of 64 KiB are 4 MiB.
 */
export const SMALL_BODY_BYTES = 64 * KILOBYTE;
/**
 * Bytes that all longer bodies together take in the memory of one node. The bodies of a wallet may take at
 * most as many bytes as remain free. One wallet alone gets a half, two get a third each, and another wallet
 * always finds free bytes.
 */
export const BODY_MEMORY_BYTES = 512 * MEGABYTE;
/**
 * Bytes beyond BODY_MEMORY_BYTES for wallets that hold at most BODY_FLOOR_BYTES: for the first body of a
 * wallet.
 */
export const BODY_RESERVE_BYTES = 64 * MEGABYTE;
/** Bytes up to which a wallet may use the reserve. */
export const BODY_FLOOR_BYTES = 1 * MEGABYTE;
/** Bytes that each chunk of a body takes in the heap beyond its content. */
export const CHUNK_COST_BYTES = 512;
/** Largest first buffer of a body, in bytes. It grows with what arrives, not with what was announced. */
export const FIRST_BUFFER_BYTES = 64 * KILOBYTE;

/**
 * Largest ratio of a decompressed body to its compressed bytes. Conversations reach about 20; bodies that are
 * made to fill memory reach 1,000.
 */
export const EXPANSION_MAX = 200;
/** Decompressed bytes of a body that may have any ratio. */
export const EXPANSION_FREE_BYTES = 1 * MEGABYTE;

/**
 * Network chunks of one body, of a client or of an upstream that sends a whole answer: a chunk costs some 350
 * bytes of heap, however few bytes it has.
 */
export const CHUNKS_PER_BODY = 100_000;
/** Chunks of a body after which they must have `CHUNK_AVERAGE_BYTES` on average. */
export const FREE_CHUNKS = 1_000;
/** Smallest average size of the chunks of one body, in bytes. SDKs send kilobytes. */
export const CHUNK_AVERAGE_BYTES = 16;
/** Bytes that a connection buffers while nobody reads, in each direction; Node's default until version 20. */
export const SOCKET_BUFFER_BYTES = 16 * KILOBYTE;

/** Time after which a body must have arrived with `BODY_BYTES_PER_SECOND` on average, in ms. */
export const SLOW_BODY_GRACE_MS = 10_000;
/**
 * Smallest average speed of a body, in bytes per second. Real connections are faster. An attack over many
 * sockets sends each body more slowly.
 */
export const BODY_BYTES_PER_SECOND = 1_000;
/** Interval at which the speed of long bodies is checked, in ms. */
export const SLOW_BODY_CHECK_MS = 1_000;

/**
 * Bytes and time that the rest of a refused body may take before the connection is closed. The client can
 * read its answer only if the node goes on reading.
 */
export const DRAIN_BYTES = 4 * MEGABYTE;
export const DRAIN_MS = 2_000;
/** Bytes that each chunk of the rest counts at least, because even the smallest chunk takes time. */
export const DRAIN_CHUNK_BYTES = 4 * KILOBYTE;

/** Time that a client has to send its whole request, in ms. */
export const REQUEST_TIMEOUT_MS = 120_000;
/** Time that a client has to send its headers, in ms. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** How often these timeouts are checked, in ms. */
export const TIMEOUT_CHECK_MS = 2_000;
/** Idle time of a connection, in ms: longer than that of load balancers, so that they close first. */
export const KEEP_ALIVE_MS = 72_000;
/** Size of a request's headers, in bytes. */
export const HEADER_BYTES = 16 * KILOBYTE;
/** Requests per connection. */
export const REQUESTS_PER_SOCKET = 10_000;

/**
 * Connections per address (IPv6: per /64) on which no valid key was sent. Connections of customers do not
 * count, and connections of the proxies in TRUST_PROXY do not count. The limit equals that of a wallet,
 * because a client that starts may open all its connections before it sends a key.
 */
export const STRANGERS_PER_ADDRESS = 512;
/**
 * Connections without a valid key of all addresses together. An idle one costs some 20 kB, so all of them
 * take 80 MB.
 */
export const STRANGERS_MAX = 4_096;
/**
 * Connections without a valid key beyond that sum, for addresses where a valid key was sent within
 * `KNOWN_ADDRESS_MS`: a flood from many addresses does not keep customers from opening connections.
 */
export const KNOWN_RESERVE = 4_096;
/** How long an address counts as known after a valid key, in ms. */
export const KNOWN_ADDRESS_MS = 3_600_000;
/** Maximum number of known addresses. Beyond it, the least recently used address is forgotten. */
export const KNOWN_ADDRESSES = 20_000;
/**
 * Connections per wallet that stay open between requests: eight for each concurrent request. Every connection
 * above this limit is closed after its answer. Connections of the proxies in TRUST_PROXY do not count.
 */
export const CONNECTIONS_PER_WALLET = 512;
/** Log lines about failed requests per wallet and minute; the metrics count all of them. */
export const LOG_LINES_PER_WALLET = 60;
/** Log lines about failed requests of all wallets per minute. */
export const LOG_LINES_PER_MINUTE = 1_200;
/** Requests without a valid key per address (IPv6: per /64) and minute that are answered with 401. */
export const FAILED_KEYS_PER_MINUTE = 120;
/** Addresses whose failed authentications are counted at once; the oldest one is forgotten first. */
export const COUNTED_ADDRESSES = 10_000;

/** Responses with a 1xx status before the final one, per answer of an upstream. */
export const INTERIM_RESPONSES = 16;

/** A credential is suspended if a second request gets a 401 within this time after the first, in ms. */
export const CONFIRMATION_MS = 600_000;
/**
 * Number of wallets that must get a 403 on a route within CONFIRMATION_MS before its credential is suspended
 * for this route.
 */
export const REFUSED_WALLETS = 3;
/** Suspensions and unconfirmed refusals that are remembered at once; the oldest one is forgotten first. */
export const SUSPENSIONS_MAX = 10_000;

/** Interval in which repeated refusals of one key, code and model are merged into one usage row, in ms. */
export const REFUSAL_INTERVAL_MS = 60_000;
/** Kinds of refusals that are counted at once; the oldest one is reported first. */
export const COUNTED_REFUSALS = 10_000;

/** Size up to which an uploaded file stays in memory, in bytes. */
export const FILE_MEMORY_BYTES = 256 * KILOBYTE;
/** Size of all files in memory together, in bytes; shared among wallets like the memory of bodies. */
export const SPOOL_MEMORY_BYTES = 64 * MEGABYTE;
/** Size of all files on disk together, in bytes; shared among wallets like the memory of bodies. */
export const SPOOL_DISK_BYTES = 8 * KILOBYTE * MEGABYTE;
/**
 * Bytes that uploads leave free on their disk. It may be the disk of the journal, and without room for the
 * journal every paid request is refused.
 */
export const SPOOL_DISK_RESERVE_BYTES = 1 * KILOBYTE * MEGABYTE;
/** Interval at which the free space of the disk of uploads is measured, in ms. */
export const SPOOL_DISK_CHECK_MS = 1_000;

/**
 * Unknown members that one mirrored request may hold: they are cut out of its bytes one by one. Clients newer
 * than the tables send one or two in each message; the limit bounds the work for a made-up request.
 */
export const UNKNOWN_MEMBERS = 10_000;
/**
 * If a mirrored stream has sent this many bytes without an event that the gateway knows, the bytes count as
 * content, and a customer who disconnects is charged. In known formats an unknown event before the first
 * content is shorter than this.
 */
export const UNKNOWN_STREAM_BYTES = 2_048;

/**
 * Only JSON bodies of at least this many bytes have their values counted: smaller ones cannot have too many.
 */
export const JSON_COUNTED_BYTES = 256 * KILOBYTE;
/**
 * Objects and lists in one JSON body. Each takes some hundred bytes of heap once it is parsed and decoded.
 */
export const JSON_CONTAINERS = 100_000;
/** Members of all objects in one JSON body. A million different names take 2 s of CPU time. */
export const JSON_MEMBERS = 200_000;
/** Members of the outermost object of a JSON body. The formats have up to 60. */
export const JSON_TOP_MEMBERS = 1_000;
/** Values in one JSON body. Embedding requests hold up to 300,000 token numbers. */
export const JSON_VALUES = 2_000_000;

/** JSON bodies of at least this many bytes are read in outline first: a smaller one is parsed as fast. */
export const OUTLINED_FROM_BYTES = 16 * KILOBYTE;
/** Largest body that is read in outline, in bytes. Each process keeps twice as much address space for it. */
export const OUTLINED_BYTES = 4 * MEGABYTE;
/** Texts of more than this many bytes are left out of an outline. A shorter one costs less than its place. */
export const LONG_TEXT_BYTES = 512;
