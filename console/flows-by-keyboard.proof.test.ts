/** All flows that move money or show a secret work by keyboard alone. `flows.proof.test.ts` tests the mouse. */
import { describeFlows, KEYBOARD } from './test/flows.ts';

describeFlows(KEYBOARD);
