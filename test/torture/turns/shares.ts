/** Messages of a project that may be ahead of its share: what two instances submit is taken in no order. */
const ahead = 5;
const tolerance = 0.1;

/** How far the projects were from equal shares at every tenth of the way. */
export interface Shares {
  /** Of its share, that of the worst project. */
  worst: number;
  /** Projects that were farther from it than a tenth, and than a few messages, at any of these moments. */
  off: number;
}

/** `taken`: the project of each message, in the order in which they were taken. */
export function sharesOf(taken: readonly number[], projects: number): Shares {
  const counts = new Array<number>(projects).fill(0);
  const off = new Set<number>();
  let worst = 0;
  let done = 0;
  for (let tenth = 1; tenth < 10; tenth += 1) {
    const until = Math.floor((taken.length * tenth) / 10);
    for (; done < until; done += 1) counts[taken[done] as number] = (counts[taken[done] as number] ?? 0) + 1;
    const share = until / projects;
    for (const [project, count] of counts.entries()) {
      const difference = Math.abs(count - share);
      worst = Math.max(worst, difference / share);
      if (difference > Math.max(share * tolerance, ahead)) off.add(project);
    }
  }
  return { worst, off: off.size };
}
