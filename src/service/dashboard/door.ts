import { randomUUID } from 'node:crypto';
import type { BrowserRequest } from './cookie.js';
import type { Dashboard, DashboardParts, ReadBody } from './dashboard.js';
import { originOf } from './origin.js';

export type { DashboardParts };

const under = /^\/dashboard(?:[/?]|$)/;

/** The dashboard of one listener. Everything else is loaded when somebody opens it. */
export function dashboardDoor(parts: DashboardParts, publicUrl: string | null) {
  let opened: Promise<Dashboard> | undefined;
  let listening = '';

  async function open(): Promise<Dashboard> {
    const { createDashboard } = await import('./dashboard.js');
    return createDashboard(parts, originOf(publicUrl, listening));
  }

  return {
    isUnder: (target: string): boolean => under.test(target),
    /** The address of the dashboard, once it is known where the service listens. */
    async at(url: string): Promise<string> {
      listening = new URL(url).origin;
      const { url: origin } = originOf(publicUrl, listening);
      // Links in emails outlive an instance that is started without one.
      await parts.store.recordDashboard(origin, publicUrl?.startsWith('https:') ? origin : null);
      return `${origin}/dashboard`;
    },
    async fetch(request: BrowserRequest, readBody: ReadBody): Promise<Response> {
      opened ??= open();
      const dashboard = await opened.catch((error) => {
        // It may load next time: files were just replaced, or descriptors ran out.
        opened = undefined;
        parts.report(error, randomUUID());
        return null;
      });
      if (dashboard !== null) return dashboard.fetch(request, readBody);
      return new Response('The dashboard cannot be shown now; try again.\n', { status: 503 });
    },
    async close(): Promise<void> {
      (await opened?.catch(() => undefined))?.close();
    },
  };
}

export type DashboardDoor = ReturnType<typeof dashboardDoor>;
