/** The rules for every page, on some pages of visitors and customers, in two looks. */
import { describePages, TWO_LOOKS } from './test/page-rules.ts';

describePages(['/sign-in', '/pricing', '/keys', '/wallet', '/usage', '/playground?chat=cnv_1'], TWO_LOOKS);
