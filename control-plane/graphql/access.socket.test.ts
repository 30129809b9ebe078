/** Access over WebSocket, with the root fields divided among the sign-in methods. */
import { describeSocketAccess } from '../../test/control/socket-access.ts';

describeSocketAccess({ everyMethod: false });
