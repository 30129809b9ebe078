/** All flows that move money or show a secret work by keyboard alone. */
import { describeFlows, KEYBOARD } from './test/flows.ts';

describeFlows(KEYBOARD);
