import { fill, languages, type Strings } from '../language/language.js';

/** Of the page behind a link in an email: it asks, it is done, the link is none, or the service cannot say now. */
export type Stage = 'ask' | 'done' | 'none' | 'later';

/** Whom it is about; empty where nobody knows. */
export interface Reader {
  brand: string;
  to: string;
}

/** Only the button unsubscribes: scanners and previews follow links. It works without a script. */
export function unsubscribePage(t: Strings, stage: Stage, reader: Reader, style: string): string {
  const { brand, to } = reader;
  const words = {
    ask: [t.unsubscribeTitle, t.unsubscribeQuestion],
    done: [t.unsubscribeDone, t.unsubscribeDoneText],
    none: [t.unsubscribeNone, t.unsubscribeNoneText],
    later: [t.unavailableTitle, t.unavailableText],
  } as const;
  const [title, text] = words[stage];
  const begin = /^.?/u.exec(to)?.[0] ?? '';
  const masked = `${begin}…${to.slice(to.lastIndexOf('@'))}`;
  const page = (
    <html lang={t.code}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="stylesheet" href={style} />
      </head>
      <body class="alone">
        <div class="page">
          <main id="main">
            {brand !== '' && (
              <p class="brand">
                <b>{brand}</b>
              </p>
            )}
            <header class="title">
              <h1>{title}</h1>
            </header>
            <p>{fill(text, { brand, to: masked })}</p>
            {stage === 'ask' && (
              <form method="post">
                <button type="submit" class="primary" name="List-Unsubscribe" value="One-Click">
                  {t.unsubscribeTitle}
                </button>
              </form>
            )}
          </main>
          <footer>
            {languages
              .filter((each) => each !== t)
              .map(({ code, language }) => (
                <a href={`?language=${code}`} lang={code}>
                  {language}
                </a>
              ))}
          </footer>
        </div>
      </body>
    </html>
  );
  return `<!doctype html>${page}`;
}
