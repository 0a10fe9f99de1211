import type { Message } from '../../../src/contract/index.js';

/** A carrier's side of what a service sends: it knows what it took. */
export interface Peer {
  /** Called before and after it takes anything. */
  onMoment: () => void;
  /** Nothing is left that it has to say. */
  readonly isIdle: boolean;
  /** Pieces of the message to a recipient that it took. */
  takenOf(to: string): number;
  /** Of those, pieces that it had taken before. */
  twiceOf(to: string): number;
  /** Whether a message ended as the peer knows. */
  isTrue(message: Pick<Message, 'to' | 'status' | 'delivery'>): boolean;
  listen(): Promise<void>;
  close(): Promise<void>;
}
