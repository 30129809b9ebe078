/**
 * The slow device of Lighthouse's mobile audits: slow 4G and a CPU that is four times slower. With these
 * values Lighthouse and Chrome's developer tools ("Slow 4G") throttle single requests.
 */
import type { Page } from 'playwright-core';

const BYTES_PER_KILOBIT = 1_024 / 8;
/** Round trip time of the network in ms, and how many of them a request waits for its first byte. */
const RTT_MS = 150;
const RTTS_PER_REQUEST = 3.75;
const DOWN_KBITS = 1.6 * 1_024;
const UP_KBITS = 750;
/** Share of the throughput that is left when single requests are throttled. */
const SHARE = 0.9;
const CPU_FACTOR = 4;

/** Makes network and CPU of a page slow. */
export async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: RTT_MS * RTTS_PER_REQUEST,
    downloadThroughput: DOWN_KBITS * SHARE * BYTES_PER_KILOBIT,
    uploadThroughput: UP_KBITS * SHARE * BYTES_PER_KILOBIT,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_FACTOR });
}
