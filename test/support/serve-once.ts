import { Captured, type Result, run } from './run.js';

/** `urtuu serve` until it has said where it listens. */
export async function serveOnce(options: string, env: Record<string, string> = {}): Promise<Result> {
  let stop: (signal: 'SIGTERM') => void = () => {};
  class Stopping extends Captured {
    override write(text: string, done?: (error?: Error | null) => void): boolean {
      setImmediate(() => stop('SIGTERM'));
      return super.write(text, done);
    }
  }
  return run(`serve --port 0 ${options} -o json`, {
    env,
    terminal: 80,
    stdout: new Stopping(80),
    onSignal(listener) {
      stop = listener;
      return () => {};
    },
  });
}
