/** The rules for every page, on two pages in two looks. The proof tier checks all pages. */
import { describePages, TWO_LOOKS } from './test/page-rules.ts';

describePages(['/keys', '/playground?chat=cnv_1'], TWO_LOOKS);
