/** The rules for every page, on the pages of visitors and customers, in all looks. */
import { OWN_PAGES, PUBLIC_PAGES } from './test/browser.ts';
import { ALL_LOOKS, describePages } from './test/page-rules.ts';

describePages([...PUBLIC_PAGES, ...OWN_PAGES], ALL_LOOKS);
