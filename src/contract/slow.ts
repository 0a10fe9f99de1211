/** What slows a lane down, or a project on it, in the words of `urtuu service status` and of the log. */
export const slowWords = {
  throttled: 'throttled by its carrier',
  suspected: 'nothing accepted by its carrier',
  backing_off: 'paused by an error of its carrier',
  day_limit: 'at its daily limit',
} as const;
