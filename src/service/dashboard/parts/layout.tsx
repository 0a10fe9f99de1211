import type { Child } from 'hono/jsx';
import { assetPaths } from '../assets/assets.js';
import { languages, type Strings } from '../language/language.js';
import { linkTo, root, type Section, sections } from '../page.js';
import { Signs } from './status.js';

export interface Shell {
  t: Strings;
  title: string;
  /** Absent where nobody is signed in. */
  project?: string;
  projectId?: string;
  /** To switch between, of an owner. */
  projects?: readonly { id: string; name: string }[];
  section?: Section;
  /** Left out of the navigation. */
  hidden?: readonly Section[];
  /** The page as it was asked for: where a change of the language leads back to. */
  path: string;
  /** Whether the page follows what happens. */
  isLive?: boolean;
  script?: string;
}

/** The frame around every page. */
export function Layout({ shell, children }: { shell: Shell; children?: Child }) {
  const { t, title, project, projectId, path, isLive = false, script } = shell;
  return (
    <html lang={t.code}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{[title, project, 'urtuu'].filter(Boolean).join(' · ')}</title>
        <link rel="icon" href={assetPaths.icon} type="image/svg+xml" />
        <link rel="stylesheet" href={assetPaths.style} />
        <script src={assetPaths.script} defer></script>
        {script && <script src={script} defer></script>}
      </head>
      <body class={project === undefined ? 'alone' : undefined}>
        <a class="skip" href="#main">
          {t.skip}
        </a>
        {project !== undefined && <Side shell={shell} project={project} />}
        <div class="page">
          <main id="main" tabindex={-1}>
            {project === undefined && (
              <p class="brand">
                <Mark /> <b>urtuu</b>
              </p>
            )}
            <header class="title">
              <h1>{title}</h1>
              {isLive && (
                <p
                  class="live"
                  role="status"
                  data-live={linkTo('/live', { page: path, project: projectId })}
                  data-off={t.liveOff}
                  hidden
                >
                  {t.live}
                </p>
              )}
            </header>
            <div id="content">{children}</div>
          </main>
          <footer>
            <p>{project !== undefined && t.timeZone}</p>
            <form method="post" action={linkTo('/language')}>
              <input type="hidden" name="path" value={path} />
              {languages.map((each) => (
                <button
                  type="submit"
                  name="language"
                  value={each.code}
                  lang={each.code}
                  aria-pressed={each === t ? 'true' : 'false'}
                >
                  {each.language}
                </button>
              ))}
            </form>
            {project !== undefined && (
              <form method="post" action={linkTo('/sign-out')}>
                <button type="submit">{t.signOut}</button>
              </form>
            )}
          </footer>
        </div>
      </body>
    </html>
  );
}

const Mark = () => <img src={assetPaths.icon} alt="" />;

function Side({
  shell: { t, section, hidden = [], projects = [], projectId },
  project,
}: {
  shell: Shell;
  project: string;
}) {
  return (
    <header class="side">
      <a class="brand" href={root}>
        <Mark />
        <span class="unseen">urtuu: </span>
        <b title={project}>{project}</b>
      </a>
      {projects.length > 1 && (
        <form method="post" action={linkTo('/project')} class="filter">
          <select name="project" aria-label={t.switchProject}>
            {projects.map(({ id, name }) => (
              <option value={id} selected={id === projectId}>
                {name}
              </option>
            ))}
          </select>
          <button type="submit">{t.switchProject}</button>
        </form>
      )}
      <nav aria-label={t.sections}>
        {sections
          .filter((each) => !hidden.includes(each))
          .map((each) => (
            <a
              href={each === 'overview' ? root : linkTo(`/${each}`)}
              aria-current={each === section ? 'page' : undefined}
            >
              {t[each]}
            </a>
          ))}
      </nav>
      <Signs />
    </header>
  );
}
