// For `node --require`: the system's clock is wrong by URTUU_CLOCK milliseconds; `steps` is set every second.
const SystemDate = Date;
const second = 1_000;
const twoDays = 172_800_000;
const wrong = process.env.URTUU_CLOCK ?? '0';
const steps = [0, twoDays, -twoDays, twoDays / 2, -twoDays / 2];

function now() {
  const truth = SystemDate.now();
  return truth + (wrong === 'steps' ? steps[Math.floor(truth / second) % steps.length] : Number(wrong));
}

globalThis.Date = class SteppedDate extends SystemDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }
  static now() {
    return now();
  }
};
