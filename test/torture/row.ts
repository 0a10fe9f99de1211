export interface Played {
  /** What was done, for people. */
  measured: string;
  /** What was found, for people. */
  found: string;
  /** How much of it must not be: 0. */
  wrong: number;
}

/** Throws where nothing happened that could be judged: wrong for a row, and no proof for a control. */
export type Play = (seed: number) => Promise<Played>;

/** A row with something broken on purpose: it must find something wrong. */
export interface Control {
  name: string;
  play: Play;
}

export interface Row {
  name: string;
  play: Play;
  /** The first is the quickest. */
  controls: [Control, ...Control[]];
  /** Why it cannot be played on this machine; null where it can. */
  unavailable?(): string | null;
  /** Others that play meanwhile would change what it finds. */
  isTimed?: true;
  /** What proves the same in `npm test` or `npm run test:all`, which leave this row to `npm run torture`. */
  provedBy?: string;
  /** Plays in every `npm test`, small; the others in `npm run test:all`. */
  isAlwaysPlayed?: true;
  /** Has no small version: `--quick` leaves it out unless it is asked for by its name. */
  takesMinutes?: true;
}

/** How much is played, by the names of the options that change it: `{ kills: 50 }` is `--kills 50`. */
export type Sizes = Readonly<Record<string, number>>;

/** Rows that are chosen together: `npm run torture -- service`. */
export interface Group {
  name: string;
  full: Sizes;
  /** Seconds in place of minutes; those of tests. */
  small: Sizes;
  /** The rows, with the full or the small sizes, and over them what was `given`. */
  rows(size: 'full' | 'small', given?: Sizes): Row[];
}

export function groupOf<Names extends string>(
  name: string,
  sizes: { full: Record<Names, number>; small: Record<Names, number> },
  rows: (sizes: Record<Names, number>) => Row[],
): Group {
  return {
    name,
    ...sizes,
    rows: (size, given = {}) => rows({ ...sizes[size], ...given }),
  };
}

/** Which moment a kill or a fault hits is chance: a control may need more than one game. */
export async function playControl({ play }: Control, seed: number): Promise<Played> {
  let played = await play(seed);
  for (let game = 1; game < 8 && played.wrong === 0; game += 1) played = await play(seed + game);
  return played;
}
