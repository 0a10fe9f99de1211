import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

const answer = (status: string, body: object, more = '') => {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n${more}Content-Length: ${text.length}\r\n\r\n${text}`;
};

/** A server that answers reads on connections it keeps open, and resets them when it has read a post. */
export class ResettingServer {
  /** The paths of the posts that came whole, in their order. */
  readonly posts: string[] = [];
  /** So many posts are answered with 429, on a connection that stays open, before one is reset. */
  limited = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
      let waiting = '';
      socket.setEncoding('latin1').on('data', (data) => {
        waiting = this.#take(socket, waiting + data);
      });
    });
  }

  static async start(): Promise<ResettingServer> {
    const resetting = new ResettingServer();
    resetting.#server.listen(0, '127.0.0.1');
    await once(resetting.#server, 'listening');
    return resetting;
  }

  get env(): { URTUU_API_KEY: string; URTUU_BASE_URL: string } {
    const { port } = this.#server.address() as AddressInfo;
    return { URTUU_API_KEY: 'a-key', URTUU_BASE_URL: `http://127.0.0.1:${port}/v1` };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  /** Answers the request at the beginning of the text when it is whole; gives what is left. */
  #take(socket: Socket, text: string): string {
    const end = text.indexOf('\r\n\r\n') + 4;
    const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
    if (end === 3 || text.length < end + length) return text;
    const [method = '', path = ''] = text.split(' ', 2);
    if (method === 'GET') {
      socket.write(answer('200 OK', { balance: 900 }));
    } else {
      this.posts.push(path);
      if (this.posts.length <= this.limited) {
        const error = { error: { code: 'rate_limited', message: 'wait' } };
        socket.write(answer('429 Too Many Requests', error, 'Retry-After: 1\r\n'));
      } else {
        socket.resetAndDestroy();
      }
    }
    return text.slice(end + length);
  }
}
