/** Starts the Chromium of the browser tests. */
import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../../tools/chromium.mjs';

/**
 * Features turned off in Chromium. Only its last such list counts, so this one repeats what Playwright
 * turns off. Our additions are the pages of the address bar, which take half of the start-up time, and the
 * isolation of sites, which starts a process per visit.
 */
const FEATURES_OFF = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'IsolateOrigins',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
  'site-per-process',
];

/** Turns off updates, reports and first-run pages. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-site-isolation-trials',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${FEATURES_OFF.join(',')}`,
];

/** The path of the browser; undefined if there is none, and the browser tests are skipped. */
export const chromiumPath = await findChromium();

/** Starts a browser. Throws an Error if there is none. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({ args: FLAGS, ...(chromiumPath && { executablePath: chromiumPath }) });
}

let shared: Promise<Browser> | undefined;

/**
 * The browser of this process, started by the first caller. A test file opens contexts of its own and
 * closes them; the browser ends with the process.
 */
export function sharedChromium(): Promise<Browser> {
  shared ??= startChromium();
  return shared;
}
