import type { Socket } from 'node:net';

/**
 * Calls `leave` when a request is written to its socket, from when on nobody can tell how much has arrived. A socket
 * with TLS, to a server or to a proxy, is connected before it is open.
 */
export function onceOpen(socket: Socket, isReused: boolean, leave: () => void): void {
  if (isReused || isOpen(socket)) leave();
  else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', leave);
}

const isOpen = (socket: Socket): boolean =>
  !socket.connecting && !('secureConnecting' in socket && socket.secureConnecting);
