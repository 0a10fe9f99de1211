/** Milliseconds of cpu that this process has used: what others on the machine do does not count. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
