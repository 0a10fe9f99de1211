import type { Form, Page } from './page.js';
import { balance } from './pages/balance.js';
import { batch, batches } from './pages/batches.js';
import { inbox } from './pages/inbox.js';
import { askRevoke, createKey, keys, revokeKey } from './pages/keys.js';
import { message } from './pages/message.js';
import { messages } from './pages/messages.js';
import { outbox } from './pages/outbox.js';
import { overview } from './pages/overview.js';
import { settingsForm, settingsPage, topics } from './pages/settings.js';
import { send, sendForm } from './send/send.js';

const id = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})';
const path = (text: string) => new RegExp(`^${text.replace(':id', id)}$`);

/** A live page follows what happens; its address is that of its stream too. */
const pages: readonly (readonly [path: RegExp, page: Page, isLive: boolean])[] = [
  [path('/?'), overview, true],
  [path('/send'), send, false],
  [path('/messages'), messages, false],
  [path('/messages/:id'), message, true],
  [path('/batches'), batches, true],
  [path('/batches/:id'), batch, true],
  [path('/outbox'), outbox, true],
  [path('/inbox'), inbox, true],
  [path('/balance'), balance, false],
  [path('/keys'), keys, false],
  [path('/keys/:id/revoke'), askRevoke, false],
  // Without a topic, the first.
  ...topics.map((topic) => [path(`/settings(?:/${topic.path})?`), settingsPage(topic), false] as const),
];

/** A send takes its token by itself, with its idempotency key. */
const forms: readonly (readonly [path: RegExp, form: Form, takesToken: boolean])[] = [
  [path('/send'), sendForm, true],
  [path('/keys'), createKey, false],
  [path('/keys/:id/revoke'), revokeKey, false],
  ...topics.map((topic) => [path(`/settings/${topic.path}`), settingsForm(topic), false] as const),
];

export function pageAt(address: string): { page: Page; id: string; isLive: boolean } | null {
  for (const [path, page, isLive] of pages) {
    const match = path.exec(address);
    if (match !== null) return { page, id: match[1] ?? '', isLive };
  }
  return null;
}

export function formAt(address: string): { form: Form; id: string; takesToken: boolean } | null {
  for (const [path, form, takesToken] of forms) {
    const match = path.exec(address);
    if (match !== null) return { form, id: match[1] ?? '', takesToken };
  }
  return null;
}
