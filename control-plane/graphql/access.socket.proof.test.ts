/** Access over WebSocket: every root field with a session of every sign-in method. */
import { describeSocketAccess } from '../../test/control/socket-access.ts';

describeSocketAccess({ everyMethod: true });
