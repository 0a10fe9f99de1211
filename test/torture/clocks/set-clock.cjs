// Loaded before a command (node --require): sets the clock that people set, and leaves the other alone, as a step
// of the system's clock does. URTUU_CLOCK is days, or `step` for another time each second.
const real = Date.now;
const Before = Date;
const days = [0, 2, -2, 1, -1];
const set = process.env.URTUU_CLOCK ?? '0';
const now = () => {
  const time = real();
  return time + 86_400_000 * (set === 'step' ? days[Math.floor(time / 1_000) % days.length] : Number(set));
};
globalThis.Date = class extends Before {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given));
  }
  static now() {
    return now();
  }
};
