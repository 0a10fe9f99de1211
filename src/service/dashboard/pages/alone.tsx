import type { Asked } from '../answer.js';
import { fill, type Strings } from '../language/language.js';
import { type Alone, linkTo, root } from '../page.js';
import { Done } from '../parts/parts.js';

const command = 'urtuu dashboard';

/** The button uses the link up, not the visit: whatever looks at links before people do opens nothing. */
export const askSignIn = (t: Strings, token: string): Alone => ({
  title: t.signIn,
  status: 200,
  body: (
    <form method="post" action={linkTo('/sign-in')}>
      <p>{t.signInQuestion}</p>
      <input type="hidden" name="token" value={token} />
      <button type="submit" class="primary">
        {t.signIn}
      </button>
      <p class="hint">{t.signInNote}</p>
    </form>
  ),
});

const withCommand = (text: string) => (
  <>
    <p>{text}</p>
    <pre>
      <code>{command}</code>
    </pre>
  </>
);

export const signedOut = (t: Strings): Alone => ({
  title: t.signedOutTitle,
  status: 401,
  body: withCommand(t.signedOutText),
});

export const badLink = (t: Strings): Alone => ({
  title: t.badLinkTitle,
  status: 403,
  body: withCommand(t.badLinkText),
});

const withLink = (text: string, address: string, words: string) => (
  <>
    <p>{text}</p>
    <a href={address}>{words}</a>
  </>
);

/** A link on a page of the dashboard, with which the browser sends the cookie. */
export const continueFrom = (t: Strings, address: string): Alone => ({
  title: t.continue,
  status: 200,
  body: withLink(t.continueText, address, t.continue),
});

export const notFound = (t: Strings): Alone => ({
  title: t.notFoundTitle,
  status: 404,
  body: withLink(t.notFoundText, root, t.overview),
});

export const refused = (t: Strings, text: string, status: number): Alone => ({
  title: t.refusedTitle,
  status,
  body: withLink(text, root, t.overview),
});

/** `form`: where the one that it answers is. A send that is loaded again sends nothing twice. */
export const unavailable = ({ t, query, requestId }: Asked, form: string | null): Alone => ({
  title: t.unavailableTitle,
  status: 503,
  body: (
    <>
      <Done context={{ t, query }} />
      <p>{form === null ? t.unavailableText : form === '/send' ? t.unavailableSend : t.unavailableForm}</p>
      <p class="hint">{fill(t.request, { id: requestId })}</p>
    </>
  ),
});

export const tooMany = ({ t, query }: Asked, seconds: number, path: string | null): Alone => ({
  title: t.tooManyTitle,
  status: 429,
  body: (
    <>
      <Done context={{ t, query }} />
      {path === null ? (
        <p>{fill(t.tooManyForm, { seconds })}</p>
      ) : (
        withLink(fill(t.tooManyText, { seconds }), path, t.reload)
      )}
    </>
  ),
});
