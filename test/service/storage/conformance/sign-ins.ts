import { describe, expect, it } from 'vitest';
import { type Fixture, other, project } from './fixture.js';

const hash = (name: string) => new Uint8Array(Buffer.from(name.padEnd(32)));
const link = (name: string, lifeMs = 1_000, projectId = project.id) => ({
  hash: hash(name),
  projectId,
  lifeMs,
});
const session = (name: string, lifeMs = 5_000) => ({ hash: hash(name), lifeMs });

export function signInConformance(fixture: () => Fixture): void {
  describe('sign-ins', () => {
    it('a link opens one session, of its project, however many use it at once', async () => {
      await fixture().store.addSignInLink(link('a', 1_000, other.id));
      const opened = await Promise.all(
        ['1', '2', '3', '4'].map((name) => fixture().store.openSession(hash('a'), session(name))),
      );
      expect(opened.filter((id) => id !== null)).toEqual([other.id]);
      const found = await Promise.all(
        ['1', '2', '3', '4'].map((name) => fixture().store.findSession(hash(name))),
      );
      expect(found).toEqual(opened);
    });

    it('a link is over after its life, and is no session', async () => {
      await fixture().store.addSignInLink(link('a'));
      await fixture().store.addSignInLink(link('b'));
      expect(await fixture().store.findSession(hash('a'))).toBeNull();
      fixture().clock.advance(999);
      expect(await fixture().store.openSession(hash('a'), session('s'))).toBe(project.id);
      fixture().clock.advance(1);
      expect(await fixture().store.openSession(hash('b'), session('t'))).toBeNull();
      expect(await fixture().store.findSession(hash('t'))).toBeNull();
    });

    it('a session ends after its life, when it is ended, and is no link', async () => {
      for (const name of ['1', '2']) {
        await fixture().store.addSignInLink(link(name));
        await fixture().store.openSession(hash(name), session(`s${name}`));
      }
      expect(await fixture().store.openSession(hash('s1'), session('s3'))).toBeNull();
      await fixture().store.endSession(hash('s1'));
      expect(await fixture().store.findSession(hash('s1'))).toBeNull();
      fixture().clock.advance(4_999);
      expect(await fixture().store.findSession(hash('s2'))).toBe(project.id);
      fixture().clock.advance(1);
      expect(await fixture().store.findSession(hash('s2'))).toBeNull();
    });

    it('a session does not outlast its life when the clock is set back', async () => {
      await fixture().store.addSignInLink(link('a'));
      await fixture().store.openSession(hash('a'), session('s'));
      fixture().clock.advance(-3_600_000);
      expect(await fixture().store.findSession(hash('s'))).toBeNull();
    });

    it('are listed while they are open, newest first, and end by their ids or all at once', async () => {
      const { store, clock } = fixture();
      const at = clock.now();
      await store.addSignInLink(link('a'));
      await store.openSession(hash('a'), session('s'));
      clock.advance(1);
      await store.addSignInLink(link('b', 1_000, other.id));
      const id = (name: string) => Buffer.from(hash(name)).toString('hex').slice(0, 12);
      const open = {
        id: id('s'),
        projectId: project.id,
        isLink: false,
        createdAt: at,
        expiresAt: at + 5_000,
      };
      const unused = {
        id: id('b'),
        projectId: other.id,
        isLink: true,
        createdAt: at + 1,
        expiresAt: at + 1_001,
      };
      expect(await store.listSignIns()).toEqual([unused, open]);
      expect([await store.endSignIns('none'), await store.endSignIns(id('b'))]).toEqual([0, 1]);
      expect(await store.openSession(hash('b'), session('t'))).toBeNull();
      expect(await store.listSignIns()).toEqual([open]);
      expect([await store.endSignIns(null), await store.endSignIns(null)]).toEqual([1, 0]);
      expect(await store.findSession(hash('s'))).toBeNull();
      await store.addSignInLink(link('c'));
      clock.advance(1_000);
      expect([await store.listSignIns(), await store.endSignIns(id('c'))]).toEqual([[], 0]);
    });

    it('the newest place of the dashboard is kept', async () => {
      expect(await fixture().store.dashboardUrl()).toBeNull();
      await fixture().store.recordDashboard('http://localhost:7788', null);
      await fixture().store.recordDashboard('https://sms.example.mn', null);
      expect(await fixture().store.dashboardUrl()).toBe('https://sms.example.mn');
    });

    it('the last public URL is kept, also by an instance that is started without one', async () => {
      const { store } = fixture();
      const seen = [await store.publicUrl()];
      for (const publicUrl of [null, 'https://a.mn', null, 'https://b.mn', null]) {
        await store.recordDashboard(publicUrl ?? 'http://localhost:7788', publicUrl);
        seen.push(await store.publicUrl());
      }
      expect(seen).toEqual([null, null, 'https://a.mn', 'https://a.mn', 'https://b.mn', 'https://b.mn']);
      expect(await store.dashboardUrl()).toBe('http://localhost:7788');
    });
  });
}
