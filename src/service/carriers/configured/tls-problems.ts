import { connect } from 'node:tls';

/** Milliseconds for a handshake. */
const handshakeMs = 3_000;
const tlsProtocols = { smtp: 'smtps', smpp: 'smpp+tls' } as const;
const isPlainProtocol = (protocol: string): protocol is keyof typeof tlsProtocols => protocol in tlsProtocols;
const plainProtocols: Record<string, string> = { smtps: 'smtp', 'smpp+tls': 'smpp', https: 'http' };

/** How OpenSSL names an answer that is not TLS. */
const notTls = /wrong version number|packet length too long|record layer failure|SSL routines/i;
const untrusted = /self-signed certificate|unable to (?:get|verify)\b.*certificate/i;

/** The problem of a check in words that say what to change, where it is about TLS. */
export async function withTlsAdvice(problem: string, address: string): Promise<string> {
  const [, protocol = '', host = '', port = ''] = /^([^:]+):\/\/\[?(.*?)\]?(?::(\d+))?$/.exec(address) ?? [];
  if (untrusted.test(problem))
    return `its certificate is not trusted (${problem}): to trust it, save its CA certificate and set NODE_EXTRA_CA_CERTS to that file`;
  const plain = plainProtocols[protocol];
  if (plain !== undefined && notTls.test(problem))
    return `the port speaks plain ${plain.toUpperCase()}${plain === 'http' ? '' : `: use ${plain}://`}`;
  if (isPlainProtocol(protocol) && (await speaksTls(host, Number(port))))
    return `the port speaks TLS from the first byte: use ${tlsProtocols[protocol]}://`;
  return problem;
}

/** Shakes hands and sends nothing, so it does not matter whose the certificate is. */
function speaksTls(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: handshakeMs }, () => end(true));
    const end = (isTls: boolean) => {
      socket.destroy();
      resolve(isTls);
    };
    socket.on('error', () => end(false));
    socket.on('timeout', () => end(false));
    socket.on('close', () => end(false));
  });
}
