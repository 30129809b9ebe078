/** All flows that move money or show a secret work by mouse alone. */
import { describeFlows, MOUSE } from './test/flows.ts';

describeFlows(MOUSE);
