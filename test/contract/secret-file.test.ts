import { expect, it } from 'vitest';
import { exposedSecret } from '../../src/contract/index.js';

const me = 1000;

it.each([
  ['of this user', me, 0o600, null],
  ['of root, for its group', 0, 0o640, null],
  ['of root, for all', 0, 0o644, 'warned'],
  ['of this user, for its group', me, 0o640, 'warned'],
  ['of this user, for all', me, 0o644, 'warned'],
  ['that its group can change', me, 0o620, 'refused'],
  ['that all can change', 0, 0o602, 'refused'],
] as const)('a secret %s (%i, %o): %s', (_, uid, mode, expected) => {
  const exposed = exposedSecret('/k', { uid, mode }, me);
  expect(exposed && (exposed.isRefused ? 'refused' : 'warned')).toBe(expected);
});

it.each([
  ["/it's", me, "chmod 600 '/it'\\''s'"],
  ['/k', 0, 'chmod g-w,o= /k'],
])('the secret %s of user %i, with the command that closes it', (path, uid, command) => {
  expect(exposedSecret(path, { uid, mode: 0o644 }, me)?.hint).toContain(command);
});

it('where files have no modes, a secret is exposed to nobody', () => {
  expect(exposedSecret('/k', { uid: 0, mode: 0o666 }, undefined)).toBeNull();
});
